"""Conversations with a person: puts the questions of a method to them."""

from __future__ import annotations

from collections.abc import Callable

from housewise.agent.clipr.actions import AskPerson, CliprObservation, Play, T
from housewise.agent.clipr.language_steps import DialogueTurn
from housewise.language.words import one_line
from housewise.people.respondent import Question, Respondent, RespondentLeft

MAX_ANSWER_CHARACTERS = 2000
"""Longer answers are truncated."""


def ask_person(person: Respondent, question: Question) -> str | None:
    """Ask the person and return the answer on one line, without invisible characters and of limited length.

    Returns:
        The answer; None if the person ended the conversation.
    """
    try:
        answer = one_line(person.answer(question).text[: 4 * MAX_ANSWER_CHARACTERS])
    except RespondentLeft:
        return None
    return answer if len(answer) <= MAX_ANSWER_CHARACTERS else answer[:MAX_ANSWER_CHARACTERS] + " …"


def converse(
    play: Play[T],
    person: Respondent,
    on_turn: Callable[[DialogueTurn], None] = lambda turn: None,
) -> T:
    """Have a person answer the questions of a part of a method that does nothing but ask, such as Algorithm 1.

    Args:
        play: Part of a method.
        person: Answers the questions.
        on_turn: Called after every answer, so that none is lost if the conversation is interrupted.

    Returns:
        What the part of the method returns.
    """
    seen = CliprObservation((), ())
    try:
        said = next(play)
        while True:
            if isinstance(said, AskPerson):
                answer = ask_person(person, said.question)
                seen = CliprObservation((), (), answer)
                if answer is not None:
                    on_turn(DialogueTurn(said.question.text, answer))
            said = play.send(seen)
    except StopIteration as ended:
        result: T = ended.value
        return result
