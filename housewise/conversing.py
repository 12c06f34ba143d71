"""``housewise learn``: a conversation at the terminal, of which every answer is kept at once, and rules in its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TextIO

from rich.console import Console

from housewise.agent.clipr.elicitation import MOST_ANSWER, Elicited, PersonLeft, elicit
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
from housewise.language.words import one_line
from housewise.people.memory import Memory, MemoryFolder, Note
from housewise.people.memory.note import just_after
from housewise.people.terminal import bounded
from housewise.rulebook import give_way
from housewise.worlds.choices.scenario import Situation

Complaint = Callable[[str, str], str | None]
"""What cannot be understood of an answer to a question; None where it can."""

_LEAVING = ("quit", "exit", "q")
_MOST_COMPLAINTS = 2


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


class AtTheTerminal:
    """A person who reads and types; see housewise.worlds.choices.person.Person.

    Args:
        name: of the person.
        console: where questions go.
        stream: where answers come from.
        complaint: see Conversation.
        begun: questions that were answered before.
        most: questions in all.
    """

    def __init__(
        self, name: str, console: Console, stream: TextIO, complaint: Complaint, begun: int, most: int
    ) -> None:
        self.name = name
        self._console, self._stream, self._complaint = console, stream, complaint
        self._number, self._most = begun, most

    def answer(self, question: str) -> str:
        """What they type; "" where they say nothing.

        Raises:
            PersonLeft: they have typed quit, interrupted, or there is nothing more to read.
        """
        self._number += 1
        try:
            return self._asked(question)
        except KeyboardInterrupt:
            raise PersonLeft(f"{self.name} has left") from None

    def _asked(self, question: str) -> str:
        self._console.print(f"\n{self._number} of {self._most}. {question}", soft_wrap=True, highlight=False)
        said = self._read()
        for _ in range(_MOST_COMPLAINTS):
            unclear = self._complaint(question, said)
            if unclear is None:
                break
            self._console.print(unclear, soft_wrap=True, highlight=False)
            said = self._read()
        return said

    def _read(self) -> str:
        self._console.print("> ", end="")
        line = bounded(self._stream, 4 * MOST_ANSWER)
        if line is None or line.strip().lower() in _LEAVING:
            raise PersonLeft(f"{self.name} has left")
        return one_line(line)


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
    topic = conversation.topic
    memory = folder.load(person) if person in folder.people() else Memory(person)
    before = [exchange_of(note) for note in answers_in(memory, topic)]
    already = f", {len(before)} answered already" if before else ""
    console.print(
        f"At most {most} questions{already}. Say nothing to pass one over; quit ends it, and the same command goes on.",
        soft_wrap=True,
    )

    def keep(exchange: Exchange) -> None:
        if exchange.answer:
            with folder.changing(person, new=True) as kept:
                kept.add(answer_note(person, topic, exchange))

    typing = AtTheTerminal(person, console, stream, conversation.complaint, len(before), most)
    elicited = elicit(conversation.interviewer, typing, conversation.examples, most, before, keep)
    console.print(_ending(elicited), style="dim")
    return _written_down(person, conversation, folder, console)


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
