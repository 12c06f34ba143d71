"""GATE (Li et al., ICLR 2025): ask open questions and use the transcript in place of rules.

Its authors ask 5 questions; CLIPR's paper reports 15.
"""

from __future__ import annotations

from housewise.agent.clipr.action_choice import choose_all
from housewise.agent.clipr.actions import AskPerson, CliprObservation, Play
from housewise.agent.clipr.language_steps import DialogueTurn, Guidance
from housewise.agent.clipr.method_inputs import MethodInputs
from housewise.people.respondent import Question


def gate(inputs: MethodInputs, seen: CliprObservation) -> Play[None]:
    """Ask at most ``max_questions`` open questions, then choose by the transcript."""
    dialogue: list[DialogueTurn] = []
    while len(dialogue) < inputs.max_questions:
        question = inputs.inference.language.open_question(dialogue, inputs.max_questions - len(dialogue))
        if question is None:
            break
        answer = (yield AskPerson(Question(question))).answer
        if answer is None:
            break
        dialogue.append(DialogueTurn(question, answer))
    yield from choose_all(inputs.inference, seen, Guidance(transcript=tuple(dialogue)))
