"""The respondent at the terminal: accepted answers, and safe output of questions."""

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
def test_an_option_is_matched_by_name_number_or_beginning(said: str, option: int | None) -> None:
    assert match_option(said, FRUIT) == option


def test_a_question_is_repeated_until_the_answer_is_an_option() -> None:
    asked: list[str] = []
    said = iter(["kiwi", "", "in the drawer", "pear"])
    person = TerminalRespondent(lambda text: asked.append(text) or next(said))  # type: ignore[func-returns-value]
    answer = person.answer(Question("Which?", FRUIT))
    again = "Please answer apple or apricot or Pear. Which? (apple/apricot/Pear) "
    assert (answer.text, answer.option) == ("pear", 2) and asked == [
        "Which? (apple/apricot/Pear) ",
        again,
        again,
        again,
    ]


def test_control_characters_do_not_reach_the_terminal() -> None:
    asked: list[str] = []
    person = TerminalRespondent(lambda text: asked.append(text) or "\x1b[2J hi\r\n")  # type: ignore[func-returns-value]
    assert person.answer(Question("\x1b]0;title\x07 Where?")).text == "[2J hi"
    assert "\x1b" not in asked[0] and "\x07" not in asked[0]


def test_a_long_line_becomes_one_short_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("x" * 1_000_000 + "\nnext\n"))
    person = TerminalRespondent()
    assert len(person.answer(Question("Where?")).text) <= MAX_ANSWER_CHARACTERS
    assert person.answer(Question("And then?")).text == "next"
    with pytest.raises(RespondentLeft, match="nobody answers at this terminal"):
        person.answer(Question("And now?"))
