"""How well robots tidy generated houses in which nothing was learned, with an empty memory, and how they end.

    python -m housewise.experiments.personalize.new_houses --adapter tidy [--adapter FOLDER ...] \\
        [--houses 40] [--seed 9700] [--person majority] [--quick] [--out runs/new_houses] [--json FILE] [SETTING ...]

Every adapter plays the same houses once, asked as it is meant to be, and is compared with the first house by house.
Without a language model nothing is moved where nothing is remembered, which is 0 %.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from housewise.core.console import Console
from housewise.core.errors import UserError
from housewise.experiments.personalize.households import (
    TEST,
    Episode,
    Setup,
    Stage,
    figure,
    in_full,
    one_by_one,
    shareable_run,
    starts_of,
    success_gain,
)
from housewise.experiments.personalize.paper import (
    Experiment,
    JsonOption,
    OutOption,
    ShowOption,
    carry_out,
    default_out,
)
from housewise.experiments.quick import QuickOption
from housewise.experiments.results import Cell, Results
from housewise.selftrain.training_folder import TrainingObserver
from housewise.systems.personalize.record import HouseRecord
from housewise.terminal.options import ConfigOption, Overrides, PersonOption, TrainedModelOption, WorkersOption

_SUCCESS = "success, %"


@dataclass(frozen=True)
class GeneratedHouses:
    """Generated houses and who lives there.

    Attributes:
        number: how many.
        seed: of the first.
        name: whose wishes count.
    """

    number: int
    seed: int
    name: str = "majority"

    def tasks(self, which: str) -> dict[str, Any]:
        """See households.Tasked: all sets are the same houses."""
        return {"data": None, "person": self.name, "houses": self.number, "seed": self.seed}


class NewHouses(Experiment):
    """Success by adapter; see housewise.experiments.personalize.paper.Experiment.

    Args:
        houses: to play.
        setups: how the robot of each row is set; the others are compared with the first.
        out: folder for everything.
    """

    name = "new_houses"

    def __init__(self, houses: GeneratedHouses, setups: Mapping[str, Setup], out: Path) -> None:
        self.houses, self.setups, self.out = houses, setups, out

    def play(self, observer: TrainingObserver) -> None:
        """See Experiment.play."""
        for row, setup in self.setups.items():
            self._stage(row).measure(setup.settings("llm"), None, observer)

    def results(self) -> list[Results]:
        """See Experiment.results."""
        cells = [Cell(row, _SUCCESS, figure(self._episodes(row)), expected=self.houses.number) for row in self.setups]
        notes = [f"{row} - {self._first}, house by house: {gain} points" for row, gain in self._gains().items() if gain]
        ends = [f"{row}: {_format_ends(self._count_ends(row))}" for row in self.setups]
        return [Results(f"{self.houses.number} generated houses, nothing learned", cells, [*notes, *ends])]

    def extra_results(self) -> dict[str, Any]:
        """See Experiment.extra_results: figures, ends and final placements by row."""
        return {
            "houses": self.houses.number,
            "seed": self.houses.seed,
            "person": self.houses.name,
            "figures": {row: in_full(self._episodes(row)) for row in self.setups},
            "ended": {row: self._count_ends(row) for row in self.setups},
            "gains": {row: gain and vars(gain) for row, gain in self._gains().items()},
            "adapter": {row: setup.adapter for row, setup in self.setups.items()},
            "settings": {row: shareable_run(setup.settings("llm")) for row, setup in self.setups.items()},
            "starts": starts_of(self._records[self._first]),
            "by_episode": {row: one_by_one(self._episodes(row)) for row in self.setups},
        }

    @property
    def _first(self) -> str:
        return next(iter(self.setups))

    def _stage(self, row: str) -> Stage:
        return Stage(self.houses, TEST, self.out / row, row)

    @cached_property
    def _records(self) -> dict[str, list[HouseRecord]]:
        return {row: self._stage(row).records() for row in self.setups}

    def _episodes(self, row: str) -> list[Episode]:
        return [Episode.from_record(self.houses.seed, record) for record in self._records[row]]

    def _count_ends(self, row: str) -> dict[str, int]:
        return dict(Counter(record.result.end_reason for record in self._records[row]))

    def _gains(self) -> dict[str, Any]:
        first, *others = self.setups
        return {row: success_gain(self._episodes(row), self._episodes(first)) for row in others}


def _format_ends(ended: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {how}" for how, number in sorted(ended.items())) or "not played"


def _rows(adapters: Sequence[str]) -> dict[str, str]:
    """Adapters by what their rows are called.

    Raises:
        UserError: when two have the same name.
    """
    rows: dict[str, str] = {}
    for adapter in adapters:
        path = Path(adapter)
        # Training calls all its folders the same.
        name = "-".join(path.parts[-3:-1]) if path.name == "adapter" else path.name
        if name in rows:
            raise UserError(f"--adapter {adapter}: would be called {name}, as {rows[name]}; rename its folder")
        rows[name] = adapter
    return rows


def main(
    overrides: Overrides = None,
    config: ConfigOption = None,
    adapters: Annotated[
        list[str] | None,
        typer.Option(
            "--adapter", help="Of the model, as for housewise run: tidy by default; others are compared with the first."
        ),
    ] = None,
    number: Annotated[int, typer.Option("--houses", min=1, help="So many houses.")] = 40,
    seed: Annotated[int, typer.Option(min=0, help="Of the first house.")] = 9700,
    person: PersonOption = None,
    model: TrainedModelOption = None,
    workers: WorkersOption = None,
    quick: QuickOption = False,
    show: ShowOption = False,
    out: OutOption = None,
    json_file: JsonOption = None,
) -> None:
    """Measure robots in generated houses in which nothing was learned, with an empty memory.

    Examples:

      python -m housewise.experiments.personalize.new_houses --quick

      python -m housewise.experiments.personalize.new_houses --adapter tidy --adapter runs/mine/imitate/adapter
    """
    out = out or default_out("new_houses", quick)
    setups = {
        row: Setup.from_options(config, overrides, quick, model=model, adapter=adapter, workers=workers)
        for row, adapter in _rows(adapters or ["tidy"]).items()
    }
    houses = GeneratedHouses(1 if quick else number, seed, person or "majority")
    carry_out(NewHouses(houses, setups, out), out, show, Console(), {"quick": quick}, json_file=json_file)


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
