"""Settings of a quick self-training, which takes minutes and shows how it works; its figures mean nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from housewise.selftrain.personalize.settings import SelfTrainingConfig, TasksConfig
from housewise.systems.personalize.tasks import list_tasks

# The filter keeps every reply: in so few steps none has a reward.
QUICK: Mapping[str, Any] = {
    "run": {"max_steps": 120, "max_plans": 3, "sampling": {"max_tokens": 48}},
    "demonstrations": {"houses": 1, "repeats": 1},
    "training_tasks": {"houses": 1},
    "imitation_epochs": 1.0,
    "grow": {"repeats": 1},
    "filter": {"name": "rising", "thresholds": [-1000.0]},
    "replay_fraction": 0.0,
    "training": {"epochs": 1.0, "batch": 2, "max_example_tokens": 3000},
}
"""Settings of a quick self-training, by key."""

LEFT_OUT = (
    "quick: one demonstration, one task to learn from and one to measure on, each for 120 steps and three plans, one "
    "iteration, no lessons; the figures say nothing of the model"
)
"""What a quick self-training leaves out, for the user."""


def quick_config(config: SelfTrainingConfig) -> SelfTrainingConfig:
    """Return settings of a self-training with one task of each kind and one iteration.

    Args:
        config: Settings, loaded with QUICK.
    """
    few = first_tasks(config)
    measured = [tasks.model_copy(update={"houses": 1, "repeats": 1}) for tasks in few.evaluation.tasks[-1:]]
    evaluation = few.evaluation.model_copy(update={"tasks": measured})
    fewer = {"lessons": [], "memory_lessons": 0, "imitation_memory_lessons": 0, "iterations": min(config.iterations, 1)}
    return few.model_copy(update={**fewer, "evaluation": evaluation})


def first_tasks(config: SelfTrainingConfig) -> SelfTrainingConfig:
    """Return settings with only the first episode of each set of tasks of the data; generated houses stay."""
    if config.run.tasks.data is None:
        return config

    def first(tasks: TasksConfig) -> list[int]:
        return [list_tasks(config.run_settings(tasks).tasks)[0].episode]

    changed = {
        key: tasks.model_copy(update={"episodes": first(tasks)})
        for key, tasks in (("demonstrations", config.demonstrations), ("training_tasks", config.training_tasks))
    }
    measured = [tasks.model_copy(update={"episodes": first(tasks)}) for tasks in config.evaluation.tasks]
    return config.model_copy(update={**changed, "evaluation": config.evaluation.model_copy(update={"tasks": measured})})
