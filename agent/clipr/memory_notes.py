"""Conversion between dialogue turns or rules and notes of a person's memory, so that a conversation can be continued.

The ``task`` of a note is the topic (``kitchen``); an answer note states the ``question``. Rules about the house
have no topic; see housewise.agent.clipr.house_notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from housewise.agent.clipr.elicitation import RememberedConversation
from housewise.agent.clipr.house_notes import HOUSE_TOPIC, house_rule_notes
from housewise.agent.clipr.language_steps import DialogueTurn
from housewise.agent.clipr.rules import MAX_RULES, Rule, find_overruling, parse_rule
from housewise.people.memory import About, Memory, Note
from housewise.people.memory.note import (
    MAX_NAME_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    current_time,
    later_time,
    next_millisecond,
)

_WRITTEN = "written down"
_CONFIRMED = "confirmed"


def note_topic(name: str) -> str:
    """Return the topic of a data set in the spelling that notes use."""
    return About(task=name[:MAX_NAME_CHARACTERS]).task or "choices"


def answer_note(
    person: str, topic: str, exchange: DialogueTurn, confirmed: bool = False, time: str | None = None
) -> Note:
    """Create the note of an answer.

    Args:
        person: Person who answered.
        topic: Topic of the conversation.
        exchange: Question and answer.
        confirmed: Whether the person has confirmed the rules of this answer, so that no rule is written from it later.
        time: Time of the note. Defaults to now.

    Raises:
        ValueError: The answer is empty.
    """
    about, value = (
        About(task=topic, question=exchange.question[:MAX_TEXT_CHARACTERS]),
        _CONFIRMED if confirmed else None,
    )
    text = exchange.answer[:MAX_TEXT_CHARACTERS]
    return Note(person=person, kind="answer", text=text, about=about, value=value, time=time or current_time())


def recall_answers(memory: Memory, topic: str) -> list[Note]:
    """Return the answer notes of a topic, oldest first."""
    return [note for note in _answer_notes(memory, topic) if note.value != _WRITTEN]


def answers_without_rules(memory: Memory, topic: str) -> list[Note]:
    """Return the unconfirmed answers since the end of the last conversation, from which no rules have been written."""
    notes = _answer_notes(memory, topic)
    ended = max((place for place, note in enumerate(notes, 1) if note.value == _WRITTEN), default=0)
    return [note for note in notes[ended:] if note.value != _CONFIRMED]


def rules_written_note(person: str, topic: str, after: str) -> Note:
    """Create the note that ends a conversation: rules have been written from all answers before it.

    Args:
        person: Person of the memory.
        topic: Topic of the conversation.
        after: Time of the conversation's last note.
    """
    about, text = About(task=topic), "What was answered before this is written down as rules."
    return Note(
        person=person,
        kind="answer",
        text=text,
        about=about,
        value=_WRITTEN,
        time=later_time(after),
    )


def marks_end(note: Note) -> bool:
    """Whether a note only marks the end of a conversation; see rules_written_note."""
    return note.kind == "answer" and note.value == _WRITTEN


def turn_from_note(answer: Note) -> DialogueTurn:
    """Return the question and answer of an answer note."""
    return DialogueTurn(answer.about.question or "", answer.text)


def rule_notes(
    person: str,
    topic: str,
    rules: Iterable[Rule],
    origins: Mapping[str, Sequence[str]] = MappingProxyType({}),
    time: str | None = None,
) -> list[Note]:
    """Create notes of rules. Each is slightly later than the one before, which preserves their order.

    Each rule about the house is followed by the notes that derive from it; see house_rule_notes.

    Args:
        person: Person of the memory.
        topic: Topic of the rules.
        rules: Rules to store.
        origins: Ids of the answers that a rule was concluded from, by the rule's text.
        time: Time of the first note. Defaults to now.
    """
    notes: list[Note] = []
    for rule in rules:
        at, about = next_millisecond(notes[-1].time) if notes else time or current_time(), About(task=topic)
        derived = tuple(origins.get(rule.text, ()))
        if topic == HOUSE_TOPIC:
            notes += house_rule_notes(person, rule, derived, at)
        else:
            notes.append(Note(person=person, kind="rule", text=rule.text, about=about, time=at, derived_from=derived))
    return notes


def topic_rule_notes(memory: Memory, topic: str) -> list[Note]:
    """Return the notes of a topic's rules, oldest first."""
    return [note for note in memory.notes if note.kind == "rule" and note.about.task == topic and note.text]


def recall_rules(memory: Memory, topic: str) -> tuple[Rule, ...]:
    """Return the rules in force for a topic, oldest first. Of contradicting rules only the newest is in force.

    At most the :data:`MAX_RULES` newest rules are returned.
    """
    notes = topic_rule_notes(memory, topic)
    gone = find_overruled(notes)
    return tuple(parse_rule(note.text) for number, note in enumerate(notes) if number not in gone)[-MAX_RULES:]


def recall_conversation(memory: Memory, topic: str) -> RememberedConversation:
    """Return the conversations about a topic so far."""
    dialogue, unwritten = (
        tuple(map(turn_from_note, notes))
        for notes in (recall_answers(memory, topic), answers_without_rules(memory, topic))
    )
    return RememberedConversation(dialogue, unwritten, recall_rules(memory, topic))


def find_overruled(notes: Sequence[Note]) -> dict[int, int]:
    """Return the latest rule that overrules each earlier one, as a mapping from the earlier to the later index.

    Rules that were concluded from the same answers do not overrule each other.

    Args:
        notes: Rule notes of one topic, oldest first.
    """
    return find_overruling(
        [parse_rule(note.text or "-") for note in notes],
        lambda earlier, later: (
            not notes[earlier].derived_from or notes[earlier].derived_from != notes[later].derived_from
        ),
    )


def source_answers(rules: Sequence[Rule], answers: Sequence[Note]) -> dict[str, tuple[str, ...]]:
    """Return the ids of the answers that each rule comes from, by the rule's text.

    A rule without a source comes from all answers.
    """
    every = tuple(note.id for note in answers)
    # The slice is empty if the rule names a turn that does not exist.
    return {rule.text: every[rule.source - 1 : rule.source] if rule.source else every for rule in rules}


def _answer_notes(memory: Memory, topic: str) -> list[Note]:
    return [note for note in memory.notes if note.kind == "answer" and note.about.task == topic]
