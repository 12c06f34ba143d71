"""A person at the terminal: what counts as an answer, and what of a question reaches the terminal."""

from __future__ import annotations

import io
import sys

import pytest

from housewise.people.respondent import Question, RespondentLeft
from housewise.people.terminal_respondent import MAX_ANSWER_CHARACTERS, TerminalRespondent, match_option

FRUIT = ("apple", "apricot", "Pear")


@pytest.mark.parametrize(
    ("said", "option"),
    [
        ("apple", 0), ("APRICOT.", 1), ("3", 2), ("p", 2), (" pear ! ", 2),
        ("ap", None), ("", None), ("0", None), ("4", None), ("9" * 5000, None), ("-1", None), ("apple pie", None),
        ("²", None),
    ],
)  # fmt: skip
def test_an_option_is_said_by_name_number_or_beginning(said: str, option: int | None) -> None:
    assert match_option(said, FRUIT) == option


def test_a_question_is_put_again_until_it_is_answered() -> None:
    asked: list[str] = []
    said = iter(["kiwi", "pear"])
    person = TerminalRespondent(lambda text: asked.append(text) or next(said))  # type: ignore[func-returns-value]
    answer = person.answer(Question("Which?", FRUIT))
    assert (answer.text, answer.option) == ("pear", 2) and asked == ["Which? (apple/apricot/Pear) "] * 2
    assert TerminalRespondent(lambda text: "kiwi").answer(Question("Which?", FRUIT)).option is None


def test_what_would_make_the_terminal_do_something_does_not_reach_it() -> None:
    asked: list[str] = []
    person = TerminalRespondent(lambda text: asked.append(text) or "\x1b[2J hi\r\n")  # type: ignore[func-returns-value]
    assert person.answer(Question("\x1b]0;title\x07 Where?")).text == "[2J hi"
    assert "\x1b" not in asked[0] and "\x07" not in asked[0]


def test_a_line_of_a_megabyte_is_one_short_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("x" * 1_000_000 + "\nnext\n"))
    person = TerminalRespondent()
    assert len(person.answer(Question("Where?")).text) <= MAX_ANSWER_CHARACTERS
    assert person.answer(Question("And then?")).text == "next"
    with pytest.raises(RespondentLeft, match="nobody answers at this terminal"):
        person.answer(Question("And now?"))
