"""Success against the number of reactions that are remembered, with no training.

    python -m housewise.experiments.personalize.reactions --data HOUSEKEEP --adapter tidy --seed 1 --seed 2 \\
        [--scene Merom_1_int ...] [--row store ...] [--recovered FILE] [--quick] [--out runs/remembering] [--json FILE]

One memory for each scene and seed: the notes of ten demonstrations and then of the store's attempts at the training
tasks, as in experiments.personalize.remembering in the same folder. Every row plays the tests with the first notes of
that memory, in the order in which they came.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from housewise.core.console import Console
from housewise.core.errors import UserError
from housewise.core.plots import new_figure, save_figure
from housewise.experiments.personalize.households import (
    Episode,
    Household,
    Setup,
    Stage,
    collect_episodes,
    figure,
    in_full,
    one_by_one,
    shareable_run,
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
)
from housewise.experiments.personalize.remembering import SeedsOption, households
from housewise.experiments.personalize.robots import ROUNDS, StudyRobot
from housewise.experiments.quick import QuickOption
from housewise.experiments.results import Cell, Results, nest_by_keys
from housewise.people.memory import Memory, MemoryFolder, Note
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

COUNTS = (0, 5, 10, 20, 40, 70, 100)
ROWS = {"store": "memory_lookup", "nearest": "memory_nearest", "model": "llm"}
_ACROSS = 3
"""Planners by row."""


class Growing:
    """A memory that grows, in a household and with one seed.

    Args:
        household: whose memory it is.
        seed: of all that is drawn.
        folder: that all experiments with notes share.
    """

    def __init__(self, household: Household, seed: int, folder: Path) -> None:
        self.household, self.seed = household, seed
        self._teacher = StudyRobot("store", household, seed, folder)
        self._folder = folder / household.scene / f"seed-{seed}" / "reactions"

    def play(self, row: str, counts: Sequence[int], setup: Setup, observer: TrainingObserver) -> None:
        """Fill the memory where that has not been done, and play what a row has not played yet.

        Raises:
            UserError: when there are fewer notes than are asked for.
        """
        self._fill(counts, setup, observer)
        for count in counts:
            memory = self._memory(count) if count else None
            for which in self.household.tests:
                self.tests(row, count, which).measure(setup.settings(ROWS[row]), memory, observer)

    def tests(self, row: str, count: int, which: str) -> Stage:
        """A set of tasks, played with so many notes."""
        title = f"{self.household.scene}, seed {self.seed}, {row}: {count} reactions, {which}"
        return Stage(self.household, which, self._folder / row / str(count) / which, title, 10 * self.seed)

    def _memory(self, count: int) -> Path:
        return self._folder / "memories" / str(count)

    def _fill(self, counts: Sequence[int], setup: Setup, observer: TrainingObserver) -> None:
        """Make memories of the first so many notes, each of them once."""
        person = self.household.name
        missing = [count for count in counts if count and person not in MemoryFolder(self._memory(count)).people()]
        notes = self._notes(setup, observer) if missing else []
        if len(notes) < max(missing, default=0):
            raise UserError(f"{self.household.scene}: there are {len(notes)} reactions in all; give --count less")
        for count in missing:
            MemoryFolder(self._memory(count)).save(Memory(person, notes[:count]))

    def _notes(self, setup: Setup, observer: TrainingObserver) -> list[Note]:
        """All notes, each once, in the order of the episodes that they came from."""
        for _ in self._teacher.learn_stages(setup, observer):
            pass
        attempts = map(self._teacher.attempts, range(1, len(ROUNDS) + 1))
        stages = [self._teacher.demonstrations, *attempts]
        return list({note.id: note for stage in stages for note in stage.notes()}.values())


class Reactions(Experiment):
    """Success by scene, row and number of reactions; see housewise.experiments.personalize.paper.Experiment.

    Args:
        households: one for each scene.
        rows: names of ROWS.
        counts: of reactions, in order.
        seeds: everything is played once for each.
        setup: how robots are set.
        out: folder for everything.
    """

    name = "reactions"

    def __init__(
        self,
        households: Sequence[Household],
        rows: Sequence[str],
        counts: Sequence[int],
        seeds: Sequence[int],
        setup: Setup,
        out: Path,
    ) -> None:
        self.households, self.rows, self.counts, self.seeds = households, rows, counts, seeds
        self.setup, self.out = setup, out

    def play(self, observer: TrainingObserver) -> None:
        """See Experiment.play."""
        for seed in self.seeds:
            for household in self.households:
                for row in self.rows:
                    Growing(household, seed, self.out).play(row, self.counts, self.setup, observer)

    def results(self) -> list[Results]:
        """See Experiment.results."""
        adapter = self.setup.adapter is not None
        cells = [
            Cell(
                f"{row}, {count}",
                f"{household.scene} {which}",
                figure(self._episodes_by_key[household.scene, row, which][count]),
                marked=adapter and ROWS[row] == "llm",
                expected=household.size(which) * len(self.seeds),
            )
            for row in self.rows
            for count in self.counts
            for household in self.households
            for which in household.tests
        ]
        return [Results("success rate by number of reactions remembered, %", cells)]

    def extra_results(self) -> dict[str, Any]:
        """See Experiment.extra_results: figures by scene, row, tasks and number of reactions, and all behind them."""
        return {
            "seeds": list(self.seeds),
            "counts": list(self.counts),
            "figures": self._summarise_by_key(in_full),
            "adapter": self.setup.adapter,
            "settings": {row: shareable_run(self.setup.settings(ROWS[row])) for row in self.rows},
            "by_episode": self._summarise_by_key(one_by_one),
        }

    def draw(self, path: Path) -> None:
        """A picture with a panel for each scene and set of tasks: success over the number of reactions, a line a row.

        Raises:
            UserError: when matplotlib is not installed.
        """
        columns = [(household.scene, which) for household in self.households for which in household.tests]
        across = min(len(columns), _ACROSS)
        down = -(-len(columns) // across)
        picture = new_figure(1.0 + 3.0 * across, 2.7 * down)
        panels = picture.subplots(down, across, squeeze=False, sharey=True)
        for axes in panels.flat[len(columns) :]:
            axes.set_axis_off()
        for axes, (scene, which) in zip(panels.flat[: len(columns)], columns, strict=True):
            for row in self.rows:
                found = {count: figure(played) for count, played in self._episodes_by_key[scene, row, which].items()}
                points = [(count, each.mean, each.error or 0.0) for count, each in found.items() if each]
                if points:
                    counts, means, errors = zip(*points, strict=True)
                    axes.errorbar(counts, means, yerr=errors, marker="o", capsize=3, label=row)
            axes.set_title(f"{scene} {which}", fontsize=9)
            axes.set_xlabel("reactions remembered")
            axes.axhline(0, color="black", linewidth=0.6)
            axes.grid(axis="y", alpha=0.3)
        for axes in panels[:, 0]:
            axes.set_ylabel("success, %")
        panels.flat[0].legend(fontsize=7, loc="lower right")
        save_figure(picture, path)

    @cached_property
    def _episodes_by_key(self) -> dict[tuple[str, str, str], dict[int, list[Episode]]]:
        """By scene, row and set of tasks, and then by number of reactions."""
        return {
            (household.scene, row, which): {
                count: collect_episodes(
                    {seed: Growing(household, seed, self.out).tests(row, count, which) for seed in self.seeds}
                )
                for count in self.counts
            }
            for household in self.households
            for row in self.rows
            for which in household.tests
        }

    def _summarise_by_key(self, tell: Any) -> dict[str, Any]:
        return nest_by_keys(
            {
                (*key, str(count)): tell(episodes)
                for key, by_count in self._episodes_by_key.items()
                for count, episodes in by_count.items()
            }
        )


def main(
    overrides: Overrides = None,
    config: ConfigOption = None,
    data: DataOption = None,
    scenes: ScenesOption = None,
    rows: RowsOption = None,
    counts: Annotated[
        list[int] | None, typer.Option("--count", min=0, help="So many reactions; may be given several times.")
    ] = None,
    seeds: SeedsOption = None,
    person: PersonOption = None,
    model: TrainedModelOption = None,
    adapter: AdapterOption = None,
    base_url: TrainingUrlOption = None,
    simulator: SimulatorOption = None,
    gpu: GpuOption = None,
    workers: WorkersOption = None,
    recovered: RecoveredOption = None,
    quick: QuickOption = False,
    show: ShowOption = False,
    out: OutOption = None,
    json_file: JsonOption = None,
) -> None:
    """Measure how a robot gets better with every reaction that it remembers.

    Examples:

      python -m housewise.experiments.personalize.reactions --quick --row store --count 0 --count 5

      python -m housewise.experiments.personalize.reactions --data ~/housekeep --adapter tidy --seed 1 --workers 8
    """
    out = out or default_out("remembering", quick)
    asked = {"model": model, "adapter": adapter, "base_url": base_url}
    setup = Setup.from_options(config, overrides, quick, simulator=simulator, gpu=gpu, workers=workers, **asked)
    found = households(scenes, data, recovered, person or "majority", quick, out)
    usual = COUNTS[:2] if quick else COUNTS
    chosen = chosen_rows(rows, list(ROWS))
    experiment = Reactions(found, chosen, sorted(set(counts or usual)), seeds or [1], setup, out)
    console = Console()
    carry_out(experiment, out, show, console, {"quick": quick}, json_file=json_file)
    picture = out / "reactions_curve.png"
    experiment.draw(picture)
    console.print(f"picture: {picture}", soft_wrap=True)


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
