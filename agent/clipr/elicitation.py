"""Algorithm 1 of CLIPR: ask what the examples leave open, at most so many questions, then write rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from housewise.agent.clipr.language_steps import DialogueTurn, Dimension, Interviewer
from housewise.agent.clipr.rules import Rule
from housewise.language.words import one_line
from housewise.people.respondent import Question, Respondent, RespondentLeft
from housewise.worlds.choices.scenario import Situation

MAX_ANSWER_CHARACTERS = 2000
"""Characters of an answer that are kept."""
MAX_UNANSWERED = 2
"""So many questions in a row that are not answered end a conversation."""


@dataclass(frozen=True)
class ElicitationResult:
    """What a conversation gave.

    Attributes:
        dialogue: every question with its answer.
        unresolved: the dimensions that were open at each turn, as the language step reported them.
        ended: "sufficient", "budget", "left" or "silent".
    """

    dialogue: tuple[DialogueTurn, ...]
    unresolved: tuple[tuple[Dimension, ...], ...]
    ended: str


def ask_person(person: Respondent, question: Question) -> str:
    """What the person says, cut to what anybody says in one turn, and without what cannot be seen.

    Raises:
        PersonLeft: they ended the conversation.
    """
    answer = one_line(person.answer(question).text[: 4 * MAX_ANSWER_CHARACTERS])
    return answer if len(answer) <= MAX_ANSWER_CHARACTERS else answer[:MAX_ANSWER_CHARACTERS] + " …"


def elicit(
    language: Interviewer,
    person: Respondent,
    examples: Sequence[Situation],
    budget: int = 10,
    dialogue: Sequence[DialogueTurn] = (),
    on_exchange: Callable[[DialogueTurn], None] = lambda exchange: None,
) -> ElicitationResult:
    """Ask until enough is known or the budget is spent.

    Args:
        language: finds what is open, judges whether that is enough, and words the questions, in one call a turn.
        person: who answers.
        examples: situations without answers.
        budget: most questions, those of ``dialogue`` among them.
        dialogue: what was said in an earlier part of this conversation, which goes on.
        on_exchange: told of each exchange at once, so that nothing is lost when the conversation breaks off.
    """
    said, unresolved, silences = list(dialogue), [], 0
    while len(said) < budget:
        inquiry = language.inquire(examples, said, budget - len(said))
        unresolved.append(inquiry.unresolved)
        if inquiry.question is None:
            return ElicitationResult(tuple(said), tuple(unresolved), "sufficient")
        language.usage.questions += 1
        try:
            exchange = DialogueTurn(inquiry.question, ask_person(person, Question(inquiry.question)))
        except RespondentLeft:
            return ElicitationResult(tuple(said), tuple(unresolved), "left")
        said.append(exchange)
        on_exchange(exchange)
        silences = 0 if exchange.answer else silences + 1
        if silences == MAX_UNANSWERED:
            return ElicitationResult(tuple(said), tuple(unresolved), "silent")
    return ElicitationResult(tuple(said), tuple(unresolved), "budget")


def learn_rules(
    language: Interviewer, person: Respondent, examples: Sequence[Situation], budget: int = 10
) -> tuple[ElicitationResult, tuple[Rule, ...]]:
    """Algorithm 1: elicitation, then synthesis in one call; without any answer there are no rules and no call."""
    elicited = elicit(language, person, examples, budget)
    answered = [exchange for exchange in elicited.dialogue if exchange.answer]
    return elicited, language.synthesize(examples, answered) if answered else ()
