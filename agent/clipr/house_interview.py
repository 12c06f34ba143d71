"""Where things belong in a house: an interview without examples, and rules as notes that planners in houses recall."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log2

from housewise.agent.clipr.house_rules import HouseRule, PlaceKind, find_place_kinds, parse_house_rule, to_place_kinds
from housewise.agent.clipr.language_steps import DialogueTurn, Dimension, Inquiry, MethodUsage
from housewise.agent.clipr.local_steps.answer_meaning import split_wanted_refused
from housewise.agent.clipr.rules import MAX_RULE_CHARACTERS, Rule, make_rule, parse_rule
from housewise.language.embedder import Embedder
from housewise.language.words import normalize_letters
from housewise.people.memory import About, Memory, Note
from housewise.people.memory.note import MAX_THINGS, current_time, next_millisecond
from housewise.worlds.choices.scenario import Situation
from housewise.worlds.house.names import spoken
from housewise.worlds.house.preferences import RECEPTACLE_KINDS, ROOM_KINDS, base_groups, load_person, people

HOUSE_TOPIC = "house"
"""The topic of what is said of houses, in notes that planners do not go by: answers, and rules not understood."""

PlacementStatement = tuple[About, float | None]
"""Some things and a spot, and whether they belong there (above zero) or not."""

_PLACES = " ".join((*RECEPTACLE_KINDS, *ROOM_KINDS))
_INDIFFERENT = re.compile(
    r"(?:\b(?:no (?:real |strong |particular )?preference|whatever(?= *(?:[.!,]|$))|any of (?:them|these)"
    r"|either (?:one )?is fine|up to you|not fussy|not picky|no idea|not sure|anything goes|all the same)\b"
    r"|\bdo(?:n'?t| not) (?:really |much )?(?:mind|care|know)\b|\bdoes(?:n'?t| not) (?:really )?matter\b)"
)
"""Says that one does not mind; any other answer without a place is kept as a rule that is not understood."""
_MOST_OPTIONS = 6
_MOST_NAMED = 6
_TOKEN = re.compile(r"[0-9]+|[^\W\d_]+|\S")
_JOINTS = frozenset({",", ";", ".", "&", "!", "and", "or", "then"})
_MOST_DIGITS = 6


@dataclass(frozen=True)
class ThingGroup:
    """Things that are asked about together.

    Attributes:
        name: as people say it.
        things: kinds of them.
        options: where people usually want them, what most want first.
        bits: how little is known before asking: the entropy of where people want each of the things, added up.
    """

    name: str
    things: tuple[str, ...]
    options: tuple[PlaceKind, ...]
    bits: float

    @property
    def question(self) -> str:
        """Where they belong."""
        few = ", ".join(self.things[:_MOST_NAMED]) + (" and the like" if len(self.things) > _MOST_NAMED else "")
        listed = ", ".join(f"({number}) {spot.phrase}" for number, spot in enumerate(self.options, 1))
        return f"Where should {self.name} be ({few}), and where not? Usual are {listed}."


@lru_cache(maxsize=8)
def thing_groups(excluded_person: str = "") -> tuple[ThingGroup, ...]:
    """The groups of things in houses, those first of which least is known, as the people who come along differ most.

    Args:
        excluded_person: name of one of them who has no say.
    """
    everybody = [load_person(name) for name in people() if name != excluded_person]
    found = []
    for name, group in base_groups().items():
        wanted: Counter[PlaceKind] = Counter(to_place_kinds(group.wanted))
        bits = 0.0
        for thing in group.things:
            homes = [frozenset(to_place_kinds(person.places(thing))) for person in everybody]
            wanted.update(spot for home in homes for spot in sorted(home, key=lambda spot: spot.phrase))
            bits += _entropy(homes)
        options = tuple(spot for spot, _ in wanted.most_common(_MOST_OPTIONS))
        found.append(ThingGroup(spoken(name), tuple(map(spoken, group.things)), options, bits))
    return tuple(sorted(found, key=lambda group: (-group.bits, group.name)))


class HouseInterview:
    """Asks where groups of things belong; see Interviewer. A step counts as the call that a model would take.

    Args:
        embedder: tells what an answer refuses.
        excluded_person: one of the people who come along, as whom nobody is asked; see groups.
    """

    name = "local components"

    def __init__(self, embedder: Embedder, excluded_person: str = "") -> None:
        self.usage = MethodUsage()
        self._embedder = embedder
        self._groups = {group.question: group for group in thing_groups(excluded_person)}

    def inquire(self, examples: Sequence[Situation], dialogue: Sequence[DialogueTurn], left: int) -> Inquiry:
        """The group of which least is known."""
        self.usage.calls += 1
        asked = {said.question for said in dialogue}
        open_ = [group for question, group in self._groups.items() if question not in asked]
        unresolved = tuple(Dimension(each.name, tuple(spot.phrase for spot in each.options)) for each in open_)
        return Inquiry(unresolved, open_[0].question if open_ else None)

    def synthesize(self, examples: Sequence[Situation], dialogue: Sequence[DialogueTurn]) -> tuple[Rule, ...]:
        """A rule for each answer; one that names no place of houses is kept in the person's words."""
        self.usage.calls += 1
        rules = []
        for turn, said in enumerate(dialogue, 1):
            group = self._groups.get(said.question)
            if group is None or not said.answer or self._is_indifferent(said.answer):
                continue
            wanted, unwanted = self._parse_places(group, said.answer)
            if wanted or unwanted:
                liked, disliked = ([spot.phrase for spot in spots] for spots in (wanted, unwanted))
                rules.append(make_rule(group.name, liked, disliked, source=turn))
            else:
                rules.append(Rule(text=f"For {group.name}: {said.answer}"[:MAX_RULE_CHARACTERS], source=turn))
        return tuple(rules)

    def _parse_places(self, group: ThingGroup, answer: str) -> tuple[tuple[PlaceKind, ...], tuple[PlaceKind, ...]]:
        """Where the things are wanted, and where not."""
        if numbers := _parse_numbers(answer):
            named = [number for number in numbers if 1 <= number <= len(group.options)]
            return tuple(dict.fromkeys(group.options[number - 1] for number in named)), ()
        wanted, refused = (
            find_place_kinds(text) or () for text in split_wanted_refused(self._embedder, answer, _PLACES)
        )
        return wanted, refused

    def _is_indifferent(self, answer: str) -> bool:
        return bool(_INDIFFERENT.search(normalize_letters(answer[:MAX_RULE_CHARACTERS])))


def house_rule_notes(person: str, rule: Rule, origins: Iterable[str] = (), time: str | None = None) -> list[Note]:
    """A rule about places as notes that planners in houses recall: the first is the rule, the others follow from it.

    A rule that is not understood is kept in a note of its own, which nobody goes by.

    Args:
        person: whose.
        rule: to keep.
        origins: ids of the answers that it was concluded from.
        time: of the rule; now by default.
    """
    (about, value), *others = placement_statements(parse_house_rule(rule))
    derived = tuple(origins)
    root = Note(
        person=person,
        kind="rule",
        text=rule.text,
        about=about,
        value=value,
        time=time or current_time(),
        derived_from=derived,
    )
    return [root, *implied_notes(root, others)]


def implied_notes(rule: Note, others: Iterable[PlacementStatement], time: str | None = None) -> list[Note]:
    """What else a rule says, in notes that are forgotten with it; of the rule's time by default."""
    return [
        Note(
            person=rule.person,
            kind="rule",
            text=rule.text,
            about=about,
            value=value,
            time=time or rule.time,
            derived_from=(rule.id,),
        )
        for about, value in others
    ]


def placement_statements(rule: HouseRule | None) -> list[PlacementStatement]:
    """What a rule says of some things and one spot at a time; that it is kept alone, where it is not understood."""
    if rule is None:
        return [(About(task=HOUSE_TOPIC), None)]
    some = [rule.things[start : start + MAX_THINGS] for start in range(0, len(rule.things), MAX_THINGS)]
    return [
        (About(things=things, room=spot.room, receptacle=spot.receptacle), value)
        for spots, value in ((rule.wanted, 1.0), (rule.unwanted, -1.0))
        for spot in spots
        for things in some
    ]


def root_rule_notes(memory: Memory) -> list[Note]:
    """The rules of a memory, the oldest first: without notes that only follow from one."""
    rules = {note.id for note in memory.notes if note.kind == "rule"}
    return [note for note in memory.notes if note.id in rules and rules.isdisjoint(note.derived_from)]


def resolve_conflicts(memory: Memory, new: Note) -> tuple[list[Note], list[Note]]:
    """What a new rule makes of older ones about the same things that want them elsewhere.

    Returns:
        Older rules in whose place it comes, and notes that make it an exception from those that say more.
    """
    rule = parse_house_rule(parse_rule(new.text)) if new.text else None
    replaced: list[Note] = []
    unwanted: dict[tuple[PlaceKind, tuple[str, ...]], None] = {}
    if rule is None or not rule.wanted:
        return [], []
    for note in root_rule_notes(memory):
        older = parse_house_rule(parse_rule(note.text)) if note.text and note.id != new.id else None
        both = set(rule.things) & set(older.things) if older else set()
        elsewhere = [spot for spot in older.wanted if spot not in rule.wanted] if older and both else []
        if older and elsewhere and both == set(older.things):
            replaced.append(note)
        elif elsewhere:
            unwanted |= {(spot, tuple(sorted(both))): None for spot in elsewhere}
    exceptions = [said for spot, things in unwanted for said in placement_statements(HouseRule(things, (), (spot,)))]
    return replaced, implied_notes(new, exceptions, next_millisecond(new.time))


def contradicting_notes(memory: Memory) -> defaultdict[str, list[Note]]:
    """For each rule's id the reactions and confirmed goals since it was written that say otherwise than it does."""
    roots = {note.id: note for note in root_rule_notes(memory)}
    by_thing: defaultdict[str, list[tuple[Note, Note]]] = defaultdict(list)
    for note in memory.notes:
        root = roots.get(note.id) or next((roots[id] for id in note.derived_from if id in roots), None)
        if note.kind == "rule" and root is not None and isinstance(note.value, float):
            for thing in note.about.things:
                by_thing[thing].append((root, note))
    found: defaultdict[str, list[Note]] = defaultdict(list)
    for newer in memory.notes:
        if newer.kind in ("reaction", "goal") and isinstance(newer.value, float):
            said = [pair for thing in newer.about.things for pair in by_thing.get(thing, ())]
            against = {
                root.id for root, note in said if newer.sort_key > root.sort_key and _is_contradiction(newer, note)
            }
            for id in against:
                found[id].append(newer)
    return found


def _is_contradiction(newer: Note, rule: Note) -> bool:
    """Whether a reaction or a goal finds something right that a rule finds wrong, or the other way round."""
    place, spot = newer.about, rule.about
    there = spot.receptacle in (None, place.receptacle) and spot.room in (None, place.room)
    right = [isinstance(note.value, float) and note.value > 0 for note in (newer, rule)]
    return there and bool(spot.receptacle or spot.room) and right[0] != right[1]


def _parse_numbers(text: str) -> list[int]:
    """The numbers of an answer that says nothing else, as in "1, 3 and 4"; none of any other answer."""
    words = _TOKEN.findall(text.lower())
    numbers = [word for word in words if word.isdecimal()]
    alone = all(word in _JOINTS for word in words if not word.isdecimal())
    return [int(number[:_MOST_DIGITS]) for number in numbers] if alone else []


def _entropy(homes: Sequence[frozenset[PlaceKind]]) -> float:
    """Of where people want a thing, in bits."""
    shares = [count / len(homes) for count in Counter(homes).values()]
    return -sum(share * log2(share) for share in shares)
