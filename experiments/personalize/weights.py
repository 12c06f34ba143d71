"""Robots whose model is trained, for the table of those that go by notes: without notes and with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from housewise.agent.personalize.prompt import PromptTemplate
from housewise.experiments.personalize.households import QUICK_STEPS, TRAIN, Household, Setup, Stage
from housewise.experiments.personalize.paper import shareable
from housewise.experiments.personalize.robots import (
    DEMONSTRATIONS,
    GENERATED_HOUSES,
    PHASE_OF,
    REWARDS,
    ROUNDS,
    SHOWN,
    VERDICTS,
)
from housewise.experiments.personalize.study import PHASES, recipe, scene_recipe
from housewise.selftrain.personalize.learning_curve import draw_learning_curve
from housewise.selftrain.personalize.self_training import SelfTraining
from housewise.selftrain.personalize.settings import EvaluationConfig, NamedTasksConfig, SelfTrainingConfig
from housewise.selftrain.training_folder import TrainingObserver

PLAN_REWARDS, REVIEWS = "rewards of plans", "reviews, which name every receptacle of the house"


@dataclass(frozen=True)
class Taught:
    """A robot of the table whose model learns as in experiments.personalize.main_results.

    Attributes:
        remembers: whether what is shown and tried is kept in notes, too, and recalled.
        changes: settings of self-training that differ from the recipe's, by dotted key.
    """

    remembers: bool = False
    changes: Mapping[str, Any] = field(default_factory=dict)
    learns: ClassVar[bool] = True
    stages: ClassVar[tuple[str, ...]] = (SHOWN, *ROUNDS)

    def recipe(self, setup: Setup, **run: Any) -> SelfTrainingConfig:
        """How its model is trained, from the same model and adapter as that of robots that are not.

        Args:
            setup: with the recipe.
            **run: settings of all its runs.

        Raises:
            UserError: when a setting does not fit.
        """
        acting = setup.settings("llm").models.agent
        asked = {"model": acting.model, "adapter": acting.adapter, "base_url": acting.base_url}
        played = {key: setup.given[key] for key in ("simulator", "workers") if key in setup.given}
        played |= {"max_steps": QUICK_STEPS} if setup.quick else {}
        # In a few steps nothing deserves a reward.
        changes = {key: value for key, value in self.changes.items() if not (setup.quick and key == "filter.name")}
        overrides = [f"{key}={value}" for key, value in changes.items()]
        return recipe(setup.quick, setup.recipe, {"run": {**asked, **played, **run}}, overrides)

    def information(self, setup: Setup) -> list[str]:
        """What it is given."""
        config = self.recipe(setup)
        judging = PromptTemplate.load(config.run.agent.prompt).judging
        attempts = config.grow.repeats * config.grow.replies
        given = {
            DEMONSTRATIONS: True,
            VERDICTS: judging or self.remembers,
            REWARDS: config.target == "relabelled" or self.remembers,
            PLAN_REWARDS: config.target != "relabelled",
            REVIEWS: config.memory_lessons or config.imitation_memory_lessons,
            f"{attempts} attempts at each training task in every round": attempts > 1,
            GENERATED_HOUSES: self.is_marked(setup),
        }
        return [what for what, whether in given.items() if whether]

    def is_marked(self, setup: Setup) -> bool:
        """Whether its model had also learned beforehand."""
        return setup.has_adapter

    def settings(self, setup: Setup) -> dict[str, Any]:
        """How it is taught, for a JSON file."""
        return shareable(self.recipe(setup))


ALONE, BOTH, RULE = "weights, no memory", "weights, memory", "paper's own rule"
WEIGHTS = {
    ALONE: Taught(),
    BOTH: Taught(remembers=True),
    # What did good, as it was said (LLM-Personalize, section 3.3).
    RULE: Taught(
        changes={
            **{"filter.name": "positive", "target": "raw", "memory_lessons": 0, "imitation_memory_lessons": 0},
            "run.agent.wrappers": "[]",
        }
    ),
}


class Pupil:
    """A row in a household, with one seed; see experiments.personalize.robots.Robot.

    Args:
        name: of the row.
        household: that it learns from.
        seed: of all that is drawn.
        folder: that all rows share.
    """

    def __init__(self, name: str, household: Household, seed: int, folder: Path) -> None:
        self.name, self.row, self.household, self.seed = name, WEIGHTS[name], household, seed
        self._folder = folder / household.scene / f"seed-{seed}" / name

    def training(self, setup: Setup, observer: TrainingObserver) -> SelfTraining:
        """What teaches it.

        Raises:
            UserError: when it cannot work.
        """
        return SelfTraining(self.config(setup), self._folder, observer)

    def config(self, setup: Setup) -> SelfTrainingConfig:
        """Its recipe, for the household: each of its tests is played once."""
        home = self.household
        run: dict[str, Any] = {"data": home.data and str(home.data), "person": home.person}
        run |= {"seed": self.seed, "rng_stream": self._series}
        if self.row.remembers:
            run["memory"] = {"start": home.name, "folder": str(self._folder / "nothing"), "new": True}
        measured = EvaluationConfig(
            tasks=[self._named_tasks(which) for which in home.tests], repeats=1, untrained=False
        )
        changes = {"evaluation": measured, "iterations": len(ROUNDS)}
        return scene_recipe(self.row.recipe(setup, **run).model_copy(update=changes), home.scene, home.few)

    def play(self, setup: Setup, observer: TrainingObserver) -> None:
        """Teach and play what is missing."""
        draw_learning_curve(self.training(setup, observer).run()["phases"], self._folder / "learning_curve.png")

    def attempts(self, number: int) -> Stage:
        """A round of attempts at the training tasks, from 1."""
        phase = PHASES[PHASE_OF[ROUNDS[number - 1]]]
        return Stage(self.household, TRAIN, self._folder / phase / "grow", f"{self.name}: round {number}", self._series)

    def tests(self, stage: str, which: str) -> Stage:
        """A set of tasks after a stage."""
        folder = self._folder / PHASES[PHASE_OF[stage]] / "evaluation" / which
        return Stage(self.household, which, folder, f"{self.name}: {stage}, {which}", self._series)

    @property
    def _series(self) -> int:
        return 10 * self.seed

    def _named_tasks(self, which: str) -> NamedTasksConfig:
        tasks = self.household.tasks(which)
        chosen = {key: tasks[key] for key in ("episodes", "houses", "seed") if key in tasks}
        return NamedTasksConfig(name=which, **chosen)
