"""Rules about places in a house as notes of a person's memory, in the form that planners in houses recall."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from housewise.agent.clipr.house_rules import HouseRule, parse_house_rule
from housewise.agent.clipr.rules import Rule, parse_rule
from housewise.people.memory import About, Memory, Note
from housewise.people.memory.note import MAX_THINGS, current_time, next_millisecond
from housewise.worlds.house.place_kinds import PlaceKind

HOUSE_TOPIC = "house"
"""Topic of notes about the house that planners do not use: answers, and rules that are not understood."""

PlacementStatement = tuple[About, float | str | None]
"""Some things with a place, and a value: positive if they belong there, negative if not, None if not understood."""


def house_rule_notes(person: str, rule: Rule, origins: Iterable[str] = (), time: str | None = None) -> list[Note]:
    """Create the notes of a rule. The first note is the rule; the others state its consequences and derive from it.

    A rule that is not understood gets a note that planners do not use.

    Args:
        person: Person of the memory.
        rule: Rule to store.
        origins: Ids of the answers that the rule was concluded from.
        time: Time of the rule. Defaults to now.
    """
    first, *others = placement_statements(parse_house_rule(rule))
    [root] = _statement_notes(person, rule.text, [first], time or current_time(), tuple(origins))
    return [root, *implied_notes(root, others)]


def implied_notes(rule: Note, others: Iterable[PlacementStatement], time: str | None = None) -> list[Note]:
    """Create notes of a rule's further statements. They are forgotten together with the rule.

    Args:
        rule: Note of the rule.
        others: Statements that follow from the rule.
        time: Time of the notes. Defaults to the rule's time.
    """
    return _statement_notes(rule.person, rule.text, others, time or rule.time, (rule.id,))


def _statement_notes(
    person: str, text: str, statements: Iterable[PlacementStatement], time: str, origins: tuple[str, ...]
) -> list[Note]:
    return [
        Note(person=person, kind="rule", text=text, about=about, value=value, time=time, derived_from=origins)
        for about, value in statements
    ]


def placement_statements(rule: HouseRule | None) -> list[PlacementStatement]:
    """Split a rule into statements about some things and one place each.

    A rule that is not understood (None) gives a single statement with no value.
    """
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
    """Return the rule notes of a memory, oldest first, without notes that derive from another rule."""
    rules = {note.id for note in memory.notes if note.kind == "rule"}
    return [note for note in memory.notes if note.id in rules and rules.isdisjoint(note.derived_from)]


def resolve_conflicts(memory: Memory, new: Note, newer: Collection[Note] = ()) -> tuple[list[Note], list[Note]]:
    """Find older rules that want the same things in other places than a new rule does.

    Args:
        memory: The memory with all rules.
        new: Note of the new rule.
        newer: Notes of rules that are newer still, which it does not replace.

    Returns:
        The older rules that the new one replaces, and notes that exclude the new rule's things from more general old
        rules.
    """
    rule = parse_house_rule(parse_rule(new.text)) if new.text else None
    replaced: list[Note] = []
    unwanted: dict[tuple[PlaceKind, tuple[str, ...]], None] = {}
    if rule is None or not rule.wanted:
        return [], []
    newer_ids = {note.id for note in newer}
    for note in root_rule_notes(memory):
        if note.id in newer_ids:
            continue
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
    """Return, for each rule's id, the later reactions and confirmed goals that contradict the rule."""
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
    """Return whether a reaction or goal approves what a rule disapproves, or the other way round."""
    place, spot = newer.about, rule.about
    there = spot.receptacle in (None, place.receptacle) and spot.room in (None, place.room)
    right = [isinstance(note.value, float) and note.value > 0 for note in (newer, rule)]
    return there and bool(spot.receptacle or spot.room) and right[0] != right[1]
