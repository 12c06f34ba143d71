"""The robots that go by notes of a person: what each is shown, what it tries, and when it is measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from housewise.experiments.personalize.households import DEMO, TRAIN, Household, Setup, Stage, shareable_run
from housewise.experiments.results import Figure, published_figure
from housewise.selftrain.training_folder import TrainingObserver

DEMONSTRATIONS, VERDICTS, REWARDS = "demonstrations", "their verdicts on every seen thing", "rewards of single actions"
GENERATED_HOUSES = "generated houses (the adapter)"
NOTHING, SHOWN = "nothing learned", "after demonstrations"
ROUNDS = ("after round 1", "after round 2")
PHASE_OF = dict(zip((SHOWN, *ROUNDS), ("IL", "ST1", "ST2"), strict=True))
"""The row of the paper's tables that each stage stands beside: as much was shown and tried."""


def papers(measure: str, scene: str, stage: str, which: str, person: str) -> Figure | None:
    """What the paper says of a stage, whose robots were all taught for the majority; see results.published."""
    known = stage in PHASE_OF and person == "majority"
    return published_figure(measure, scene, PHASE_OF[stage], which) if known else None


@dataclass(frozen=True)
class RobotRow:
    """A robot of the table.

    Attributes:
        planner: by name.
        verdicts: whether demonstrations let it know of every thing in sight where it belongs.
        learns: whether it is shown and tries anything at all.
    """

    planner: str
    verdicts: bool = True
    learns: bool = True

    @property
    def stages(self) -> tuple[str, ...]:
        """When it is measured."""
        return (SHOWN, *ROUNDS) if self.learns else (NOTHING,)

    def information(self, setup: Setup) -> list[str]:
        """What it is given."""
        shown = [DEMONSTRATIONS, *([VERDICTS] if self.verdicts else []), REWARDS] if self.learns else []
        return [*shown, *([GENERATED_HOUSES] if self.is_marked(setup) else [])]

    def is_marked(self, setup: Setup) -> bool:
        """Whether its model had also learned beforehand."""
        return self.planner == "llm" and setup.has_adapter

    def settings(self, setup: Setup) -> dict[str, Any]:
        """How it is set, for a JSON file."""
        return shareable_run(setup.settings(self.planner))


EMPTY, FULL = "model, empty memory", "model, memory"
ROWS = {
    "store": RobotRow("memory_lookup"),
    "store without verdicts": RobotRow("memory_lookup", verdicts=False),
    "nearest": RobotRow("memory_nearest"),
    EMPTY: RobotRow("llm", learns=False),
    FULL: RobotRow("llm"),
}


class StudyRobot:
    """A row in a household, with one seed.

    Args:
        name: of the row.
        household: that it works in.
        seed: of all that is drawn.
        folder: that all rows share.
    """

    def __init__(self, name: str, household: Household, seed: int, folder: Path) -> None:
        self.name, self.row, self.household, self.seed = name, ROWS[name], household, seed
        self._folder = folder / household.scene / f"seed-{seed}"

    def play(self, setup: Setup, observer: TrainingObserver) -> None:
        """Play what is missing."""
        robot = setup.settings(self.row.planner)
        for stage, memory in self.learn_stages(setup, observer):
            for which in self.household.tests:
                self.tests(stage, which).measure(robot, memory, observer)

    def learn_stages(self, setup: Setup, observer: TrainingObserver) -> Iterator[tuple[str, Path | None]]:
        """Every stage with the folder of the memory that it has by then, filled as far as it is asked for."""
        robot = setup.settings(self.row.planner).with_changes(agent={"place_at_random": True})
        memory = self.demonstrate(setup, observer) if self.row.learns else None
        yield self.row.stages[0], memory
        for number, stage in enumerate(self.row.stages[1:], start=1):
            memory = self.attempts(number).learn(robot, memory, observer)
            yield stage, memory

    @property
    def demonstrations(self) -> Stage:
        """What it is shown, the same for all rows that are shown as much."""
        folder = DEMONSTRATIONS if self.row.verdicts else f"{DEMONSTRATIONS} without verdicts"
        return self._stage(DEMO, self._folder / folder, DEMONSTRATIONS, 0)

    def demonstrate(self, setup: Setup, observer: TrainingObserver) -> Path:
        """Folder of the memory of the demonstrations."""
        settings = setup.settings("demonstrator").with_changes(
            agent={"demonstrator": {"note_all_objects": self.row.verdicts}}
        )
        return self.demonstrations.learn(settings, None, observer)

    def attempts(self, number: int) -> Stage:
        """A round of attempts at the training tasks, from 1."""
        return self._stage(TRAIN, self._folder / self.name / f"round {number}", f"round {number}", number)

    def tests(self, stage: str, which: str) -> Stage:
        """A set of tasks after a stage."""
        return self._stage(which, self._folder / self.name / stage / which, f"{stage}, {which}", 0)

    def _stage(self, which: str, folder: Path, what: str, number: int) -> Stage:
        title = f"{self.household.scene}, {self.household.name}, seed {self.seed}, {self.name}: {what}"
        return Stage(self.household, which, folder, title, 10 * self.seed + number)
