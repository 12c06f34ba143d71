"""What notes of a person are worth, with a language model and without one, and beside trained weights.

    python -m housewise.experiments.personalize.remembering --data HOUSEKEEP --adapter tidy --seed 1 --seed 2 \\
        [--scene Merom_1_int ...] [--row store ...] [--recovered FILE] [--recipe FILE] [--quick] \\
        [--out runs/remembering] [--json FILE]

Every row has the diet of LLM-Personalize's tables: 10 demonstrations, then its own attempts at the 20 training tasks,
twice, in which it explores; it remembers how people react, and nothing else is learned. Before the attempts and after
each round it plays the tests, and the twenty other tasks where a scene has them, once for each seed. The controls ask
no model: ``store`` does what it knows, ``nearest`` also what the things nearest in meaning tell.

Rows with trained weights stand in the same table where they are named (they take hours): ``weights, no memory`` learns
as in experiments.personalize.main_results, ``weights, memory`` does so too and goes by notes besides, and ``paper's own
rule`` learns what did good as it was said.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any

import typer

from housewise.core.console import Console
from housewise.experiments.personalize.ablations import MEASURES
from housewise.experiments.personalize.households import (
    OTHER,
    TEST,
    TRAIN,
    Episode,
    Household,
    Setup,
    collect_episodes,
    differences,
    figure,
    in_full,
    one_by_one,
    starts_of,
)
from housewise.experiments.personalize.paper import (
    AdapterOption,
    Experiment,
    JsonOption,
    OutOption,
    RecoveredOption,
    RowsOption,
    ScenesOption,
    ShowOption,
    carry_out,
    chosen_rows,
    default_out,
    recovered_folders,
)
from housewise.experiments.personalize.robots import (
    EMPTY,
    FULL,
    NOTHING,
    ROUNDS,
    ROWS,
    SHOWN,
    RobotRow,
    StudyRobot,
    papers,
)
from housewise.experiments.personalize.study import GENERATED, RECOVERED, SCENES
from housewise.experiments.personalize.weights import ALONE, BOTH, WEIGHTS, Pupil, Taught
from housewise.experiments.quick import QuickOption
from housewise.experiments.results import Cell, Figure, Results, nest_by_keys
from housewise.selftrain.training_folder import TrainingObserver
from housewise.terminal.options import (
    ConfigOption,
    DataOption,
    GpuOption,
    Overrides,
    PersonOption,
    SimulatorOption,
    TrainedModelOption,
    TrainingUrlOption,
    WorkersOption,
)

EVERY: dict[str, RobotRow | Taught] = {**ROWS, **WEIGHTS}
HALVES = {FULL: (EMPTY, "store", "nearest"), BOTH: (ALONE, FULL)}
"""What rows with a memory are compared with."""

EVERYWHERE = "all scenes"


def robot_of(row: str, household: Household, seed: int, out: Path) -> StudyRobot | Pupil:
    """A row in a household, with one seed, in the folder that all rows share."""
    return Pupil(row, household, seed, out) if row in WEIGHTS else StudyRobot(row, household, seed, out)


class Remembering(Experiment):
    """Success by scene, row and stage; see housewise.experiments.personalize.paper.Experiment.

    Args:
        households: one for each scene.
        rows: names of EVERY.
        seeds: the whole diet is played once for each.
        setup: how robots are set.
        out: folder for everything.
    """

    name = "remembering"

    def __init__(
        self, households: Sequence[Household], rows: Sequence[str], seeds: Sequence[int], setup: Setup, out: Path
    ) -> None:
        self.households, self.rows, self.seeds, self.setup, self.out = households, rows, seeds, setup, out

    def play(self, observer: TrainingObserver) -> None:
        """See Experiment.play: seed after seed, so that whatever is there is of all rows and scenes."""
        each = [(row, household, seed) for seed in self.seeds for household in self.households for row in self.rows]
        robots = [robot_of(*what, self.out) for what in each]
        for robot in robots:
            if isinstance(robot, Pupil):
                # What cannot work is told now rather than after hours of playing.
                robot.training(self.setup, observer)
        for robot in robots:
            robot.play(self.setup, observer)

    def results(self) -> list[Results]:
        """See Experiment.results: success, and what Figure 6 of arXiv 2404.14285 is about."""
        told = [f"{row}: told {', '.join(EVERY[row].information(self.setup)) or 'nothing'}" for row in self.rows]
        recovered = [household.scene for household in self.households if household.scene in RECOVERED]
        notes = [f"{scene}: poses are ours; ten of the training tasks are demonstrated" for scene in recovered]
        more = [Results(title, self._cells(measure)) for measure, (title, _) in MEASURES.items()]
        return [
            Results("success rate, %", self._cells("success_rate"), [*told, *notes, *self._comparison_lines()]),
            *more,
        ]

    def _cells(self, measure: str) -> list[Cell]:
        marked = {row: EVERY[row].is_marked(self.setup) for row in self.rows}
        return [
            Cell(
                f"{row}, {stage}" if EVERY[row].learns else row,
                f"{household.scene} {which}",
                figure(self._episodes_by_key[household.scene, row, stage, which], measure),
                papers(measure, household.scene, stage, which, household.person),
                marked[row],
                household.size(which) * len(self.seeds),
            )
            for row in self.rows
            for stage in EVERY[row].stages
            for household in self.households
            for which in household.tests
        ]

    def extra_results(self) -> dict[str, Any]:
        """See Experiment.extra_results: figures by scene, row, stage and set of tasks, and all behind them."""
        return {
            "seeds": list(self.seeds),
            "told": {row: EVERY[row].information(self.setup) for row in self.rows},
            "figures": self._summarise_by_key(in_full),
            "figure_6": {measure: self._summarise_by_key(partial(in_full, measure=measure)) for measure in MEASURES},
            "attempts": self._attempts(),
            "notes": self._notes(),
            "gains": self._gains(),
            "adapter": self.setup.adapter,
            "settings": {row: self._settings(row) for row in self.rows},
            "starts": self._starts(),
            "by_episode": self._summarise_by_key(one_by_one),
        }

    def _settings(self, row: str) -> dict[str, Any]:
        """As its first test was played, which another command may have done; before that as it is set now."""
        robot = robot_of(row, self.households[0], self.seeds[0], self.out)
        first = robot.tests(EVERY[row].stages[0], TEST).settings() if isinstance(robot, StudyRobot) else None
        return first or EVERY[row].settings(self.setup)

    @cached_property
    def _episodes_by_key(self) -> dict[tuple[str, str, str, str], list[Episode]]:
        """By scene, row, stage and set of tasks; attempts are those of the stage that they lead to."""
        found = {}
        for household in self.households:
            for row in self.rows:
                robots = {seed: robot_of(row, household, seed, self.out) for seed in self.seeds}
                for stage in EVERY[row].stages:
                    for which in household.tests:
                        tested = {seed: robot.tests(stage, which) for seed, robot in robots.items()}
                        found[household.scene, row, stage, which] = collect_episodes(tested)
                for number, stage in enumerate(EVERY[row].stages[1:], start=1):
                    tried = {seed: robot.attempts(number) for seed, robot in robots.items()}
                    found[household.scene, row, stage, TRAIN] = collect_episodes(tried)
        return found

    def _summarise_by_key(self, tell: Any) -> dict[str, Any]:
        return nest_by_keys(
            {key: tell(episodes) for key, episodes in self._episodes_by_key.items() if key[-1] != TRAIN}
        )

    def _attempts(self) -> dict[str, Any]:
        """The figures of the attempts themselves."""
        found: dict[str, Any] = {}
        for (scene, row, stage, which), episodes in self._episodes_by_key.items():
            if which == TRAIN:
                found.setdefault(scene, {}).setdefault(row, {})[stage.removeprefix("after ")] = in_full(episodes)
        return found

    def _notes(self) -> dict[str, Any]:
        """How many notes there were, by scene, row, stage and seed."""
        found: dict[str, Any] = {}
        for household in self.households:
            for row in self.rows:
                for stage in EVERY[row].stages:
                    numbers = found.setdefault(household.scene, {}).setdefault(row, {}).setdefault(stage, {})
                    for seed in self.seeds:
                        robot = robot_of(row, household, seed, self.out)
                        memory = robot.tests(stage, household.tests[0]).memory_at_start()
                        numbers[str(seed)] = None if memory is None else len(memory)
        return found

    def _pairs(self) -> Iterator[tuple[str, str, str, str, Figure | None]]:
        """Scene, stage, set of tasks, which two rows are compared, how much better the first is; all scenes last."""
        compared = [(row, half) for row, halves in HALVES.items() for half in halves if {row, half} <= set(self.rows)]
        over = {household.scene: [household] for household in self.households}
        if len(over) > 1:
            over[EVERYWHERE] = list(self.households)
        for name, found in over.items():
            for stage in (SHOWN, *ROUNDS):
                for which in (TEST, OTHER):
                    having = [household.scene for household in found if which in household.tests]
                    for row, half in compared if having else ():
                        gains = [
                            pair for scene in having for pair in self._success_gains(scene, row, half, stage, which)
                        ]
                        yield name, stage, which, f"{row} - {half}", Figure.from_episodes(gains)

    def _success_gains(self, scene: str, row: str, half: str, stage: str, which: str) -> list[tuple[Hashable, float]]:
        """By how many points a row is ahead of another, by task."""
        other = self._episodes_by_key[scene, half, stage if EVERY[half].learns else NOTHING, which]
        return differences(self._episodes_by_key[scene, row, stage, which], other)

    def _gains(self) -> dict[str, Any]:
        return nest_by_keys({tuple(key): vars(gain) if gain else None for *key, gain in self._pairs()})

    def _comparison_lines(self) -> list[str]:
        return [
            f"{scene} {which}, {stage}: {rows}: {gain} points, task by task"
            for scene, stage, which, rows, gain in self._pairs()
            if gain
        ]

    def _starts(self) -> dict[str, Any]:
        """Where things stand at first, by scene and task."""
        row, stage = self.rows[0], EVERY[self.rows[0]].stages[0]
        found: dict[str, Any] = {}
        for household in self.households:
            robot = robot_of(row, household, self.seeds[0], self.out)
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

RecipeOption = Annotated[
    Path,
    typer.Option(
        "--recipe",
        metavar="NAME|FILE",
        help="How the rows with weights are taught: settings of self-training, as one of housewise list configs.",
    ),
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
    gpu: GpuOption = None,
    workers: WorkersOption = None,
    recovered: RecoveredOption = None,
    taught: RecipeOption = Path("paper"),
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
    setup = Setup.from_options(config, overrides, quick, simulator=simulator, gpu=gpu, workers=workers, **asked)
    setup = replace(setup, recipe=taught)
    played = [row for row in WEIGHTS if show and any(out.glob(f"*/seed-*/{row}"))]
    chosen = chosen_rows(rows or [*ROWS, *played], list(EVERY))
    found = households(scenes, data, recovered, person or "majority", quick, out)
    if not show:
        # Now rather than after hours of playing.
        for household in found:
            household.tasks(TRAIN)
    experiment = Remembering(found, chosen, seeds or [1], setup, out)
    carry_out(experiment, out, show, Console(), {"quick": quick}, json_file=json_file)


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
