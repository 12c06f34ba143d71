"""An interview with somebody who is simulated: answers are kept, then rules are written of all of them, unconfirmed."""

from __future__ import annotations

from collections.abc import Sequence

from housewise.agent.clipr.elicitation import elicit
from housewise.agent.clipr.house_interview import HOUSE_TOPIC, house_rule_notes
from housewise.agent.clipr.language_steps import DialogueTurn, Interviewer
from housewise.agent.clipr.memory_notes import (
    answer_note,
    answers_without_rules,
    recall_answers,
    rule_notes,
    rules_written_note,
    source_answers,
    turn_from_note,
)
from housewise.agent.clipr.rule_editing import replace_contradicted
from housewise.agent.clipr.rules import Rule
from housewise.people.memory import MemoryFolder, Note
from housewise.people.memory.note import next_millisecond
from housewise.people.respondent import Respondent


def hold_interview(
    speaker: Respondent, person: str, topic: str, interviewer: Interviewer, folder: MemoryFolder, most: int
) -> list[Rule]:
    """Ask somebody, whoever answers for them, and write rules; what is said goes on from what was said before.

    Args:
        speaker: answers.
        person: whose memory it goes into.
        topic: as notes name it.
        interviewer: asks, and writes rules.
        folder: of memories.
        most: questions in all, those of earlier conversations among them.

    Returns:
        The new rules.
    """
    memory = folder.load(person, missing_ok=True)
    before = [turn_from_note(note) for note in recall_answers(memory, topic)]

    def keep(exchange: DialogueTurn) -> None:
        if exchange.answer:
            with folder.edit_memory(person, new=True) as kept:
                kept.add(answer_note(person, topic, exchange))

    elicit(interviewer, speaker, (), most, before, keep)
    return _written_down(person, topic, interviewer, folder)


def notes_from_rules(person: str, topic: str, rules: Sequence[Rule], answers: Sequence[Note]) -> list[Note]:
    """Rules as notes, each concluded from the answers that it comes from."""
    origins = source_answers(rules, answers)
    if topic != HOUSE_TOPIC:
        return rule_notes(person, topic, rules, origins)
    notes: list[Note] = []
    for rule in rules:
        time = next_millisecond(notes[-1].time) if notes else None
        notes += house_rule_notes(person, rule, origins[rule.text], time)
    return notes


def _written_down(person: str, topic: str, interviewer: Interviewer, folder: MemoryFolder) -> list[Rule]:
    """Rules of the answers of which there are none yet: those of this interview, or of one that was killed."""
    if person not in folder.people():
        return []
    answers = answers_without_rules(folder.load(person), topic)
    if not answers:
        return []
    rules = interviewer.synthesize((), [turn_from_note(note) for note in answers])
    with folder.edit_memory(person) as memory:
        # Somebody else may have forgotten an answer meanwhile: what comes of it is not kept either.
        notes = [memory.add(note) for note in notes_from_rules(person, topic, rules, answers)]
        memory.add(rules_written_note(person, topic, memory.notes[-1].time))
        replace_contradicted(memory, notes)
    return list(rules)
