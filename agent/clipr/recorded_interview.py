"""Interview a respondent, store the answers in a memory, then write rules from them without asking for confirmation."""

from __future__ import annotations

from dataclasses import replace

from housewise.agent.clipr.conversation import converse
from housewise.agent.clipr.elicitation import learn_rules
from housewise.agent.clipr.language_steps import DialogueTurn, Interviewer
from housewise.agent.clipr.memory_notes import (
    answer_note,
    answers_without_rules,
    recall_conversation,
    rules_written_note,
)
from housewise.agent.clipr.rule_editing import notes_from_rules, replace_contradicted
from housewise.agent.clipr.rules import Rule
from housewise.people.memory import MemoryFolder
from housewise.people.memory.note import later_time
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
    answers = answers_without_rules(memory, topic)  # of an interview that was interrupted
    known = replace(recall_conversation(memory, topic), rules=())

    def store_answer(turn: DialogueTurn) -> None:
        if turn.answer:
            with folder.edit_memory(person, missing_ok=True) as stored:
                time = later_time(answers[-1].time if answers else None)
                answers.append(stored.add(answer_note(person, topic, turn, time=time)))

    rules = converse(learn_rules(interviewer, (), max_questions, known), speaker, on_turn=store_answer)
    if answers:
        with folder.edit_memory(person) as stored:
            # Another process may have forgotten an answer; the memory then rejects what was derived from it.
            notes = [stored.add(note) for note in notes_from_rules(person, topic, rules, answers)]
            stored.add(rules_written_note(person, topic, stored.notes[-1].time))
            replace_contradicted(stored, notes)
    return list(rules)
