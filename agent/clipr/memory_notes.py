"""Answers and rules as notes of a person's memory, and back: what was said in a conversation goes on in the next one.

A note of either kind names the topic that it belongs to as its task (``kitchen``), an answer the question as its
situation. Rules about the house name no task; see housewise.agent.clipr.house_interview.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from housewise.agent.clipr.language_steps import DialogueTurn
from housewise.agent.clipr.rules import MAX_RULES, Rule, find_contradictions, parse_rule
from housewise.people.memory import About, Memory, Note
from housewise.people.memory.note import MAX_NAME_CHARACTERS, MAX_TEXT_CHARACTERS, current_time, next_millisecond

_WRITTEN = "written down"
_CONFIRMED = "confirmed"


def note_topic(name: str) -> str:
    """A data set's name as notes write it."""
    return About(task=name[:MAX_NAME_CHARACTERS]).task or "choices"


def answer_note(
    person: str, topic: str, exchange: DialogueTurn, confirmed: bool = False, time: str | None = None
) -> Note:
    """What a person said, with the question.

    Args:
        person: who said it.
        topic: that it belongs to.
        exchange: question and answer.
        confirmed: whether they have confirmed what was understood, so that no rule is to be written of it any more.
        time: when; now by default.

    Raises:
        ValueError: they said nothing.
    """
    about, value = (
        About(task=topic, situation=exchange.question[:MAX_TEXT_CHARACTERS]),
        _CONFIRMED if confirmed else None,
    )
    text = exchange.answer[:MAX_TEXT_CHARACTERS]
    return Note(person=person, kind="answer", text=text, about=about, value=value, time=time or current_time())


def recall_answers(memory: Memory, topic: str) -> list[Note]:
    """What was asked and answered about a topic, the oldest first."""
    return [note for note in _answer_notes(memory, topic) if note.value != _WRITTEN]


def answers_without_rules(memory: Memory, topic: str) -> list[Note]:
    """The answers since the last conversation's end that are not confirmed: no rules are written of them yet."""
    notes = _answer_notes(memory, topic)
    ended = max((place for place, note in enumerate(notes, 1) if note.value == _WRITTEN), default=0)
    return [note for note in notes[ended:] if note.value != _CONFIRMED]


def rules_written_note(person: str, topic: str, after: str) -> Note:
    """The end of a conversation: rules are written of all answers before it, and stay as people leave them.

    Args:
        person: whose.
        topic: of the conversation.
        after: time of its last note.
    """
    about, text = About(task=topic), "What was answered before this is written down as rules."
    return Note(
        person=person,
        kind="answer",
        text=text,
        about=about,
        value=_WRITTEN,
        time=max(current_time(), next_millisecond(after)),
    )


def turn_from_note(answer: Note) -> DialogueTurn:
    """A question and its answer."""
    return DialogueTurn(answer.about.situation or "", answer.text)


def rule_notes(
    person: str,
    topic: str,
    rules: Iterable[Rule],
    origins: Mapping[str, Sequence[str]] = MappingProxyType({}),
    time: str | None = None,
) -> list[Note]:
    """Rules that are kept, each a little later than the one before, so that they keep their order.

    Args:
        person: whose.
        topic: that they belong to.
        rules: to keep.
        origins: for each rule's text the ids of the answers that it was concluded from.
        time: of the first; now by default.
    """
    notes: list[Note] = []
    for rule in rules:
        at, about = next_millisecond(notes[-1].time) if notes else time or current_time(), About(task=topic)
        derived = tuple(origins.get(rule.text, ()))
        notes.append(Note(person=person, kind="rule", text=rule.text, about=about, time=at, derived_from=derived))
    return notes


def recall_rules(memory: Memory, topic: str) -> tuple[Rule, ...]:
    """The rules of a topic that are in force, the oldest first: of those that contradict each other the newest.

    At most :data:`MOST_RULES`, the newest.
    """
    notes = [note for note in memory.notes if note.kind == "rule" and note.about.task == topic and note.text]
    gone = find_overruled(notes)
    return tuple(parse_rule(note.text) for number, note in enumerate(notes) if number not in gone)[-MAX_RULES:]


def find_overruled(notes: Sequence[Note]) -> dict[int, int]:
    """For rules of one topic that a later one contradicts, which one, by number from 0.

    Rules that were concluded together are meant to hold together.
    """
    pairs = find_contradictions([parse_rule(note.text or "-") for note in notes])
    return {
        earlier: later
        for earlier, later in pairs
        if not notes[earlier].derived_from or notes[earlier].derived_from != notes[later].derived_from
    }


def source_answers(rules: Sequence[Rule], answers: Sequence[Note]) -> dict[str, tuple[str, ...]]:
    """For each rule's text the ids of the answers that it comes from; all of them where it does not say which."""
    every = tuple(note.id for note in answers)
    # A slice is empty where there is no such turn.
    return {rule.text: every[rule.source - 1 : rule.source] if rule.source else every for rule in rules}


def _answer_notes(memory: Memory, topic: str) -> list[Note]:
    return [note for note in memory.notes if note.kind == "answer" and note.about.task == topic]
