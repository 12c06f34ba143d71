"""What notes of a person are worth, with a language model and without one, and no training.

    python -m housewise.experiments.personalize.remembering --data HOUSEKEEP --adapter tidy --seed 1 --seed 2 \\
        [--scene Merom_1_int ...] [--row store ...] [--recovered FILE] [--quick] [--out runs/remembering] [--json FILE]

Every row has the diet of LLM-Personalize's tables: 10 demonstrations, then its own attempts at the 20 training tasks,
twice, in which it explores; it remembers how people react, and nothing else is learned. Before the attempts and after
each round it plays the tests, and the twenty other tasks where a scene has them, once for each seed. The controls ask
no model: ``store`` does what it knows, ``nearest`` also what the things nearest in meaning tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from housewise.commands.options import (
    ConfigOption,
    DataOption,
    Overrides,
    PersonOption,
    SimulatorOption,
    TrainedModelOption,
    TrainingUrlOption,
    WorkersOption,
)
from housewise.core.console import Console
from housewise.experiments.personalize.households import (
    DEMO,
    TRAIN,
    Episode,
    Household,
    Setup,
    Stage,
    figure,
    gained,
    in_full,
    one_by_one,
    shareable_run,
    starts_of,
)
from housewise.experiments.personalize.paper import (
    AdapterOption,
    JsonOption,
    OutOption,
    QuickOption,
    RecoveredOption,
    RowsOption,
    ScenesOption,
    ShowOption,
    carry_out,
    chosen_rows,
    default_out,
    recovered_folders,
)
from housewise.experiments.personalize.study import GENERATED, RECOVERED, SCENES
from housewise.experiments.results import Cell, Results
from housewise.selftrain.personalize.loop import Observer
from housewise.systems.personalize.settings import PersonalizeSettings

DEMONSTRATIONS, VERDICTS, REWARDS = "demonstrations", "their verdicts on every seen thing", "rewards of single actions"
GENERATED_HOUSES = "generated houses (the adapter)"
NOTHING, SHOWN = "nothing learned", "after demonstrations"
ROUNDS = ("after round 1", "after round 2")


@dataclass(frozen=True)
class Row:
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

    def told(self, adapter: bool) -> list[str]:
        """What it is given, with an adapter or without."""
        shown = [DEMONSTRATIONS, *([VERDICTS] if self.verdicts else []), REWARDS] if self.learns else []
        return [*shown, *([GENERATED_HOUSES] if adapter and self.planner == "llm" else [])]


EMPTY, FULL = "model, empty memory", "model, memory"
ROWS = {
    "store": Row("store"),
    "store without verdicts": Row("store", verdicts=False),
    "nearest": Row("nearest"),
    EMPTY: Row("llm", learns=False),
    FULL: Row("llm"),
}
HALVES = (EMPTY, "store", "nearest")
"""What the model with its memory is compared with."""


class Robot:
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

    def play(self, setup: Setup, observer: Observer) -> None:
        """Play what is missing."""
        robot = setup.settings(self.row.planner)
        memory = self.shown(setup, observer) if self.row.learns else None
        self._measure(robot, self.row.stages[0], memory, observer)
        for number, stage in enumerate(self.row.stages[1:], start=1):
            memory = self.attempts(number).learn(robot.changed(agent={"explore": True}), memory, observer)
            self._measure(robot, stage, memory, observer)

    @property
    def demonstrations(self) -> Stage:
        """What it is shown, the same for all rows that are shown as much."""
        folder = DEMONSTRATIONS if self.row.verdicts else f"{DEMONSTRATIONS} without verdicts"
        return self._stage(DEMO, self._folder / folder, DEMONSTRATIONS, 0)

    def shown(self, setup: Setup, observer: Observer) -> Path:
        """Folder of the memory of the demonstrations."""
        settings = setup.settings("demonstrator").changed(agent={"demonstrator": {"verdicts": self.row.verdicts}})
        return self.demonstrations.learn(settings, None, observer)

    def attempts(self, number: int) -> Stage:
        """A round of attempts at the training tasks, from 1."""
        return self._stage(TRAIN, self._folder / self.name / f"round {number}", f"round {number}", number)

    def tests(self, stage: str, which: str) -> Stage:
        """A set of tasks after a stage."""
        return self._stage(which, self._folder / self.name / stage / which, f"{stage}, {which}", 0)

    def episodes(self, played: Stage) -> list[Episode]:
        """What has come of some tasks."""
        return [Episode.of(self.seed, record) for record in played.records()]

    def _measure(self, robot: PersonalizeSettings, stage: str, memory: Path | None, observer: Observer) -> None:
        for which in self.household.tests:
            self.tests(stage, which).measure(robot, memory, observer)

    def _stage(self, which: str, folder: Path, what: str, number: int) -> Stage:
        title = f"{self.household.scene}, {self.household.name}, seed {self.seed}, {self.name}: {what}"
        return Stage(self.household, which, folder, title, 10 * self.seed + number)


class Remembering:
    """Success by scene, row and stage; see housewise.experiments.personalize.paper.Experiment.

    Args:
        households: one for each scene.
        rows: names of ROWS.
        seeds: the whole diet is played once for each.
        setup: how robots are set.
        out: folder for everything.
    """

    name = "remembering"

    def __init__(
        self, households: Sequence[Household], rows: Sequence[str], seeds: Sequence[int], setup: Setup, out: Path
    ) -> None:
        self.households, self.rows, self.seeds, self.setup, self.out = households, rows, seeds, setup, out

    def play(self, observer: Observer) -> None:
        """See Experiment.play: seed after seed, so that whatever is there is of all rows and scenes."""
        for seed in self.seeds:
            for household in self.households:
                for row in self.rows:
                    Robot(row, household, seed, self.out).play(self.setup, observer)

    def results(self) -> list[Results]:
        """See Experiment.results."""
        adapter = self.setup.adapter is not None
        cells = [
            Cell(
                f"{row}, {stage}" if ROWS[row].learns else row,
                f"{household.scene} {which}",
                figure(self._played[household.scene, row, stage, which]),
                marked=adapter and ROWS[row].planner == "llm",
                expected=household.size(which) * len(self.seeds),
            )
            for row in self.rows
            for stage in ROWS[row].stages
            for household in self.households
            for which in household.tests
        ]
        told = [f"{row}: told {', '.join(ROWS[row].told(adapter)) or 'nothing'}" for row in self.rows]
        recovered = [household.scene for household in self.households if household.scene in RECOVERED]
        notes = [f"{scene}: poses are ours; ten of the training tasks are demonstrated" for scene in recovered]
        return [Results("success rate, %", cells, [*told, *notes, *self._compared()])]

    def obstacles(self) -> dict[str, dict[str, Any]]:
        """See Experiment.obstacles: left to the reports of the runs."""
        return {}

    def more(self) -> dict[str, Any]:
        """See Experiment.more: figures by scene, row, stage and set of tasks, and all that they are made of."""
        adapter = self.setup.adapter
        return {
            "seeds": list(self.seeds),
            "told": {row: ROWS[row].told(adapter is not None) for row in self.rows},
            "figures": self._nested(in_full),
            "attempts": self._attempts(),
            "notes": self._notes(),
            "gains": self._gains(),
            "adapter": adapter,
            "settings": {row: shareable_run(self.setup.settings(ROWS[row].planner)) for row in self.rows},
            "starts": self._starts(),
            "by_episode": self._nested(one_by_one),
        }

    @cached_property
    def _played(self) -> dict[tuple[str, str, str, str], list[Episode]]:
        """By scene, row, stage and set of tasks; attempts are those of the stage that they lead to."""
        found = {}
        for household in self.households:
            for row in self.rows:
                robots = [Robot(row, household, seed, self.out) for seed in self.seeds]
                for stage in ROWS[row].stages:
                    for which in household.tests:
                        each = [robot.episodes(robot.tests(stage, which)) for robot in robots]
                        found[household.scene, row, stage, which] = [one for some in each for one in some]
                for number, stage in enumerate(ROWS[row].stages[1:], start=1):
                    each = [robot.episodes(robot.attempts(number)) for robot in robots]
                    found[household.scene, row, stage, TRAIN] = [one for some in each for one in some]
        return found

    def _nested(self, tell: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for (scene, row, stage, which), episodes in self._played.items():
            if which != TRAIN:
                found.setdefault(scene, {}).setdefault(row, {}).setdefault(stage, {})[which] = tell(episodes)
        return found

    def _attempts(self) -> dict[str, Any]:
        """The figures of the attempts themselves."""
        found: dict[str, Any] = {}
        for (scene, row, stage, which), episodes in self._played.items():
            if which == TRAIN:
                found.setdefault(scene, {}).setdefault(row, {})[stage.removeprefix("after ")] = in_full(episodes)
        return found

    def _notes(self) -> dict[str, Any]:
        """How many notes there were, by scene, row, stage and seed."""
        found: dict[str, Any] = {}
        for household in self.households:
            for row in self.rows:
                for stage in ROWS[row].stages:
                    numbers = found.setdefault(household.scene, {}).setdefault(row, {}).setdefault(stage, {})
                    for seed in self.seeds:
                        robot = Robot(row, household, seed, self.out)
                        memory = robot.tests(stage, household.tests[0]).memory_at_start()
                        numbers[str(seed)] = None if memory is None else len(memory)
        return found

    def _pairs(self) -> Iterator[tuple[str, str, str, str, Any]]:
        """Scene, stage, set of tasks, what the model with a memory is compared with, and how much better it is."""
        for household in self.households:
            for stage in ROWS[FULL].stages if FULL in self.rows else ():
                for which in household.tests:
                    for half in (each for each in HALVES if each in self.rows):
                        other = self._played[household.scene, half, stage if ROWS[half].learns else NOTHING, which]
                        mine = self._played[household.scene, FULL, stage, which]
                        yield household.scene, stage, which, half, gained(mine, other)

    def _gains(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for scene, stage, which, half, gain in self._pairs():
            compared = found.setdefault(scene, {}).setdefault(stage, {}).setdefault(which, {})
            compared[f"{FULL} - {half}"] = vars(gain) if gain else None
        return found

    def _compared(self) -> list[str]:
        return [
            f"{scene} {which}, {stage}: {FULL} - {half}: {gain} points, task by task"
            for scene, stage, which, half, gain in self._pairs()
            if gain
        ]

    def _starts(self) -> dict[str, Any]:
        """Where things stand at first, by scene and task."""
        row, stage = self.rows[0], ROWS[self.rows[0]].stages[0]
        found: dict[str, Any] = {}
        for household in self.households:
            robot = Robot(row, household, self.seeds[0], self.out)
            tests = [robot.tests(stage, which).records() for which in household.tests]
            found[household.scene] = starts_of(record for records in tests for record in records)
        return found


def households(
    scenes: Sequence[str] | None, data: Path | None, recovered: Path | None, person: str, quick: bool, out: Path
) -> list[Household]:
    """The households of a table's scenes; where none is named, those of the data.

    Raises:
        UserError: when recovered tasks cannot be made into episodes.
    """
    usual = [GENERATED] if quick else [*SCENES, *(RECOVERED if recovered else ())]
    chosen = list(scenes or usual)
    made = recovered_folders(data, recovered, out) if recovered and set(chosen) & set(RECOVERED) else {}
    return [Household(scene, made.get(scene, data), person, quick) for scene in chosen]


SeedsOption = Annotated[
    list[int] | None, typer.Option("--seed", min=0, help="Of all that is drawn; may be given several times.")
]


def main(
    overrides: Overrides = None,
    config: ConfigOption = None,
    data: DataOption = None,
    scenes: ScenesOption = None,
    rows: RowsOption = None,
    seeds: SeedsOption = None,
    person: PersonOption = None,
    model: TrainedModelOption = None,
    adapter: AdapterOption = None,
    base_url: TrainingUrlOption = None,
    simulator: SimulatorOption = None,
    workers: WorkersOption = None,
    recovered: RecoveredOption = None,
    quick: QuickOption = False,
    show: ShowOption = False,
    out: OutOption = None,
    json_file: JsonOption = None,
) -> None:
    """Measure what notes of a person are worth, with a language model and without one.

    Examples:

      python -m housewise.experiments.personalize.remembering --quick --row store --row nearest

      python -m housewise.experiments.personalize.remembering --data ~/housekeep --adapter tidy --seed 1 --workers 8
    """
    out = out or default_out("remembering", quick)
    asked = {"model": model, "adapter": adapter, "base_url": base_url}
    setup = Setup.of(config, overrides, quick, simulator=simulator, workers=workers, **asked)
    chosen = chosen_rows(rows, list(ROWS))
    found = households(scenes, data, recovered, person or "majority", quick, out)
    if not show:
        # Now rather than after hours of playing.
        for household in found:
            household.tasks(TRAIN)
    experiment = Remembering(found, chosen, seeds or [1], setup, out)
    carry_out(experiment, out, show, Console(), {"quick": quick}, json_file=json_file)


if __name__ == "__main__":
    from housewise.core.console import guarded

    guarded(lambda: typer.run(main))
