"""GATE (Li et al., ICLR 2025): ask open questions and use the transcript in place of rules."""

from __future__ import annotations

from housewise.agent.clipr.elicitation import ask_person
from housewise.agent.clipr.language_steps import DialogueTurn, Guidance
from housewise.agent.clipr.methods import Method, MethodInputs, MethodResult
from housewise.people.respondent import Question, RespondentLeft


def gate(turns: int) -> Method:
    """Return the GATE method with the given number of questions. Its authors use 5; CLIPR's paper reports 15."""

    def run(setup: MethodInputs) -> MethodResult:
        dialogue: list[DialogueTurn] = []
        while len(dialogue) < turns:
            question = setup.language.open_question(dialogue, turns - len(dialogue))
            if question is None:
                break
            setup.language.usage.questions += 1
            try:
                dialogue.append(DialogueTurn(question, ask_person(setup.person, Question(question))))
            except RespondentLeft:
                break
        training = setup.language.usage.calls
        decisions = setup.inference.decide(setup.test, Guidance(transcript=tuple(dialogue)))
        return MethodResult(decisions, (), tuple(dialogue), (), training)

    return run
