"""``housewise rules``: the rules of a memory as a list to read, and to correct, add to and forget from by their ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table
from rich.text import Text

from housewise.agent.clipr.house_interview import (
    HOUSE_TOPIC,
    contradicting_notes,
    house_rule_notes,
    implied_notes,
    placement_statements,
    resolve_conflicts,
    root_rule_notes,
)
from housewise.agent.clipr.house_place_words import PlaceVocabulary
from housewise.agent.clipr.house_rules import HouseRule, parse_house_rule
from housewise.agent.clipr.memory_notes import find_overruled, rule_notes
from housewise.agent.clipr.rules import MAX_RULE_CHARACTERS, make_rule, parse_rule
from housewise.core.errors import UserError, excerpt
from housewise.core.plurals import plural
from housewise.language.words import one_line
from housewise.people.memory import Memory, Note
from housewise.people.memory.memory import MIN_ID_CHARACTERS
from housewise.people.memory.note import current_time, next_millisecond, parse_note

_SHORT_ID = 6
"""Characters of an id that are shown at least."""


@dataclass(frozen=True)
class ListedRule:
    """A rule as it is listed.

    Attributes:
        number: from 1.
        id: that people call it by.
        note: that keeps it.
        topic: that it belongs to.
        remarks: what there is to say of it.
    """

    number: int
    id: str
    note: Note
    topic: str
    remarks: tuple[str, ...]


@dataclass
class Corrections:
    """What is to become of some rules.

    Attributes:
        changed: other words by the note's id.
        forgotten: ids.
        added: words of new rules.
    """

    changed: dict[str, str] = field(default_factory=dict)
    forgotten: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)


def topic_of_rule(note: Note) -> str:
    """What a rule is about: the task that its note names, else a house."""
    return note.about.task or HOUSE_TOPIC


def listed_rules(memory: Memory) -> list[ListedRule]:
    """The rules of a memory, the oldest first, with what there is to say of each."""
    notes = root_rule_notes(memory)
    ids, newer, against = rule_ids(memory), _overruled(notes), contradicting_notes(memory)
    return [
        ListedRule(
            number,
            ids[note.id],
            note,
            topic_of_rule(note),
            tuple(_remarks(note, ids.get(newer.get(note.id, "")), len(against[note.id]))),
        )
        for number, note in enumerate(notes, 1)
    ]


def show_rules(memory: Memory, topic: str | None, console: Console) -> None:
    """Print rules, those of one topic or all."""
    lines = [line for line in listed_rules(memory) if topic in (None, line.topic)]
    grid = Table.grid(padding=(0, 2, 0, 0))
    for column in range(3):
        grid.add_column(no_wrap=column < 2, overflow="fold")
    for line in lines:
        words = Text(line.note.text or str(line.note.value))
        words.append(f" ({'; '.join(line.remarks)})" if line.remarks else "", "dim")
        grid.add_row(Text(line.id, "cyan"), Text(line.topic, "dim"), words)
    console.print(grid if lines else f"no rules of {memory.person}{f' about {excerpt(topic)}' if topic else ''}")


def find_rule(memory: Memory, word: str) -> Note:
    """The note of a rule by its id or the beginning of it, never by a place in the list, which others move into.

    Raises:
        UserError: there is none.
    """
    notes = root_rule_notes(memory)
    known = {id for note in notes for id in (note.id, note.original_id)}
    if len(word) < MIN_ID_CHARACTERS or not any(id.startswith(word) for id in known):
        raise UserError(
            f"{memory.person} has no rule {excerpt(word)}; `housewise rules show {memory.person}` lists {len(notes)}"
        )
    return memory[word]


def forget_rules(memory: Memory, words: Iterable[str]) -> list[Note]:
    """Forget rules by their ids, all or none; see rule_named."""
    notes = list(dict.fromkeys(find_rule(memory, word) for word in words))
    for note in notes:
        memory.forget(note.id)
    return notes


def apply_corrections(memory: Memory, corrections: Corrections, topic: str) -> list[str]:
    """Carry corrections out, all or none.

    Args:
        memory: of the person; it is changed.
        corrections: to carry out.
        topic: of new rules that do not speak of things and places in a house.

    Returns:
        What was done beyond that, in words: rules that gave way to others.

    Raises:
        UserError: when a rule is gone, or too long; nothing should be kept of the memory then.
    """
    news: list[Note] = []
    for id, text in corrections.changed.items():
        if topic_of_rule(memory[id]) == HOUSE_TOPIC:
            words = validated_text(text)
            (about, value), *others = placement_statements(parse_house_rule(parse_rule(words)))
            news.append(memory.edit(id, text=words, about=about, value=value))
            for each in implied_notes(news[-1], others):
                memory.add(each)
        else:
            news.append(memory.edit(id, text=validated_text(text)))
    for id in corrections.forgotten:
        memory.forget(id)
    for text in corrections.added:
        news += [memory.add(note) for note in _new(memory, validated_text(text), topic)]
    return replace_contradicted(memory, news)


def replace_contradicted(memory: Memory, news: Sequence[Note]) -> list[str]:
    """Have rules about things in houses give way to new ones: a robot goes by all that it has.

    Returns:
        What was forgotten, in words.
    """
    words = []
    for new in (note for note in root_rule_notes(memory) if note in news):
        replaced, exceptions = resolve_conflicts(memory, new)
        for note in exceptions:
            memory.add(note)
        for older in replaced:
            memory.forget(older.id)
            words.append(f"forgotten, as a newer rule says otherwise: {older.text}")
    return words


def restore_rules(memory: Memory, notes: Sequence[Note]) -> None:
    """Remember rules again that had given way to one that was taken back; each keeps its id."""
    for note in root_rule_notes(Memory(memory.person, notes)):
        rule, topic = parse_rule(note.text), topic_of_rule(note)
        new, *_ = (
            house_rule_notes(note.person, rule) if topic == HOUSE_TOPIC else rule_notes(note.person, topic, [rule])
        )
        root = memory.add(parse_note({**new.fields(), "version_of": note.original_id}, "the rule"))
        for each in (
            implied_notes(root, placement_statements(parse_house_rule(rule))[1:]) if topic == HOUSE_TOPIC else []
        ):
            memory.add(each)


def rule_ids(memory: Memory) -> dict[str, str]:
    """For the notes of rules what people call them by: the beginning of the lasting id, as long as no other has it."""
    known = {id for note in memory.notes for id in (note.id, note.original_id)}
    length = next(size for size in range(_SHORT_ID, 13) if len({id[:size] for id in known}) == len(known))
    return {note.id: note.original_id[:length] for note in root_rule_notes(memory)}


def in_words_of_rules(text: str) -> str:
    """A rule with the names of kinds in place of everyday words for places, where it is understood so."""
    everyday = PlaceVocabulary().marked(text)
    understood = parse_house_rule(parse_rule(text)) is None and parse_house_rule(parse_rule(everyday)) is not None
    return everyday[0].upper() + everyday[1:] if understood else text


def interpret_rule(text: str, topic: str) -> str | None:
    """What a new rule says, as a rule that robots go by; None where it is not understood."""
    rule = parse_rule(in_words_of_rules(validated_text(text)))
    if house := parse_house_rule(rule):
        return make_rule(rule.condition or ", ".join(house.things), *_phrases(house)).text
    return make_rule(rule.condition, rule.preferred, rule.avoided).text if rule.typed and topic != HOUSE_TOPIC else None


def _phrases(rule: HouseRule) -> tuple[list[str], list[str]]:
    wanted, unwanted = ([PlaceVocabulary.phrase(spot) for spot in spots] for spots in (rule.wanted, rule.unwanted))
    return wanted, unwanted


def _new(memory: Memory, text: str, topic: str) -> list[Note]:
    rule, time = parse_rule(in_words_of_rules(text)), current_time()
    if memory.notes:
        time = max(time, next_millisecond(memory.notes[-1].time))
    if topic == HOUSE_TOPIC or parse_house_rule(rule) is not None:
        return house_rule_notes(memory.person, rule, time=time)
    return rule_notes(memory.person, topic, [rule], time=time)


def validated_text(text: str) -> str:
    """A rule's words without what cannot be seen.

    Raises:
        UserError: nothing is left, or too much.
    """
    seen = one_line(text)
    if not 1 <= len(seen) <= MAX_RULE_CHARACTERS:
        raise UserError(
            f"rule {excerpt(seen[:60])!r}: has {len(seen)} characters; 1 to {MAX_RULE_CHARACTERS} can be kept"
        )
    return seen


def _overruled(notes: Sequence[Note]) -> dict[str, str]:
    """For rules that a later one of their topic contradicts the id of that one's note."""
    by_topic: dict[str, list[Note]] = {}
    for note in notes:
        by_topic.setdefault(topic_of_rule(note), []).append(note)
    return {
        alike[earlier].id: alike[later].id
        for alike in by_topic.values()
        for earlier, later in find_overruled(alike).items()
    }


def _remarks(note: Note, newer: str | None, count: int) -> list[str]:
    remarks = []
    if topic_of_rule(note) == HOUSE_TOPIC:
        if not (isinstance(note.value, float) and (note.about.room or note.about.receptacle)):
            remarks.append("not understood: no robot in a house goes by it")
    elif not (note.text and parse_rule(note.text).typed):
        remarks.append("not understood: only a language model goes by it")
    if newer is not None:
        remarks.append(f"rule {newer} says otherwise, and is newer")
    if count:
        remarks.append(f"questioned by {plural(count, 'note')}")
    return remarks
