"""A memory brought along: filled in one scene, put to the test in another, with no training.

    python -m housewise.experiments.personalize.carried --data HOUSEKEEP --adapter tidy --seed 1 --seed 2 \\
        [--recovered FILE] [--scene Merom_1_int ...] [--row store ...] [--other] [--quick] [--out runs/remembering] \\
        [--json FILE]

Cross-scene transfer (Table 2 of arXiv 2404.14285), for notes alone. Every row plays another scene's tests with its own
memory of the first, as it is after the demonstrations and after each round of attempts; what of these is missing in the
folder that experiments.personalize.remembering shares is played. The model with an empty memory was taught nowhere:
what it does in the other scene is what the rest is compared with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from housewise.core.console import Console
from housewise.core.errors import UserError
from housewise.experiments.personalize.households import (
    TEST,
    TRAIN,
    Episode,
    Household,
    Setup,
    Stage,
    collect_episodes,
    figure,
    in_full,
    one_by_one,
    starts_of,
    success_gain,
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
from housewise.experiments.personalize.robots import EMPTY, FULL, NOTHING, ROWS, StudyRobot, papers
from housewise.experiments.personalize.study import GENERATED
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
from housewise.worlds.house.spoken_names import kind_from_name

PAIRS = (
    ("Merom_1_int", "Pomaria_1_int"),
    ("Rs_int", "Pomaria_2_int"),
    ("Merom_1_int", "Pomaria_2_int"),
    ("Pomaria_2_int", "Merom_1_int"),
    (GENERATED, GENERATED),
)
"""Where memories come from and where they go; the first two are the paper's. A generated test is a house of its own."""

CARRIED = ("store", "nearest", FULL, EMPTY)
"""Rows of remembering."""

ELSEWHERE, OWN = "taught nowhere", "taught there"
"""What a memory that was brought along is compared with."""

REACHED = ("out of place", "place named", "named, put right", "not named, put right")
"""What is counted of the things in tests, of which a memory that was brought along may name where they belong."""

Key = tuple[str, str, str, str]
"""A pair's name, a row, a stage and a set of tasks."""


@dataclass(frozen=True)
class HouseholdPair:
    """Two households of one person.

    Attributes:
        source: where the memory is filled.
        target: where it is put to the test.
        other: whether the twenty other tasks are played as well, where the target has them.
    """

    source: Household
    target: Household
    other: bool = False

    @property
    def name(self) -> str:
        """As published figures have it."""
        return f"{self.source.scene} → {self.target.scene}"

    @property
    def tests(self) -> tuple[str, ...]:
        """The sets of tasks that are played."""
        return tuple(which for which in self.target.tests if which == TEST or self.other)


class Carried(Experiment):
    """Success by pair of scenes, row and stage; see housewise.experiments.personalize.paper.Experiment.

    Args:
        pairs: of households.
        rows: of CARRIED.
        seeds: everything is played once for each.
        setup: how robots are set.
        out: folder that all experiments with notes share.
    """

    name = "carried"

    def __init__(
        self, pairs: Sequence[HouseholdPair], rows: Sequence[str], seeds: Sequence[int], setup: Setup, out: Path
    ) -> None:
        self.pairs, self.rows, self.seeds, self.setup, self.out = pairs, rows, seeds, setup, out

    def play(self, observer: TrainingObserver) -> None:
        """See Experiment.play: seed after seed, so that whatever is there is of all rows and pairs."""
        for seed in self.seeds:
            for pair in self.pairs:
                for row in self.rows:
                    settings = self.setup.settings(ROWS[row].planner)
                    for stage, memory in StudyRobot(row, pair.source, seed, self.out).learn_stages(
                        self.setup, observer
                    ):
                        for which in pair.tests:
                            tests = self.tests(pair, row, stage, which, seed)
                            tests.measure(settings, memory, observer, pair.source.name)

    def tests(self, pair: HouseholdPair, row: str, stage: str, which: str, seed: int) -> Stage:
        """Tests of the target with the memory that a row had of the source after a stage."""
        there = StudyRobot(row, pair.target, seed, self.out).tests(stage, which)
        if not ROWS[row].learns:
            return there
        came = self.out / pair.target.scene / f"seed-{seed}" / "carried" / pair.source.scene
        title = f"{pair.name}, seed {seed}, {row}, {stage}: {which}"
        return Stage(pair.target, which, came / row / stage / which, title, there.series)

    def results(self) -> list[Results]:
        """See Experiment.results; what remembering has of the targets themselves stands beside it."""
        cells = [
            Cell(
                self._stage_label(row, stage),
                f"{pair.name} {which}",
                figure(self._episodes_by_key[pair.name, row, stage, which]),
                papers("transfer", pair.name, stage, which, pair.target.person),
                ROWS[row].is_marked(self.setup),
                pair.target.size(which) * len(self.seeds),
            )
            for pair, row, stage, which in self._keys
        ]
        told = [f"{row}: told {', '.join(words) or 'nothing'}" for row, words in self._information_by_row().items()]
        tables = [
            Results("success rate with a memory of one scene in another, %", cells, [*told, *self._comparison_lines()])
        ]
        own = [
            Cell(
                self._stage_label(row, stage),
                f"{target.scene} {which}",
                found,
                papers("success_rate", target.scene, stage, which, target.person),
                ROWS[row].is_marked(self.setup),
            )
            for target, row, stage, which in dict.fromkeys((key[0].target, *key[1:]) for key in self._keys)
            if ROWS[row].learns and (found := figure(self._own[target.scene, row, stage, which]))
        ]
        return [*tables, *([Results("for comparison: with a memory of the scene itself, %", own)] if own else [])]

    def extra_results(self) -> dict[str, Any]:
        """See Experiment.extra_results: figures by pair, row, stage and set of tasks, and all behind them."""
        return {
            "seeds": list(self.seeds),
            "pairs": {pair.name: {"source": pair.source.scene, "target": pair.target.scene} for pair in self.pairs},
            "told": self._information_by_row(),
            "figures": self._summarise_by_key(lambda *key: in_full(self._episodes_by_key[self._key(*key)])),
            "gains": self._summarise_by_key(self._gains),
            "notes": self._summarise_by_key(self._notes),
            "reach": self._summarise_by_key(self._reach),
            "adapter": self.setup.adapter,
            "settings": {row: self._settings(row) for row in self.rows},
            "starts": self._starts(),
            "by_episode": self._summarise_by_key(lambda *key: one_by_one(self._episodes_by_key[self._key(*key)])),
        }

    def _settings(self, row: str) -> dict[str, Any]:
        """As its first test was played, which another command may have done; before that as it is set now."""
        first = self.tests(self.pairs[0], row, ROWS[row].stages[0], TEST, self.seeds[0]).settings()
        return first or ROWS[row].settings(self.setup)

    @property
    def _keys(self) -> Iterator[tuple[HouseholdPair, str, str, str]]:
        """Pair, row, stage and set of tasks, in the order of tables."""
        for row in self.rows:
            for stage in ROWS[row].stages:
                for pair in self.pairs:
                    for which in pair.tests:
                        yield pair, row, stage, which

    @staticmethod
    def _key(pair: HouseholdPair, row: str, stage: str, which: str) -> Key:
        return pair.name, row, stage, which

    @staticmethod
    def _stage_label(row: str, stage: str) -> str:
        return f"{row}, {stage}" if ROWS[row].learns else row

    @cached_property
    def _episodes_by_key(self) -> dict[Key, list[Episode]]:
        """What has come of everything."""
        return {
            self._key(pair, row, stage, which): collect_episodes(
                {seed: self.tests(pair, row, stage, which, seed) for seed in self.seeds}
            )
            for pair, row, stage, which in self._keys
        }

    @cached_property
    def _own(self) -> dict[Key, list[Episode]]:
        """The same of the targets with memories of their own, and of who was taught nowhere."""
        keys = [*self._keys, *((pair, EMPTY, NOTHING, which) for pair in self.pairs for which in pair.tests)]
        return {
            (pair.target.scene, row, stage, which): collect_episodes(
                {seed: StudyRobot(row, pair.target, seed, self.out).tests(stage, which) for seed in self.seeds}
            )
            for pair, row, stage, which in keys
        }

    def _information_by_row(self) -> dict[str, list[str]]:
        return {row: ROWS[row].information(self.setup) for row in self.rows}

    def _summarise_by_key(self, tell: Any) -> dict[str, Any]:
        return nest_by_keys({(pair.name, *key): tell(pair, *key) for pair, *key in self._keys})

    def _success_gains(self, pair: HouseholdPair, row: str, stage: str, which: str) -> dict[str, Figure | None]:
        """By how many points it is better, task by task, than who was taught nowhere, and than who was taught there."""
        mine, target = self._episodes_by_key[self._key(pair, row, stage, which)], pair.target.scene
        nowhere, own = self._own[target, EMPTY, NOTHING, which], self._own[target, row, stage, which]
        return {ELSEWHERE: success_gain(mine, nowhere), OWN: success_gain(mine, own)} if ROWS[row].learns else {}

    def _gains(self, pair: HouseholdPair, row: str, stage: str, which: str) -> dict[str, Any]:
        found = self._success_gains(pair, row, stage, which)
        return {than: vars(gain) if gain else None for than, gain in found.items()}

    def _comparison_lines(self) -> list[str]:
        return [
            f"{pair.name} {which}, {stage}: {row} - {than}: {gain} points, task by task"
            for pair, row, stage, which in self._keys
            for than, gain in self._success_gains(pair, row, stage, which).items()
            if gain
        ]

    def _notes(self, pair: HouseholdPair, row: str, stage: str, which: str) -> dict[str, int | None]:
        """How many notes were brought along, by seed."""
        memories = {seed: self.tests(pair, row, stage, which, seed).memory_at_start() for seed in self.seeds}
        return {str(seed): None if memory is None else len(memory) for seed, memory in memories.items()}

    def _reach(self, pair: HouseholdPair, row: str, stage: str, which: str) -> dict[str, int]:
        """How many things were out of place in all seeds, what the memory names a place of, and what was put right."""
        counts: Counter[str] = Counter()
        for seed in self.seeds:
            played = self.tests(pair, row, stage, which, seed)
            memory = played.memory_at_start()
            notes = memory.notes if memory else ()
            wanted = [note.about for note in notes if isinstance(note.value, float) and note.value > 0]
            known = {kind for about in wanted if about.receptacle for kind in about.things}
            for record in played.records():
                ended, right = record.final.placements, record.initial_state.correct
                for thing in (
                    thing for thing, place in record.initial_state.placements.items() if place not in right[thing]
                ):
                    named, done = kind_from_name(thing) in known, ended[thing] in right[thing]
                    counts.update(dict(zip(REACHED, (1, named, named and done, done and not named), strict=True)))
        return {name: int(counts[name]) for name in REACHED}

    def _starts(self) -> dict[str, Any]:
        """Where things stand at first, by the target's scene and task."""
        found: dict[str, Any] = {}
        for pair, row, stage, which in self._keys:
            records = self.tests(pair, row, stage, which, self.seeds[0]).records()
            found.setdefault(pair.target.scene, {}).update(starts_of(records))
        return found


def pairs_of(found: Sequence[Household], other: bool) -> list[HouseholdPair]:
    """The pairs of PAIRS of which both are there.

    Raises:
        UserError: when there is none.
    """
    by_scene = {household.scene: household for household in found}
    pairs = [HouseholdPair(by_scene[one], by_scene[two], other) for one, two in PAIRS if {one, two} <= by_scene.keys()]
    if not pairs:
        known = ", ".join(f"{one} → {two}" for one, two in PAIRS)
        raise UserError(f"{', '.join(by_scene)}: no memory is carried between these; give --scene for both of {known}")
    return pairs


def main(
    overrides: Overrides = None,
    config: ConfigOption = None,
    data: DataOption = None,
    scenes: ScenesOption = None,
    rows: RowsOption = None,
    other: Annotated[
        bool, typer.Option("--other", help="Also the twenty other tasks, where a scene has them.")
    ] = False,
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
    """Measure what a memory of one scene is worth in another.

    Examples:

      python -m housewise.experiments.personalize.carried --quick --row store --row nearest

      python -m housewise.experiments.personalize.carried --data ~/housekeep --adapter tidy --seed 1 --workers 8
    """
    out = out or default_out("remembering", quick)
    asked = {"model": model, "adapter": adapter, "base_url": base_url}
    setup = Setup.from_options(config, overrides, quick, simulator=simulator, gpu=gpu, workers=workers, **asked)
    chosen = chosen_rows(rows, CARRIED)
    pairs = pairs_of(households(scenes, data, recovered, person or "majority", quick, out), other)
    if not show:
        # Now rather than after hours of playing.
        for pair in pairs:
            pair.source.tasks(TRAIN)
            pair.target.tasks(TEST)
    experiment = Carried(pairs, chosen, seeds or [1], setup, out)
    carry_out(experiment, out, show, Console(), {"quick": quick}, json_file=json_file)


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
