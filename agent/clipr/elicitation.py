"""Elicitation, Algorithm 1 of CLIPR: ask about what the examples leave open, then write rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from housewise.agent.clipr.language_steps import DialogueTurn, Dimension, Interviewer
from housewise.agent.clipr.rules import Rule
from housewise.language.words import one_line
from housewise.people.respondent import Question, Respondent, RespondentLeft
from housewise.worlds.choices.scenario import Situation

MAX_ANSWER_CHARACTERS = 2000
"""Longer answers are truncated."""
MAX_UNANSWERED = 2
"""Number of consecutive unanswered questions that ends a conversation."""


@dataclass(frozen=True)
class ElicitationResult:
    """The result of a conversation.

    Attributes:
        dialogue: Every question with its answer.
        unresolved: The dimensions that the language step reported as open, for each turn.
        ended: Why the conversation ended: "sufficient", "budget", "left" or "silent".
    """

    dialogue: tuple[DialogueTurn, ...]
    unresolved: tuple[tuple[Dimension, ...], ...]
    ended: str


def ask_person(person: Respondent, question: Question) -> str:
    """Ask the person and return the answer on one line, without invisible characters and of limited length.

    Raises:
        RespondentLeft: The person ended the conversation.
    """
    answer = one_line(person.answer(question).text[: 4 * MAX_ANSWER_CHARACTERS])
    return answer if len(answer) <= MAX_ANSWER_CHARACTERS else answer[:MAX_ANSWER_CHARACTERS] + " …"


def elicit(
    interviewer: Interviewer,
    person: Respondent,
    examples: Sequence[Situation],
    max_questions: int = 10,
    dialogue: Sequence[DialogueTurn] = (),
    on_turn: Callable[[DialogueTurn], None] = lambda turn: None,
) -> ElicitationResult:
    """Ask questions until enough is known or the budget is spent.

    Args:
        interviewer: Finds open dimensions, decides whether enough is known and asks, in one call per turn.
        person: Answers the questions.
        examples: Situations without their correct actions.
        max_questions: Maximum number of questions, including those in ``dialogue``.
        dialogue: Turns of an earlier part of this conversation, which is continued.
        on_turn: Called after every turn, so that no answer is lost if the conversation is interrupted.
    """
    turns, unresolved, unanswered = list(dialogue), [], 0
    while len(turns) < max_questions:
        inquiry = interviewer.inquire(examples, turns, max_questions - len(turns))
        unresolved.append(inquiry.unresolved)
        if inquiry.question is None:
            return ElicitationResult(tuple(turns), tuple(unresolved), "sufficient")
        interviewer.usage.questions += 1
        try:
            turn = DialogueTurn(inquiry.question, ask_person(person, Question(inquiry.question)))
        except RespondentLeft:
            return ElicitationResult(tuple(turns), tuple(unresolved), "left")
        turns.append(turn)
        on_turn(turn)
        unanswered = 0 if turn.answer else unanswered + 1
        if unanswered == MAX_UNANSWERED:
            return ElicitationResult(tuple(turns), tuple(unresolved), "silent")
    return ElicitationResult(tuple(turns), tuple(unresolved), "budget")


def learn_rules(
    interviewer: Interviewer, person: Respondent, examples: Sequence[Situation], max_questions: int = 10
) -> tuple[ElicitationResult, tuple[Rule, ...]]:
    """Run Algorithm 1: elicitation, then synthesis in one call. Without any answer there are no rules and no call."""
    elicited = elicit(interviewer, person, examples, max_questions)
    answered = [turn for turn in elicited.dialogue if turn.answer]
    return elicited, interviewer.synthesize(examples, answered) if answered else ()
