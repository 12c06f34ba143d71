"""GATE (Li et al., ICLR 2025): open questions, and the transcript in place of rules."""

from __future__ import annotations

from housewise.agent.clipr.elicitation import ask
from housewise.agent.clipr.language_steps import Exchange, Guidance
from housewise.agent.clipr.methods import Method, Outcome, Setup
from housewise.people.respondent import PersonLeft, Question


def gate(turns: int) -> Method:
    """GATE with so many questions (its authors take 5; CLIPR's paper reports 15)."""

    def run(setup: Setup) -> Outcome:
        dialogue: list[Exchange] = []
        while len(dialogue) < turns:
            question = setup.language.open_question(dialogue, turns - len(dialogue))
            if question is None:
                break
            setup.language.usage.questions += 1
            try:
                dialogue.append(Exchange(question, ask(setup.person, Question(question))))
            except PersonLeft:
                break
        training = setup.language.usage.calls
        decisions = setup.inference.decide(setup.test, Guidance(transcript=tuple(dialogue)))
        return Outcome(decisions, (), tuple(dialogue), (), training)

    return run
