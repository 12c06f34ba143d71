"""Interview a respondent, store the answers in a memory, then write rules from them without asking for confirmation."""

from __future__ import annotations

from housewise.agent.clipr.elicitation import elicit
from housewise.agent.clipr.language_steps import DialogueTurn, Interviewer
from housewise.agent.clipr.memory_notes import (
    answer_note,
    answers_without_rules,
    recall_answers,
    rules_written_note,
    turn_from_note,
)
from housewise.agent.clipr.rule_editing import notes_from_rules, replace_contradicted
from housewise.agent.clipr.rules import Rule
from housewise.people.memory import MemoryFolder
from housewise.people.respondent import Respondent


def hold_interview(
    speaker: Respondent, person: str, topic: str, interviewer: Interviewer, folder: MemoryFolder, max_questions: int
) -> list[Rule]:
    """Interview a respondent and write rules. An interview that was interrupted is resumed.

    Args:
        speaker: Answers the questions.
        person: Name of the person whose memory stores the answers.
        topic: Topic of the interview, as in notes.
        interviewer: Asks questions and writes rules.
        folder: Folder of memories.
        max_questions: Maximum number of questions, including those of earlier interviews.

    Returns:
        The new rules.
    """
    memory = folder.load(person, missing_ok=True)
    before = [turn_from_note(note) for note in recall_answers(memory, topic)]

    def store_answer(turn: DialogueTurn) -> None:
        if turn.answer:
            with folder.edit_memory(person, missing_ok=True) as stored:
                stored.add(answer_note(person, topic, turn))

    elicit(interviewer, speaker, (), max_questions, before, store_answer)
    return _write_rules(person, topic, interviewer, folder)


def _write_rules(person: str, topic: str, interviewer: Interviewer, folder: MemoryFolder) -> list[Rule]:
    """Write rules from the answers that have none yet: those of this interview, or of one that was killed."""
    if person not in folder.people():
        return []
    answers = answers_without_rules(folder.load(person), topic)
    if not answers:
        return []
    rules = interviewer.synthesize((), [turn_from_note(note) for note in answers])
    with folder.edit_memory(person) as memory:
        # Another process may have forgotten an answer meanwhile; the memory then rejects what was derived from it.
        notes = [memory.add(note) for note in notes_from_rules(person, topic, rules, answers)]
        memory.add(rules_written_note(person, topic, memory.notes[-1].time))
        replace_contradicted(memory, notes)
    return list(rules)
