"""Edit the rules of a memory: list them, correct, add and forget them by id, and resolve contradictions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from housewise.agent.clipr.house_notes import (
    HOUSE_TOPIC,
    PlacementStatement,
    contradicting_notes,
    implied_notes,
    placement_statements,
    resolve_conflicts,
    root_rule_notes,
)
from housewise.agent.clipr.house_place_words import PlaceVocabulary
from housewise.agent.clipr.house_rules import parse_house_rule
from housewise.agent.clipr.memory_notes import find_overruled, rule_notes, source_answers
from housewise.agent.clipr.rules import MAX_RULE_CHARACTERS, Rule, make_rule, parse_rule
from housewise.core.errors import UserError
from housewise.core.formatting import plural
from housewise.core.printable_text import excerpt
from housewise.language.words import one_line
from housewise.people.memory import Memory, Note
from housewise.people.memory.memory import MIN_ID_CHARACTERS
from housewise.people.memory.note import later_time, parse_note

_MIN_SHOWN_ID = 6
"""Minimum number of characters of an id that are shown."""
_NUMBERED_LINE = re.compile(r"^\s*(\d{1,6})\s*[.)]\s*(.*)$")


@dataclass(frozen=True)
class ListedRule:
    """A rule in the list that people see.

    Attributes:
        number: Place in the list, from 1.
        id: The beginning of the note's id that identifies the rule.
        note: The note that stores the rule.
        topic: The task that the rule is about, or ``house``.
        remarks: What to know about it: not understood, contradicted by a newer rule, questioned by other notes.
    """

    number: int
    id: str
    note: Note
    topic: str
    remarks: tuple[str, ...]


@dataclass
class Corrections:
    """Corrections of a list of rules.

    Attributes:
        changed: New text by id of the note.
        forgotten: Ids of notes.
        added: Texts of new rules.
    """

    changed: dict[str, str] = field(default_factory=dict)
    forgotten: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)


def rule_topic(note: Note) -> str:
    """Return the topic of a rule: the task that its note names, else ``house``."""
    return note.about.task or HOUSE_TOPIC


def list_rules(memory: Memory, topic: str | None = None) -> list[ListedRule]:
    """List the rules of a memory with remarks on each, the oldest first.

    Args:
        memory: Memory of a person.
        topic: Topic of the listed rules, or None for all.
    """
    notes = root_rule_notes(memory)
    ids, newer, against = short_rule_ids(memory), _find_newer(notes), contradicting_notes(memory)
    return [
        ListedRule(number, ids[note.id], note, rule_topic(note), tuple(remarks))
        for number, note in enumerate(notes, 1)
        if topic in (None, rule_topic(note))
        for remarks in [
            _describe_doubts(
                note, ids.get(newer.get(note.id, "")), len(against[note.id]), _is_stored_otherwise(memory, note)
            )
        ]
    ]


def find_rule(memory: Memory, id: str) -> Note:
    """Return the note of a rule. Places in the list identify no rule, because they change.

    Args:
        memory: Memory of a person.
        id: The note's id or original id, or the beginning of one.

    Raises:
        UserError: The memory has no such rule.
    """
    notes = root_rule_notes(memory)
    known = {each for note in notes for each in (note.id, note.original_id)}
    if len(id) < MIN_ID_CHARACTERS or not any(each.startswith(id) for each in known):
        raise UserError(
            f"{memory.person} has no rule {excerpt(id)}; `housewise rules show {memory.person}` lists {len(notes)}"
        )
    return memory[id]


def forget_rules(memory: Memory, ids: Iterable[str]) -> list[Note]:
    """Forget all of some rules, or none if one of them does not exist; see find_rule."""
    notes = list(dict.fromkeys(find_rule(memory, id) for id in ids))
    for note in notes:
        memory.forget(note.id)
    return notes


def apply_corrections(memory: Memory, corrections: Corrections, topic: str) -> list[str]:
    """Apply corrections to a memory.

    Args:
        memory: Memory of a person, which is changed.
        corrections: Corrections to apply.
        topic: Topic of new rules that do not mention things and places in a house.

    Returns:
        One sentence for each older rule that was forgotten because a new one contradicts it.

    Raises:
        UserError: A rule is gone, or its text is too long. The memory must not be saved then.
    """
    new: list[Note] = []
    for id, text in corrections.changed.items():
        text = validate_rule_text(text)
        if rule_topic(memory[id]) == HOUSE_TOPIC:
            text = replace_everyday_words(text)
            (about, value), *others = placement_statements(parse_house_rule(parse_rule(text)))
            new.append(memory.edit(id, text=text, about=about, value=value))
            for note in implied_notes(new[-1], others):
                memory.add(note)
        else:
            new.append(memory.edit(id, text=text))
    for id in corrections.forgotten:
        memory.forget(id)
    for text in corrections.added:
        new += [memory.add(note) for note in _new_rule_notes(memory, validate_rule_text(text), topic)]
    return replace_contradicted(memory, new)


def replace_contradicted(memory: Memory, new: Sequence[Note]) -> list[str]:
    """Forget rules about things in houses that new rules contradict, because a robot follows all rules it has.

    Args:
        memory: Memory of a person, which is changed.
        new: Notes of the new rules, oldest first. Of those that contradict each other the last one holds.

    Returns:
        One sentence for each forgotten rule.
    """
    sentences = []
    roots = {note.id for note in root_rule_notes(memory)}
    rules = [note for note in new if note.id in roots]
    for number, note in enumerate(rules, 1):
        replaced, exceptions = resolve_conflicts(memory, note, newer=rules[number:])
        for exception in exceptions:
            memory.add(exception)
        for older in replaced:
            memory.forget(older.id)
            sentences.append(f"forgotten, as a newer rule says otherwise: {older.text}")
    return sentences


def restore_rules(memory: Memory, notes: Sequence[Note]) -> None:
    """Add rules again that were forgotten for a rule that was taken back. Each keeps its original id."""
    for note in root_rule_notes(Memory(memory.person, notes)):
        new, *others = rule_notes(note.person, rule_topic(note), [parse_rule(note.text)])
        root = memory.add(parse_note({**new.fields(), "version_of": note.original_id}, "the rule"))
        for implied in implied_notes(root, [(other.about, other.value) for other in others]):
            memory.add(implied)


def notes_from_rules(person: str, topic: str, rules: Sequence[Rule], answers: Sequence[Note]) -> list[Note]:
    """Return notes that store rules, each derived from the answers that the rule was written from."""
    return rule_notes(person, topic, rules, source_answers(rules, answers))


def short_rule_ids(memory: Memory) -> dict[str, str]:
    """Return the shown id of each rule by id of its note: the shortest beginning that no other note of it shares."""
    known = {id for note in memory.notes for id in (note.id, note.original_id)}
    length = next(size for size in range(_MIN_SHOWN_ID, 13) if len({id[:size] for id in known}) == len(known))
    return {note.id: note.original_id[:length] for note in root_rule_notes(memory)}


def replace_everyday_words(text: str) -> str:
    """Replace everyday words for places in a rule by kinds of places, if the rule is only understood with them."""
    replaced = PlaceVocabulary().mark_phrases(text)
    helps = parse_house_rule(parse_rule(text)) is None and parse_house_rule(parse_rule(replaced)) is not None
    return replaced[0].upper() + replaced[1:] if helps else text


def interpret_rule(text: str, topic: str) -> str | None:
    """Return the rule that a text is understood as, in the form that robots follow, or None if it is not understood."""
    rule = parse_rule(replace_everyday_words(validate_rule_text(text)))
    if house := parse_house_rule(rule):
        wanted, unwanted = (
            [PlaceVocabulary.phrase(spot) for spot in spots] for spots in (house.wanted, house.unwanted)
        )
        return make_rule(rule.condition or ", ".join(house.things), wanted, unwanted).text
    return make_rule(rule.condition, rule.preferred, rule.avoided).text if rule.typed and topic != HOUSE_TOPIC else None


def validate_rule_text(text: str) -> str:
    """Return the text of a rule on one line, without invisible characters.

    Raises:
        UserError: Nothing is left, or the text is too long.
    """
    line = one_line(text)
    if not 1 <= len(line) <= MAX_RULE_CHARACTERS:
        raise UserError(
            f"rule {excerpt(line[:60])!r}: has {len(line)} characters; 1 to {MAX_RULE_CHARACTERS} can be kept"
        )
    return line


def parse_rule_list(text: str, notes: Mapping[int, Note]) -> Corrections:
    """Parse a list of rules that was edited as text.

    Args:
        text: One rule per line. Lines without a number are new rules; lines that begin with ``#`` are comments.
        notes: Notes of the rules that the list was written from, by number.

    Raises:
        UserError: A number is unknown or occurs twice, or no rule is left in the list.
    """
    found, corrections = Counter[int](), Corrections()
    for place, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        matched = _NUMBERED_LINE.match(line)
        if matched is None:
            corrections.added.append(line.strip().lstrip("-*•").strip())
            continue
        number, words = int(matched[1]), matched[2].strip()
        found[number] += 1
        if number not in notes or found[number] > 1:
            why = "there is no such rule" if number not in notes else "it stands there twice"
            raise UserError(f"line {place}: rule {number}: {why}; write a new rule without a number")
        note = notes[number]
        if words and words != note.text:
            corrections.changed[note.id] = words
        elif note.text and not words:
            corrections.forgotten.append(note.id)
    if notes and not found:
        raise UserError("no rule is left in the list, and nothing was changed; housewise memory forget takes out many")
    corrections.forgotten += [note.id for number, note in notes.items() if number not in found]
    return corrections


def _new_rule_notes(memory: Memory, text: str, topic: str) -> list[Note]:
    rule = parse_rule(replace_everyday_words(text))
    time = later_time(memory.notes[-1].time if memory.notes else None)
    return rule_notes(memory.person, HOUSE_TOPIC if parse_house_rule(rule) else topic, [rule], time=time)


def _find_newer(notes: Sequence[Note]) -> dict[str, str]:
    """Return, for rules that a later one on their topic contradicts, the id of the later note by id of the earlier."""
    by_topic: dict[str, list[Note]] = {}
    for note in notes:
        by_topic.setdefault(rule_topic(note), []).append(note)
    return {
        group[earlier].id: group[later].id
        for group in by_topic.values()
        for earlier, later in find_overruled(group).items()
    }


def _is_stored_otherwise(memory: Memory, rule: Note) -> bool:
    """Return whether a rule's text names a place that its notes lack, as after ``housewise memory edit``."""
    said = parse_house_rule(parse_rule(rule.text)) if rule.text and isinstance(rule.value, float) else None
    if said is None:
        return False
    notes = [note for note in memory.notes if note.kind == "rule" and (note is rule or rule.id in note.derived_from)]
    return not _separate_things(placement_statements(said)) <= _separate_things(
        (each.about, each.value) for each in notes
    )


def _separate_things(statements: Iterable[PlacementStatement]) -> set[tuple[str, str | None, str | None, object]]:
    """Return the statements about each single thing: the thing, the room, the receptacle and the value."""
    return {(thing, about.room, about.receptacle, value) for about, value in statements for thing in about.things}


def _describe_doubts(note: Note, newer: str | None, count: int, is_stored_otherwise: bool) -> list[str]:
    """Describe why a rule may not be followed.

    Args:
        note: Note of the rule.
        newer: Shown id of a newer rule that contradicts it, or None.
        count: Number of reactions and goals that contradict it.
        is_stored_otherwise: Whether its text names a place that its notes lack.
    """
    remarks = []
    if rule_topic(note) == HOUSE_TOPIC:
        if not (isinstance(note.value, float) and (note.about.room or note.about.receptacle)):
            remarks.append("not understood: robots in a house ignore it")
    elif not (note.text and parse_rule(note.text).typed):
        remarks.append("not understood: only a language model follows it")
    if is_stored_otherwise:
        remarks.append("its notes say otherwise, and robots follow them")
    if newer is not None:
        remarks.append(f"rule {newer} says otherwise, and is newer")
    if count:
        remarks.append(f"questioned by {plural(count, 'note')}")
    return remarks
