"""Robots that go by notes in both simulators: the same tests with the same memories, success side by side.

    python -m housewise.experiments.personalize.simulators --data HOUSEKEEP --adapter tidy \\
        [--scene Merom_1_int ...] [--row store ...] [--simulator habitat ...] [--seed 1] [--quick] \\
        [--out runs/remembering] [--json FILE]

A robot goes by what it remembers after its last round of attempts in experiments.personalize.remembering, which were
made in the embedded simulator, in the same folder; what is missing of them is played first. Nothing is learned here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from housewise.core.console import Console
from housewise.experiments.personalize.households import (
    TEST,
    Episode,
    Household,
    Setup,
    Stage,
    collect_episodes,
    figure,
    in_full,
    one_by_one,
    success_gain,
)
from housewise.experiments.personalize.paper import (
    AdapterOption,
    Experiment,
    JsonOption,
    OutOption,
    RowsOption,
    ScenesOption,
    ShowOption,
    carry_out,
    chosen_rows,
    default_out,
)
from housewise.experiments.personalize.remembering import SeedsOption, households
from housewise.experiments.personalize.robots import FULL, ROWS, StudyRobot
from housewise.experiments.quick import QuickOption
from housewise.experiments.results import Cell, Results, nest_by_keys
from housewise.selftrain.training_folder import TrainingObserver
from housewise.terminal.option_values import simulator_choice
from housewise.terminal.options import ConfigOption, DataOption, GpuOption, Overrides, PersonOption, WorkersOption
from housewise.worlds.house.simulator import SimulatorName

SIMULATORS: tuple[SimulatorName, ...] = ("raycast", "habitat")
LEARNING = [name for name, row in ROWS.items() if row.learns]


class Simulated:
    """A robot with its memory in a household, in any simulator.

    Args:
        row: name of one that learns.
        household: that it works in.
        seed: of all that is drawn.
        folder: that all experiments with notes share.
    """

    def __init__(self, row: str, household: Household, seed: int, folder: Path) -> None:
        self.household, self.seed = household, seed
        self._robot = StudyRobot(row, household, seed, folder)
        self._folder = folder / household.scene / f"seed-{seed}" / "simulators" / row

    def play(self, simulators: Sequence[SimulatorName], setup: Setup, observer: TrainingObserver) -> None:
        """Play what is missing, of what is learned as well."""
        *_, (_, memory) = self._robot.learn_stages(setup, observer)
        for name in simulators:
            robot = setup.settings(self._robot.row.planner).with_changes(world={"simulator": name})
            self.tests(name).measure(robot, memory, observer)

    def tests(self, simulator: SimulatorName) -> Stage:
        """The tests in one of them."""
        title = f"{self.household.scene}, seed {self.seed}, {self._robot.name}: tests in {simulator}"
        return Stage(self.household, TEST, self._folder / simulator, title, 10 * self.seed)


class Simulators(Experiment):
    """Success by scene, row and simulator; see housewise.experiments.personalize.paper.Experiment.

    Args:
        households: one for each scene.
        rows: names of LEARNING.
        simulators: the others are compared with the first.
        seeds: the tests are played once for each.
        setup: how robots are set.
        out: folder for everything.
    """

    name = "simulators"

    def __init__(
        self,
        households: Sequence[Household],
        rows: Sequence[str],
        simulators: Sequence[SimulatorName],
        seeds: Sequence[int],
        setup: Setup,
        out: Path,
    ) -> None:
        self.households, self.rows, self.simulators, self.seeds = households, rows, simulators, seeds
        self.setup, self.out = setup, out

    def play(self, observer: TrainingObserver) -> None:
        """See Experiment.play."""
        for seed in self.seeds:
            for household in self.households:
                for row in self.rows:
                    Simulated(row, household, seed, self.out).play(self.simulators, self.setup, observer)

    def results(self) -> list[Results]:
        """See Experiment.results."""
        cells = [
            Cell(
                f"{row}, {simulator}",
                f"{household.scene} {TEST}",
                figure(self._episodes_by_key[household.scene, row, simulator]),
                marked=ROWS[row].is_marked(self.setup),
                expected=household.size(TEST) * len(self.seeds),
            )
            for household in self.households
            for row in self.rows
            for simulator in self.simulators
        ]
        return [Results("success rate by simulator, %", cells)]

    def extra_results(self) -> dict[str, Any]:
        """See Experiment.extra_results: figures by scene, row and simulator, and all behind them."""
        return {
            "seeds": list(self.seeds),
            "figures": self._summarise_by_key(in_full),
            "gains": self._gains(),
            "adapter": self.setup.adapter,
            "settings": {row: ROWS[row].settings(self.setup) for row in self.rows},
            "by_episode": self._summarise_by_key(one_by_one),
        }

    @cached_property
    def _episodes_by_key(self) -> dict[tuple[str, str, SimulatorName], list[Episode]]:
        """By scene, row and simulator."""
        return {
            (household.scene, row, name): collect_episodes(
                {seed: Simulated(row, household, seed, self.out).tests(name) for seed in self.seeds}
            )
            for household in self.households
            for row in self.rows
            for name in self.simulators
        }

    def _summarise_by_key(self, tell: Any) -> dict[str, Any]:
        return nest_by_keys({key: tell(episodes) for key, episodes in self._episodes_by_key.items()})

    def _gains(self) -> dict[str, Any]:
        """By how many points success is another than in the first simulator, task by task."""
        gains = {
            (scene, row, simulator): success_gain(episodes, self._episodes_by_key[scene, row, self.simulators[0]])
            for (scene, row, simulator), episodes in self._episodes_by_key.items()
            if simulator != self.simulators[0]
        }
        return nest_by_keys({key: vars(gain) if gain else None for key, gain in gains.items()})


def main(
    overrides: Overrides = None,
    config: ConfigOption = None,
    data: DataOption = None,
    scenes: ScenesOption = None,
    rows: RowsOption = None,
    simulators: Annotated[
        list[str] | None,
        typer.Option("--simulator", help="May be given several times; raycast and habitat by default."),
    ] = None,
    gpu: GpuOption = None,
    seeds: SeedsOption = None,
    person: PersonOption = None,
    adapter: AdapterOption = None,
    workers: WorkersOption = None,
    quick: QuickOption = False,
    show: ShowOption = False,
    out: OutOption = None,
    json_file: JsonOption = None,
) -> None:
    """Let robots that go by notes play their tests in both simulators.

    Examples:

      python -m housewise.experiments.personalize.simulators --quick --row store --simulator raycast

      python -m housewise.experiments.personalize.simulators --data ~/housekeep --adapter tidy --workers 2
    """
    out = out or default_out("remembering", quick)
    setup = Setup.from_options(config, overrides, quick, gpu=gpu, workers=workers, adapter=adapter)
    found = households(scenes, data, None, person or "majority", quick, out)
    chosen = [simulator_choice(name).name for name in dict.fromkeys(simulators or SIMULATORS)]
    experiment = Simulators(found, chosen_rows(rows or ["store", FULL], LEARNING), chosen, seeds or [1], setup, out)
    carry_out(experiment, out, show, Console(), {"quick": quick}, json_file=json_file)


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
