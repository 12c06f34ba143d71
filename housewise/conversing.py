"""``housewise learn``: a conversation at the terminal, of which every answer is kept at once, and rules in its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TextIO

from rich.console import Console

from housewise.agent.clipr.elicitation import Elicited, elicit
from housewise.agent.clipr.house import HOUSE, HouseInterview, house_notes
from housewise.agent.clipr.language import Exchange, Interviewer
from housewise.agent.clipr.notes import (
    answer_note,
    answers_in,
    exchange_of,
    origins_of,
    rule_notes,
    unwritten_in,
    written_note,
)
from housewise.agent.clipr.rules import Rule
from housewise.people.base import Person
from housewise.people.memory import Memory, MemoryFolder, Note
from housewise.people.memory.note import just_after
from housewise.people.terminal import LONGEST, Complaint, TerminalPerson, bounded
from housewise.rulebook import give_way
from housewise.worlds.choices.scenario import Situation

_LEAVING = ("quit", "exit", "q")
_PATIENCE = 3


@dataclass(frozen=True)
class Conversation:
    """What is talked about.

    Attributes:
        topic: as notes name it.
        interviewer: asks, and writes rules.
        examples: what it looks at.
        complaint: asks once more where an answer cannot be understood.
    """

    topic: str
    interviewer: Interviewer
    examples: tuple[Situation, ...] = ()
    complaint: Complaint = lambda question, answer: None


def converse(
    person: str, conversation: Conversation, folder: MemoryFolder, most: int, stream: TextIO, console: Console
) -> list[Rule]:
    """Talk, and write rules down; what is said goes on from what was said before.

    Args:
        person: whose memory it goes into.
        conversation: what it is about.
        folder: of memories.
        most: questions in all, those of earlier conversations among them.
        stream: where answers come from.
        console: where questions go.

    Returns:
        The new rules.

    Raises:
        UserError: when the memory cannot be read or written, or a model cannot be asked.
    """
    before = _answered(person, conversation.topic, folder)
    already = f", {len(before)} answered already" if before else ""
    console.print(
        f"At most {most} questions{already}. Say nothing to pass one over; quit ends it, and the same command goes on.",
        soft_wrap=True,
    )

    numbers, read = count(len(before) + 1), _reader(stream, console)
    typing = TerminalPerson(
        read, person, _PATIENCE, conversation.complaint, _LEAVING, lambda: f"\n{next(numbers)} of {most}. "
    )
    return interviewed(typing, person, conversation, folder, most, console)


def interviewed(
    speaker: Person[Any], person: str, conversation: Conversation, folder: MemoryFolder, most: int, console: Console
) -> list[Rule]:
    """Ask somebody, whoever answers for them, and write rules down; see converse.

    Args:
        speaker: answers.
    """
    topic = conversation.topic
    before = _answered(person, topic, folder)

    def keep(exchange: Exchange) -> None:
        if exchange.answer:
            with folder.changing(person, new=True) as kept:
                kept.add(answer_note(person, topic, exchange))

    elicited = elicit(conversation.interviewer, speaker, conversation.examples, most, before, keep)
    console.print(_ending(elicited), style="dim")
    return _written_down(person, conversation, folder, console)


def _answered(person: str, topic: str, folder: MemoryFolder) -> list[Exchange]:
    memory = folder.load(person) if person in folder.people() else Memory(person)
    return [exchange_of(note) for note in answers_in(memory, topic)]


def _reader(stream: TextIO, console: Console) -> Callable[[str], str]:
    """Puts a text on the console and reads a line; one who interrupts says nothing more."""

    def read(text: str) -> str:
        try:
            console.print(text.rstrip(), soft_wrap=True, highlight=False)
            console.print("> ", end="")
            line = bounded(stream, LONGEST + 1)
        except KeyboardInterrupt:
            line = None
        if line is None:
            raise EOFError
        return line

    return read


def _written_down(person: str, conversation: Conversation, folder: MemoryFolder, console: Console) -> list[Rule]:
    """Rules of the answers of which there are none yet: those of this conversation, or of one that was killed."""
    if person not in folder.people():
        return []
    topic, answers = conversation.topic, unwritten_in(folder.load(person), conversation.topic)
    if not answers:
        return []
    rules = conversation.interviewer.synthesize(conversation.examples, [exchange_of(note) for note in answers])
    with folder.changing(person) as memory:
        # Somebody else may have forgotten an answer meanwhile: what comes of it is not kept either.
        notes = [memory.add(note) for note in _as_notes(person, topic, rules, answers)]
        memory.add(written_note(person, topic, memory.notes[-1].time))
        for words in give_way(memory, notes):
            console.print(words, soft_wrap=True, highlight=False)
    return list(rules)


def _as_notes(person: str, topic: str, rules: Sequence[Rule], answers: Sequence[Note]) -> list[Note]:
    origins = origins_of(rules, answers)
    if topic != HOUSE:
        return rule_notes(person, topic, rules, origins)
    notes: list[Note] = []
    for rule in rules:
        time = just_after(notes[-1].time) if notes else None
        notes += house_notes(person, rule, origins[rule.text], time)
    return notes


def conversation_about(topic: str, interviewer: Interviewer, examples: Sequence[Situation] = ()) -> Conversation:
    """A conversation that asks again where its interviewer says that it has not understood."""
    if isinstance(interviewer, HouseInterview):
        return Conversation(topic, interviewer, (), interviewer.complaint)
    return Conversation(topic, interviewer, tuple(examples))


def _ending(elicited: Elicited) -> str:
    said = {
        "sufficient": "That is enough.",
        "budget": "These were all questions.",
        "left": "What was said is kept.",
        "silent": "Another time, then.",
    }
    return said[elicited.ended]
