"""Algorithm 1 of CLIPR: ask what the examples leave open, at most so many questions, then write rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from housewise.agent.clipr.language_steps import Dimension, Exchange, Interviewer
from housewise.agent.clipr.rules import Rule
from housewise.language.words import one_line
from housewise.people.respondent import Person, PersonLeft, Question
from housewise.worlds.choices.scenario import Situation

MOST_ANSWER = 2000
"""Characters of an answer that are kept."""
MOST_SILENCES = 2
"""So many questions in a row that are not answered end a conversation."""


@dataclass(frozen=True)
class Elicited:
    """What a conversation gave.

    Attributes:
        dialogue: every question with its answer.
        unresolved: the dimensions that were open at each turn, as the language step reported them.
        ended: "sufficient", "budget", "left" or "silent".
    """

    dialogue: tuple[Exchange, ...]
    unresolved: tuple[tuple[Dimension, ...], ...]
    ended: str


def ask(person: Person[Any], question: Question) -> str:
    """What the person says, cut to what anybody says in one turn, and without what cannot be seen.

    Raises:
        PersonLeft: they ended the conversation.
    """
    answer = one_line(person.answer(question).text[: 4 * MOST_ANSWER])
    return answer if len(answer) <= MOST_ANSWER else answer[:MOST_ANSWER] + " …"


def elicit(
    language: Interviewer,
    person: Person[Any],
    examples: Sequence[Situation],
    budget: int = 10,
    dialogue: Sequence[Exchange] = (),
    keep: Callable[[Exchange], None] = lambda exchange: None,
) -> Elicited:
    """Ask until enough is known or the budget is spent.

    Args:
        language: finds what is open, judges whether that is enough, and words the questions, in one call a turn.
        person: who answers.
        examples: situations without answers.
        budget: most questions, those of ``dialogue`` among them.
        dialogue: what was said in an earlier part of this conversation, which goes on.
        keep: told of each exchange at once, so that nothing is lost when the conversation breaks off.
    """
    said, unresolved, silences = list(dialogue), [], 0
    while len(said) < budget:
        inquiry = language.inquire(examples, said, budget - len(said))
        unresolved.append(inquiry.unresolved)
        if inquiry.question is None:
            return Elicited(tuple(said), tuple(unresolved), "sufficient")
        language.usage.questions += 1
        try:
            exchange = Exchange(inquiry.question, ask(person, Question(inquiry.question)))
        except PersonLeft:
            return Elicited(tuple(said), tuple(unresolved), "left")
        said.append(exchange)
        keep(exchange)
        silences = 0 if exchange.answer else silences + 1
        if silences == MOST_SILENCES:
            return Elicited(tuple(said), tuple(unresolved), "silent")
    return Elicited(tuple(said), tuple(unresolved), "budget")


def learn(
    language: Interviewer, person: Person[Any], examples: Sequence[Situation], budget: int = 10
) -> tuple[Elicited, tuple[Rule, ...]]:
    """Algorithm 1: elicitation, then synthesis in one call; without any answer there are no rules and no call."""
    elicited = elicit(language, person, examples, budget)
    answered = [exchange for exchange in elicited.dialogue if exchange.answer]
    return elicited, language.synthesize(examples, answered) if answered else ()
