"""Rules from a conversation, in houses that nothing was learned in, for people whom nothing was trained for.

    python -m housewise.experiments.clipr.transfer --adapter tidy [--person gita ...] [--row "store, rules" ...] \\
        [--seed 1 --seed 2] [--workers 8] [--quick] [--out runs/transfer] [--json FILE]

Every person answers ten questions about where things belong, as with ``housewise learn PERSON --topic house``; then
every row tidies the same 25 generated houses, with what it says of the person in its memory. ``full preferences`` is
the same kind of memory with all that the person's file says, ``usual places`` what most people would agree on. Rows of
``store`` and ``nearest`` ask no language model. Where one of the six people is asked, the questions are put together
from the other five.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from housewise.agent.clipr.house_interview import HouseInterview
from housewise.agent.clipr.house_notes import HOUSE_TOPIC, house_rule_notes, root_rule_notes
from housewise.agent.clipr.house_rules import parse_house_rule, to_place_kinds
from housewise.agent.clipr.memory_notes import recall_answers, turn_from_note
from housewise.agent.clipr.recorded_interview import hold_interview
from housewise.agent.clipr.rules import parse_rule
from housewise.core.console import Console
from housewise.core.errors import UserError, suggest_names
from housewise.experiments.clipr.house_runs import (
    Episode,
    Setup,
    Stage,
    collect_episodes,
    differences,
    figure,
    in_full,
    one_by_one,
    shareable_run,
)
from housewise.experiments.clipr.house_tables import (
    AdapterOption,
    Experiment,
    JsonOption,
    OutOption,
    RowsOption,
    SeedsOption,
    ShowOption,
    carry_out,
    chosen_rows,
    default_out,
)
from housewise.experiments.quick import QuickOption
from housewise.experiments.results import Cell, Figure, Results
from housewise.language.embedder import shared_minilm
from housewise.people.house.respondent import HouseRespondent
from housewise.people.memory import Memory, MemoryFolder
from housewise.selftrain.training_folder import TrainingObserver
from housewise.terminal.options import (
    ConfigOption,
    GpuOption,
    Overrides,
    SimulatorOption,
    TrainedModelOption,
    TrainingUrlOption,
    WorkersOption,
)
from housewise.worlds.house.preferences import (
    MajorityPreferences,
    Places,
    bundled_people,
    default_groups,
    held_out_people,
    load_preferences,
)
from housewise.worlds.house.spoken_names import spoken_name

QUESTIONS, HOUSES, SEED = 10, 25, 9600
"""Most questions, how many houses, and the first of them: no other experiment plays or learns in any of these."""
NOTHING, RULES, FULL = "no rules", "rules", "full preferences"
USUAL, BOTH = "usual places", "usual places and rules"
EVERYBODY = "everybody"


@dataclass(frozen=True)
class TransferRow:
    """A robot: its planner, and what it remembers of the person."""

    planner: str
    memory: str


ROWS = {
    f"{name}, {memory}": TransferRow(planner, memory)
    for name, planner, memories in (
        ("model", "llm", (NOTHING, RULES, FULL)),
        ("store", "memory_lookup", (NOTHING, RULES, FULL, USUAL, BOTH)),
        ("nearest", "memory_nearest", (RULES, FULL)),
    )
    for memory in memories
} | {"scripted": TransferRow("scripted", NOTHING)}
COMPARED = ("model", "store", "nearest")
"""Robots with rules and with full preferences."""


@dataclass(frozen=True)
class Visited:
    """A person and the houses that are tidied for them; see house_runs.Tasked."""

    name: str
    houses: int = HOUSES

    def tasks(self, which: str) -> dict[str, Any]:
        """See households.Tasked."""
        return {"data": None, "person": self.name, "houses": self.houses, "seed": SEED}


class Visit:
    """What is known of a person after a conversation, and what comes of it in houses.

    Args:
        person: one of people() or strangers().
        seed: of the ways of speaking, and of all that is drawn in houses.
        few: whether one house is enough.
        folder: for everything.
    """

    def __init__(self, person: str, seed: int, few: bool, folder: Path) -> None:
        self.person, self.seed = person, seed
        self._who, self._visited = load_preferences(person), Visited(person, 1 if few else HOUSES)
        self._folder = folder / person / f"seed-{seed}"

    def play(self, name: str, setup: Setup, observer: TrainingObserver) -> None:
        """Play what is missing of a row."""
        row = ROWS[name]
        self.stage(name).measure(setup.settings(row.planner), self.memory(row.memory), observer)

    def stage(self, name: str) -> Stage:
        """A row's houses."""
        return Stage(
            self._visited, "houses", self._folder / name, f"{self.person}, seed {self.seed}: {name}", self.seed
        )

    def memory(self, what: str) -> Path | None:
        """Folder of a memory, made where it is not there yet; None for an empty one."""
        if what == NOTHING:
            return None
        folder = MemoryFolder(self._folder / "memories" / what)
        if what in (USUAL, BOTH, FULL) and self.person not in folder.people():
            wanted = {name: group.wanted for name, group in default_groups().items()}
            if what == FULL:
                wanted = {name: self._who.places_for(name) for name in self._who.categories}
            folder.save(rules_memory(self.person, wanted))
        if what in (RULES, BOTH):
            self._interview(folder)
        return folder.root

    def described_rules(self) -> dict[str, Any]:
        """What was said, and what was made of it; empty before that."""
        folder = MemoryFolder(self._folder / "memories" / RULES)
        if self.person not in folder.people():
            return {}
        memory = folder.load(self.person)
        rules = [note.text for note in root_rule_notes(memory)]
        return {
            "dialogue": [vars(turn_from_note(note)) for note in recall_answers(memory, HOUSE_TOPIC)],
            "rules": rules,
            "understood": sum(parse_house_rule(parse_rule(rule)) is not None for rule in rules),
            "placements": self._placements(rules),
        }

    def _interview(self, folder: MemoryFolder) -> None:
        """Ten questions; where they were asked already nothing is."""
        interviewer = HouseInterview(shared_minilm(), excluded_person=self.person)
        hold_interview(HouseRespondent(self._who, self.seed), self.person, HOUSE_TOPIC, interviewer, folder, QUESTIONS)

    def _placements(self, texts: Iterable[str]) -> dict[str, int]:
        """How many placements rules want, and how many of these the person does."""
        rules = [rule for rule in (parse_house_rule(parse_rule(text)) for text in texts) if rule]
        said = {(thing, spot) for rule in rules for thing in rule.things for spot in rule.wanted}
        meant = {
            (spoken_name(name), spot)
            for name in self._who.categories
            for spot in to_place_kinds(self._who.places_for(name))
        }
        return {"said": len(said), "right": len(said & meant), "wanted": len(meant)}


def rules_memory(person: str, wanted: Mapping[str, Places]) -> Memory:
    """A memory of where groups of things, or kinds of them, are wanted, as rules."""
    memory = Memory(person)
    for name, places in wanted.items():
        phrases = ", then ".join(spot.phrase for spot in to_place_kinds(places))
        for note in house_rule_notes(person, parse_rule(f"For {spoken_name(name)}: prefer {phrases}.")):
            memory.add(note)
    return memory


def contrariness(person: str) -> float:
    """The share of a person's placements that the majority of the six does not want."""
    who, usual = load_preferences(person), MajorityPreferences([load_preferences(name) for name in bundled_people()])
    wanted = [
        (name, room, kind) for name in who.categories for room, kinds in who.places_for(name).items() for kind in kinds
    ]
    return sum(not usual.wants(*place) for place in wanted) / len(wanted)


class Transfer(Experiment):
    """Success by row and person; see housewise.experiments.clipr.house_tables.Experiment.

    Args:
        persons: names.
        rows: names of ROWS.
        seeds: everything is played once for each.
        setup: how robots are set.
        few: whether one house is enough.
        out: folder for everything.
    """

    name = "transfer"

    def __init__(
        self, persons: Sequence[str], rows: Sequence[str], seeds: Sequence[int], setup: Setup, few: bool, out: Path
    ) -> None:
        self.persons, self.rows, self.seeds, self.setup = persons, rows, seeds, setup
        self._size = (1 if few else HOUSES) * len(seeds)
        self._visits = {who: {seed: Visit(who, seed, few, out) for seed in seeds} for who in persons}

    def play(self, observer: TrainingObserver) -> None:
        """See Experiment.play: rows without a language model first, as they take less long."""
        for row in sorted(self.rows, key=lambda name: ROWS[name].planner == "llm"):
            for visits in self._visits.values():
                for visit in visits.values():
                    visit.play(row, self.setup, observer)

    def results(self) -> list[Results]:
        """See Experiment.results."""
        cells = [cell for row in self.rows for cell in self._cells(row)]
        return [Results("houses after ten questions: success rate, %", cells, self._comparison_lines)]

    def extra_results(self) -> dict[str, Any]:
        """See Experiment.extra_results: figures by row and person, what rules gained, and all behind them."""
        return {
            "seeds": list(self.seeds),
            "questions": QUESTIONS,
            "figures": self._summarise_by_key(in_full),
            "gains": self._gains(RULES, NOTHING),
            "gains_over_usual_places": self._gains(BOTH, USUAL),
            "share_of_full": self._shares,
            "disagrees_with_the_majority": {who: contrariness(who) for who in self.persons},
            "conversations": {
                who: {str(seed): visit.described_rules() for seed, visit in visits.items()}
                for who, visits in self._visits.items()
            },
            "adapter": self.setup.adapter,
            "settings": {row: shareable_run(self.setup.settings(ROWS[row].planner)) for row in self.rows},
            "by_episode": self._summarise_by_key(one_by_one),
        }

    @cached_property
    def _episodes_by_row(self) -> dict[str, dict[str, list[Episode]]]:
        """Episodes by row and person, and of everybody."""
        found: dict[str, dict[str, list[Episode]]] = {}
        for row in self.rows:
            stages = {who: {seed: each.stage(row) for seed, each in self._visits[who].items()} for who in self.persons}
            played = {who: collect_episodes(each) for who, each in stages.items()}
            found[row] = {**played, EVERYBODY: [episode for some in played.values() for episode in some]}
        return found

    def _cells(self, row: str) -> list[Cell]:
        marked = self.setup.has_adapter and ROWS[row].planner == "llm"
        sizes = {**dict.fromkeys(self.persons, self._size), EVERYBODY: self._size * len(self.persons)}
        return [
            Cell(row, who, figure(episodes), marked=marked, expected=sizes[who])
            for who, episodes in self._episodes_by_row[row].items()
        ]

    def _gains(self, what: str, than: str) -> dict[str, dict[str, Any]]:
        """By how many points one memory is better than another, house by house, for each robot and person."""
        found: dict[str, dict[str, Any]] = {}
        for robot, after, before in self._pairs(what, than):
            by_person = {who: differences(after[who], before[who]) for who in self.persons}
            by_person[EVERYBODY] = [pair for pairs in by_person.values() for pair in pairs]
            gains = {who: Figure.from_episodes(pairs) for who, pairs in by_person.items()}
            found[robot] = {who: vars(gain) if gain else None for who, gain in gains.items()}
        return found

    @property
    def _shares(self) -> dict[str, dict[str, float | None]]:
        """What share of the success with full preferences rules reach, for each robot and person."""
        return {
            robot: {who: _share(figure(rules[who]), figure(full[who])) for who in rules}
            for robot, rules, full in self._pairs(RULES, FULL)
        }

    def _pairs(self, one: str, other: str) -> list[tuple[str, dict[str, list[Episode]], dict[str, list[Episode]]]]:
        played = self._episodes_by_row
        names = [(robot, f"{robot}, {one}", f"{robot}, {other}") for robot in COMPARED]
        return [(robot, played[a], played[b]) for robot, a, b in names if a in played and b in played]

    @property
    def _comparison_lines(self) -> list[str]:
        gains = [
            f"{robot}: {what} are worth {Figure(**by_person[EVERYBODY])} points more than {than}, house by house"
            for what, than in ((RULES, NOTHING), (BOTH, USUAL))
            for robot, by_person in self._gains(what, than).items()
            if by_person[EVERYBODY]
        ]
        shares = [
            f"{robot}: rules reach {100 * share:.0f} % of what full preferences do"
            for robot, by_person in self._shares.items()
            if (share := by_person[EVERYBODY]) is not None
        ]
        return [*gains, *shares]

    def _summarise_by_key(self, tell: Any) -> dict[str, Any]:
        return {row: {who: tell(some) for who, some in played.items()} for row, played in self._episodes_by_row.items()}


def _share(part: Figure | None, whole: Figure | None) -> float | None:
    return part.mean / whole.mean if part and whole and whole.mean > 0 else None


def main(
    overrides: Overrides = None,
    config: ConfigOption = None,
    persons: Annotated[
        list[str] | None, typer.Option("--person", help="Whom to ask; farid and the opinionated people by default.")
    ] = None,
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
    """Ask ten questions, and tidy houses by the rules.

    Examples:

      python -m housewise.experiments.clipr.transfer --quick --person gita --row "store, no rules" --row "store, rules"

      python -m housewise.experiments.clipr.transfer --adapter tidy --workers 8 --json transfer.json
    """
    out = out or default_out("transfer", quick)
    asked = {"model": model, "adapter": adapter, "base_url": base_url}
    setup = Setup.from_options(config, overrides, quick, simulator=simulator, gpu=gpu, workers=workers, **asked)
    chosen = list(dict.fromkeys(persons or ["farid", *held_out_people()]))
    for who in chosen:
        if who not in (known := (*bundled_people(), *held_out_people())):
            raise UserError(f"--person {who}: no such person; {suggest_names(who, known)}")
    experiment = Transfer(chosen, chosen_rows(rows, list(ROWS)), seeds or [1], setup, quick, out)
    carry_out(experiment, out, show, Console(), {"quick": quick}, json_file=json_file)


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
