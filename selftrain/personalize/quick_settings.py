"""Settings of a quick self-training, which takes minutes and shows how it works; its figures mean nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from housewise.core.settings import merge_nested
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
    "lessons": [],
    "memory_lessons": 0,
    "imitation_memory_lessons": 0,
    "training": {"epochs": 1.0, "batch": 2, "max_example_tokens": 3000},
}
"""Settings of a quick self-training, by key, whatever it trains on; see quick_settings."""


def quick_settings(config: SelfTrainingConfig) -> dict[str, Any]:
    """Return settings, by key, of a quick self-training with one task of each kind and one iteration.

    Args:
        config: Settings of the whole self-training.
    """
    few = {"houses": 1, "repeats": None}
    measured = [tasks.model_dump() | few | _first_episode(config, tasks) for tasks in config.evaluation.tasks[-1:]]
    changes = {
        "demonstrations": _first_episode(config, config.demonstrations),
        "training_tasks": _first_episode(config, config.training_tasks),
        "iterations": min(config.iterations, 1),
        "evaluation": {"tasks": measured, "repeats": 1},
    }
    return merge_nested(QUICK, changes)


def _first_episode(config: SelfTrainingConfig, tasks: TasksConfig) -> dict[str, list[int]]:
    """Return the first episode of a set of tasks of the data, as a setting; generated houses have none."""
    if config.run.tasks.data is None:
        return {}
    return {"episodes": [list_tasks(config.run_settings(tasks).tasks)[0].episode]}
