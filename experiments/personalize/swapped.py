"""A person's memory swapped in, with no training: their own, the majority's, and somebody else's.

    python -m housewise.experiments.personalize.swapped --data HOUSEKEEP --adapter tidy [--scene Pomaria_2_int ...] \\
        [--annotators annotator-1,annotator-7] [--people dmitri,farid] [--row store ...] [--quick] \\
        [--out runs/swapped] [--json FILE]

Every person shows ten demonstrations, and so does the majority; then every row tidies each person's tests with the
person's own memory, with the majority's and with the next person's. With data these are Housekeep's annotators, in
generated houses two of our own people. At last twenty notes are edited by hand: the next episodes have to follow them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from housewise.core.console import Console
from housewise.core.errors import UserError, suggest_names
from housewise.experiments.personalize.edited import AFTER, Edited
from housewise.experiments.personalize.households import (
    TEST,
    Episode,
    Household,
    Setup,
    Stage,
    collect_episodes,
    differences,
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
    RowsOption,
    ScenesOption,
    ShowOption,
    carry_out,
    chosen_rows,
    default_out,
)
from housewise.experiments.personalize.reactions import ROWS
from housewise.experiments.personalize.remembering import SeedsOption
from housewise.experiments.personalize.robots import StudyRobot
from housewise.experiments.personalize.study import GENERATED, SCENES
from housewise.experiments.quick import QuickOption
from housewise.experiments.results import Cell, Figure, Results, nest_by_keys
from housewise.selftrain.training_folder import TrainingObserver
from housewise.terminal.options import (
    ConfigOption,
    DataOption,
    GpuOption,
    Overrides,
    SimulatorOption,
    TrainedModelOption,
    TrainingUrlOption,
    WorkersOption,
)
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.tasks import resolve_preferences

MAJORITY, EVERYBODY = "majority", "everybody"
OWN, COMMON, ANOTHER = "their own", "the majority's", "another's"
PEOPLE = ("dmitri", "farid")
EDITS = 20
_QUICK_EDITS, _QUICK_STEPS = 2, 120

Key = tuple[str, str, str]
"""A row, a person, and whose memory it goes by."""


class Neighbours:
    """People of one scene, whose memories are swapped.

    Args:
        scene: of the data, or generated.
        people: two or more.
        which: set of tasks that they are measured on.
        seeds: everything is played once for each.
        data: the Housekeep folder.
        few: whether only the first task of each set is played.
        folder: for everything.

    Raises:
        UserError: when there are fewer than two different people.
    """

    def __init__(
        self,
        scene: str,
        people: Sequence[str],
        which: str,
        seeds: Sequence[int],
        data: Path | None,
        few: bool,
        folder: Path,
    ) -> None:
        if len(set(people)) < 2:
            raise UserError(
                f"{scene}: memories are swapped between two people or more, not {', '.join(people) or 'none'}"
            )
        self.scene, self.which, self.seeds = scene, which, seeds
        self.people = list(dict.fromkeys(people))
        self._folder = folder
        self._households = {who: Household(scene, data, who, few) for who in (*self.people, MAJORITY)}
        tests = self._households[MAJORITY].tests
        if which not in tests:
            raise UserError(f"{scene} has no tests {which!r}; {suggest_names(which, tests)}")

    @property
    def size(self) -> int:
        """Episodes of one row with one memory for one person."""
        return self._households[MAJORITY].size(self.which) * len(self.seeds)

    def memory_of(self, person: str, whose: str) -> str:
        """The person whose memory is meant."""
        following = self.people[(self.people.index(person) + 1) % len(self.people)]
        return {OWN: person, COMMON: MAJORITY, ANOTHER: following}[whose]

    def play(self, seed: int, rows: Sequence[str], setup: Setup, observer: TrainingObserver) -> None:
        """Play what is missing."""
        shown = {
            who: StudyRobot("store", household, seed, self._folder / household.name).demonstrate(setup, observer)
            for who, household in self._households.items()
        }
        for row in rows:
            for person in self.people:
                for whose in (OWN, COMMON, ANOTHER):
                    of = self.memory_of(person, whose)
                    settings, name = setup.settings(ROWS[row]), self._households[of].name
                    self._stage(row, person, whose, seed).measure(settings, shown[of], observer, name)

    def episodes(self, row: str, person: str, whose: str) -> list[Episode]:
        """What has come of it, with all seeds."""
        return collect_episodes({seed: self._stage(row, person, whose, seed) for seed in self.seeds})

    def _stage(self, row: str, person: str, whose: str, seed: int) -> Stage:
        of = self._households[self.memory_of(person, whose)].name
        seeded = self._folder / self._households[person].name / self.scene / f"seed-{seed}"
        folder = seeded / "swapped" / row / of / self.which
        title = f"{self.scene}, seed {seed}, {row}: for {person} with the memory of {of}"
        return Stage(self._households[person], self.which, folder, title, 10 * seed)


class Swapped(Experiment):
    """Success by person and whose memory; see housewise.experiments.personalize.paper.Experiment.

    Args:
        neighbours: for each scene.
        rows: names of reactions.ROWS.
        edited: notes that are edited by hand; None leaves them out.
        seeds: everything is played once for each.
        setup: how robots are set.
    """

    name = "swapped"

    def __init__(
        self,
        neighbours: Sequence[Neighbours],
        rows: Sequence[str],
        edited: Edited | None,
        seeds: Sequence[int],
        setup: Setup,
    ) -> None:
        self.neighbours, self.rows, self.edited, self.seeds, self.setup = neighbours, rows, edited, seeds, setup

    def play(self, observer: TrainingObserver) -> None:
        """See Experiment.play."""
        for row in self.rows if self.edited else ():
            assert self.edited is not None
            self.edited.play(row, ROWS[row], self.setup, observer)
        for seed in self.seeds:
            for each in self.neighbours:
                each.play(seed, self.rows, self.setup, observer)

    def results(self) -> list[Results]:
        """See Experiment.results: a table for each scene, after which comes how many edited notes were followed."""
        return [
            Results(
                f"{each.scene}: success rate with whose memory, %",
                [
                    cell
                    for row in self.rows
                    for whose in (OWN, COMMON, ANOTHER)
                    for cell in self._cells(each, row, whose)
                ],
                [*self._comparison_lines(each), *(self._edited_note_lines if each is self.neighbours[-1] else [])],
            )
            for each in self.neighbours
        ]

    def extra_results(self) -> dict[str, Any]:
        """See Experiment.extra_results: figures by scene, row, person and memory, and all behind them."""
        return {
            "seeds": list(self.seeds),
            "memories": {
                each.scene: {
                    who: {whose: each.memory_of(who, whose) for whose in (OWN, ANOTHER)} for who in each.people
                }
                for each in self.neighbours
            },
            "figures": self._summarise_by_key(in_full),
            "gains": {each.scene: {row: self._gains(each, row) for row in self.rows} for each in self.neighbours},
            "edited": {row: self.edited.count_followed_notes(row) for row in self.rows} if self.edited else {},
            "adapter": self.setup.adapter,
            "settings": {row: shareable_run(self.setup.settings(ROWS[row])) for row in self.rows},
            "by_episode": self._summarise_by_key(one_by_one),
        }

    @cached_property
    def _episodes_by_key(self) -> dict[str, dict[Key, list[Episode]]]:
        """Episodes by scene and key."""
        return {
            each.scene: {
                (row, person, whose): each.episodes(row, person, whose)
                for row in self.rows
                for person in each.people
                for whose in (OWN, COMMON, ANOTHER)
            }
            for each in self.neighbours
        }

    def _cells(self, each: Neighbours, row: str, whose: str) -> list[Cell]:
        """A line of the table: for every person, and for all of them together."""
        played = {person: self._episodes_by_key[each.scene][row, person, whose] for person in each.people}
        columns = {**played, EVERYBODY: [episode for episodes in played.values() for episode in episodes]}
        marked = self.setup.adapter is not None and ROWS[row] == "llm"
        sizes = {**dict.fromkeys(each.people, each.size), EVERYBODY: each.size * len(each.people)}
        return [
            Cell(f"{row}, {whose}", column, figure(episodes), marked=marked, expected=sizes[column])
            for column, episodes in columns.items()
        ]

    def _gains(self, each: Neighbours, row: str) -> dict[str, Any]:
        """By how much each person's own memory is better than the others, points, task by task."""
        found: dict[str, Any] = {}
        for whose in (COMMON, ANOTHER):
            by_person = {
                person: differences(
                    self._episodes_by_key[each.scene][row, person, OWN],
                    self._episodes_by_key[each.scene][row, person, whose],
                )
                for person in each.people
            }
            by_person[EVERYBODY] = [pair for pairs in by_person.values() for pair in pairs]
            gains = {person: Figure.from_episodes(pairs) for person, pairs in by_person.items()}
            found[f"{OWN} - {whose}"] = {person: vars(gain) if gain else None for person, gain in gains.items()}
        return found

    def _comparison_lines(self, each: Neighbours) -> list[str]:
        told = []
        for row in self.rows:
            for which, gains in self._gains(each, row).items():
                if gains[EVERYBODY]:
                    told.append(f"{row}, {which}: {Figure(**gains[EVERYBODY])} points for everybody, task by task")
        return told

    @property
    def _edited_note_lines(self) -> list[str]:
        """How many edited notes were followed."""
        found = {row: self.edited.count_followed_notes(row) for row in self.rows} if self.edited else {}
        return [
            f"{row}: {told['followed'][AFTER]} of {told['notes']} notes were followed after they were edited by hand"
            for row, told in found.items()
        ]

    def _summarise_by_key(self, tell: Any) -> dict[str, Any]:
        return nest_by_keys(
            {
                (scene, *key): tell(episodes)
                for scene, played in self._episodes_by_key.items()
                for key, episodes in played.items()
            }
        )


def _people(scene: str, data: Path | None, named: Mapping[bool, str | None]) -> list[str]:
    """Who lives in a scene.

    Args:
        scene: of the data, or generated.
        data: the Housekeep folder.
        named: the people on the command line, of generated houses under True.

    Raises:
        UserError: when one is nobody, or there are no data.
    """
    chosen = named[scene == GENERATED]
    if scene == GENERATED:
        people = chosen.split(",") if chosen else list(PEOPLE)
        for who in people:
            resolve_preferences(who)
        return people
    if data is None:
        raise UserError(f"{scene}: name the Housekeep folder with --data or HOUSEKEEP_DATA, or --scene {GENERATED}")
    found = HousekeepData(data)
    people = chosen.split(",") if chosen else found.annotators()
    for who in people:
        found.preferences(who)
    return people


def main(
    overrides: Overrides = None,
    config: ConfigOption = None,
    data: DataOption = None,
    scenes: ScenesOption = None,
    people: Annotated[str | None, typer.Option(help="Our people in generated houses, as in dmitri,farid.")] = None,
    annotators: Annotated[str | None, typer.Option(help="Annotators, as in annotator-1,annotator-7; else all.")] = None,
    which: Annotated[str, typer.Option("--tasks", help="Set of tasks to measure on: test or other.")] = TEST,
    edits: Annotated[int, typer.Option(min=0, help="Notes to edit by hand; 0 leaves them out.")] = EDITS,
    rows: RowsOption = None,
    seeds: SeedsOption = None,
    model: TrainedModelOption = None,
    adapter: AdapterOption = None,
    base_url: TrainingUrlOption = None,
    simulator: SimulatorOption = None,
    gpu: GpuOption = None,
    workers: WorkersOption = None,
    quick: QuickOption = False,
    show: ShowOption = False,
    out: OutOption = None,
    json_file: JsonOption = None,
) -> None:
    """Swap people's memories, and edit notes by hand.

    Examples:

      python -m housewise.experiments.personalize.swapped --quick --row store --edits 2

      python -m housewise.experiments.personalize.swapped --data ~/housekeep --adapter tidy --workers 8
    """
    out = out or default_out("swapped", quick)
    asked = {"model": model, "adapter": adapter, "base_url": base_url}
    # Notes of several people make long prompts, and there are many pairs of them.
    cut = [f"max_steps={_QUICK_STEPS}"] if quick else []
    setup = Setup.from_options(
        config, [*cut, *(overrides or [])], quick, simulator=simulator, gpu=gpu, workers=workers, **asked
    )
    chosen = scenes or [*(SCENES if data and not quick else ()), GENERATED]
    named = {True: people, False: annotators}
    neighbours = [
        Neighbours(scene, _people(scene, data, named), which, seeds or [1], data, quick, out / "people")
        for scene in chosen
    ]
    edits = min(edits, _QUICK_EDITS) if quick else edits
    edited = Edited(edits, out / "edited") if edits else None
    experiment = Swapped(neighbours, chosen_rows(rows, list(ROWS)), edited, seeds or [1], setup)
    carry_out(experiment, out, show, Console(), {"quick": quick}, json_file=json_file)


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
