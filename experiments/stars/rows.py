"""The rows of the table of conditions: a condition with a model and a seed, played as a run in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from housewise.agent.stars.experiment_conditions import CONDITIONS, find_condition
from housewise.core.errors import UserError, suggest_names
from housewise.core.files import write_json
from housewise.core.printable_text import excerpt
from housewise.core.record import Record
from housewise.experiments.stars.sharing import Sharing
from housewise.language.adapters import adapter_folder
from housewise.rollout.record_reader import read_records
from housewise.rollout.run import Run
from housewise.selftrain.stars.goal_lessons import GoalLessons
from housewise.selftrain.stars.goal_training import settings_of_adapter
from housewise.selftrain.stars.settings import GoalTrainingConfig
from housewise.selftrain.training_folder import TrainingObserver
from housewise.systems.stars.settings import StarsSettings

TRIAL_2, TAUGHT = "Trial 2", "STARS+O"
"""The second time, by what was learned under a condition the first time."""
CONTROL = "nearest"
ASKING_CONTROL = f"{CONTROL}+O"
NO_ADAPTER = "none"
_SEED = "{seed}"
_PARTS = frozenset({"", "/", "adapter", "imitate"})  # of the way to an adapter, which tell it from no other
_NOBODY = {"model": "nobody", "base_url": "http://127.0.0.1:1/v1", "adapter": None}
"""A server that is not there: whatever is asked fails."""


@dataclass(frozen=True)
class Arm:
    """A model that conditions are played with.

    Attributes:
        adapter: of the local model, by name or folder, where ``{seed}`` stands for the seed; None for the model as it
            comes.
    """

    adapter: str | None = None

    @classmethod
    def from_adapter(cls, adapter: str) -> Arm:
        """The arm of an adapter, or of the model as it comes."""
        return cls(None if adapter == NO_ADAPTER else adapter)

    @property
    def name(self) -> str:
        """Of its folder, and in tables."""
        parts = [part.replace(_SEED, "").strip("-_") for part in Path(self.adapter or "as it comes").parts]
        return next((part for part in reversed(parts) if part not in _PARTS), "adapter")

    def adapter_of(self, seed: int) -> str | None:
        """The adapter that is taken with a seed."""
        return self.adapter and self.adapter.replace(_SEED, str(seed))

    def training_settings(self, seed: int) -> GoalTrainingConfig | None:
        """What the adapter was taught with, where that is known."""
        adapter = self.adapter_of(seed)
        return None if adapter is None else settings_of_adapter(adapter_folder(adapter))

    def seeds(self, among: Sequence[int]) -> Sequence[int]:
        """Those that make a difference to the model."""
        return among if self.varies else among[:1]

    @property
    def varies(self) -> bool:
        """Whether each seed has an adapter of its own."""
        return _SEED in (self.adapter or "")


@dataclass(frozen=True)
class ConditionRow:
    """A condition with a model and a seed.

    Attributes:
        condition: by name; see agent.stars.conditions, and TRIAL_2.
        arm: the model; where it is not asked, what its adapter was taught is compared in meaning.
        seed: of all that is drawn.
        out: folder that all rows share.
    """

    condition: str
    arm: Arm
    seed: int
    out: Path

    @property
    def label(self) -> str:
        """Of its line in tables, which the row has together with those of other seeds."""
        return self.condition if self.arm.adapter is None else f"{self.condition}, {self.arm.name}"

    @property
    def folder(self) -> Path:
        """Of the run."""
        return self._condition_folder(self.condition)

    @property
    def records(self) -> list[Record]:
        """What has been played."""
        return list(read_records(self.folder)) if (self.folder / "episodes").is_dir() else []

    def settings(self, base: StarsSettings) -> StarsSettings:
        """Of the run.

        Args:
            base: what all rows have in common.

        Raises:
            UserError: when they do not fit.
        """
        if self.condition == TRIAL_2:
            learned = {
                "start": base.tasks.person,
                "folder": str(self._condition_folder(TAUGHT) / "memory"),
                "learn": "never",
            }
            return base.with_changes(condition="STARS", seed=self.seed, memory=learned, **_NOBODY)
        changes: dict[str, Any] = {"adapter": self.arm.adapter_of(self.seed)}
        if self._without_model:
            known = base.agent.examples if self.arm.adapter is None else str(self._examples)
            changes = {**_NOBODY, "examples": known}
        return base.with_changes(condition=self.condition, seed=self.seed, memory={"learn": "run"}, **changes)

    def prepare(self) -> None:
        """Write down what an adapter was taught, for the control that has no model.

        Raises:
            UserError: when that cannot be told.
        """
        adapter = self.arm.adapter_of(self.seed)
        if not self._without_model or adapter is None or self._examples.exists():
            return
        taught = self.arm.training_settings(self.seed)
        if taught is None:
            raise UserError(
                f"{adapter}: no training in goals has left it, so that {self.condition} knows nothing of it"
            )
        write_json(
            self._examples, {"name": self.arm.name, "seen": GoalLessons(taught.run, taught.lessons).known_places()}
        )

    def play(self, base: StarsSettings, observer: TrainingObserver) -> None:
        """Play what is missing.

        Raises:
            UserError: see Run; episodes that are finished are kept.
        """
        others = () if self.condition == TRIAL_2 else tuple(self._condition_folder(name) for name in CONDITIONS)
        run = Run(Sharing(self.settings(base), others), self.folder)
        with observer.watch_episodes(f"{self.label}, seed {self.seed}", run) as callback:
            run.play(callback)

    @property
    def _without_model(self) -> bool:
        return self.condition != TRIAL_2 and find_condition(self.condition).retrieval == "meaning"

    @property
    def _examples(self) -> Path:
        return self.folder.parent / "examples.json"

    def _condition_folder(self, condition: str) -> Path:
        # What goes well in a shell.
        arm = "no-model" if self._without_model and self.arm.adapter is None else self.arm.name.replace(" ", "-")
        name = condition.replace("*", "-hints").replace(" ", "-")
        return self.out / "runs" / arm / f"seed-{self.seed}" / name


def rows(conditions: Sequence[str], arms: Sequence[Arm], seeds: Sequence[int], out: Path) -> list[ConditionRow]:
    """All rows in the order of the table, each condition with every model, and with every seed where seeds matter.

    Trees are grown at temperature 0: only where goals are drawn, or where each seed has an adapter of its own, is
    there more than one.

    Raises:
        UserError: when there is no such condition.
    """
    for name in conditions:
        if name != TRIAL_2 and not _is_condition(name):
            raise UserError(
                f"--condition {excerpt(name)}: there is none; {suggest_names(name, [*CONDITIONS, TRIAL_2])}"
            )
    if TRIAL_2 in conditions and TAUGHT not in conditions:
        conditions = [*(name for name in conditions if name != TRIAL_2), TAUGHT, TRIAL_2]
    if len({arm.name for arm in arms}) < len(arms):
        raise UserError("--adapter: two of them end alike; put them in folders of different names")
    return list(dict.fromkeys(_rows(conditions, arms, seeds, out)))


def _rows(conditions: Sequence[str], arms: Sequence[Arm], seeds: Sequence[int], out: Path) -> Iterator[ConditionRow]:
    for arm in arms:
        for name in conditions:
            retrieval = "tree" if name == TRIAL_2 else find_condition(name).retrieval
            if retrieval == "meaning":
                yield ConditionRow(name, Arm(), seeds[0], out)
                if arm.training_settings(seeds[0]) is None:
                    continue
            for seed in seeds if retrieval == "templates" else arm.seeds(seeds):
                yield ConditionRow(name, arm, seed, out)


def _is_condition(name: str) -> bool:
    try:
        find_condition(name)
    except UserError:
        return False
    return True
