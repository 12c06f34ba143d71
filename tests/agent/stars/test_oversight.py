"""The person: asked again and told why, understood in few words, and in many."""

from __future__ import annotations

import pytest

from housewise.agent.stars.analysis import Analyser
from housewise.agent.stars.language import Language
from housewise.agent.stars.oversight import AskedUser, Question, SimulatedUser, stated_goal
from housewise.agent.stars.settings import load_robot, load_task
from housewise.agent.stars.tasks import Task
from housewise.people.terminal_respondent import TerminalRespondent


def office() -> tuple[Task, Analyser]:
    task, vocabulary = load_task("organize office")
    return task, Analyser(Language(vocabulary), load_robot())


def test_a_terminal_user_is_asked_again_and_told_why() -> None:
    task, analyser = office()
    said = iter([
        "put it away", "If the object is a pen then the goal is that the object is in the drawer.",
        "x" * 1_000_000,
    ])  # fmt: skip
    asked: list[str] = []
    person = TerminalRespondent(lambda question: asked.append(question) or next(said))  # type: ignore[func-returns-value]
    user = AskedUser(person, analyser, task)
    user.states(task["folder"])
    assert "no goal that I understand" in asked[1] and "about a pen" in asked[2]


@pytest.mark.parametrize(
    ("said", "goal"),
    [
        ("drawer", "in the drawer"),
        ("in the drawer and the drawer is closed", "in the drawer and the drawer is closed"),
        ("desk", "on the desk"),
        ("If the object is a pen then the goal is that the object is on the desk.", "on the desk."),
    ],
)
def test_a_place_alone_is_made_a_sentence_of(said: str, goal: str) -> None:
    task, analyser = office()
    found = AskedUser(TerminalRespondent(lambda question: said), analyser, task).states(task["pen"])
    assert found == f"If the object is a pen then the goal is that the object is {goal}"


def test_a_wider_grammar_takes_what_people_say() -> None:
    task, vocabulary = load_task("organize office")
    analyser = Analyser(Language(vocabulary, "wide"), load_robot())
    person = TerminalRespondent(lambda question: "put the pen in the drawer and close it")
    found = AskedUser(person, analyser, task).states(task["pen"])
    assert found == "If the object is a pen then put the pen in the drawer and close it"
    analysis = stated_goal(found, task["pen"], analyser, task)
    assert analysis is not None and SimulatedUser(task).confirms(Question(task["pen"], found, analysis))
