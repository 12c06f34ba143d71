"""The person: asked again and told why, understood in few words, and in many."""

import pytest

from housewise.agent.stars.analysis_and_repair import GoalAnalyser
from housewise.agent.stars.data_files import build_task, load_robot, load_vocabulary
from housewise.agent.stars.goal_grammar import GoalLanguage
from housewise.agent.stars.lessons import GoalQuestion, GoalRequest, StatedGoal
from housewise.agent.stars.oversight import RespondentUser, SimulatedUser, TerminalOversightUser
from housewise.people.terminal_respondent import TerminalRespondent
from housewise.systems.stars.earlier_replies import EarlierReplies
from housewise.systems.stars.record import GoalAnswerEvent
from housewise.systems.stars.world import RoomWorld
from tests.agent.stars.analysers import load_task_and_analyser


def test_a_terminal_user_is_asked_again_and_told_why() -> None:
    task, analyser = load_task_and_analyser("organize office")
    said = iter([
        "put it away", "If the object is a pen then the goal is that the object is in the drawer.",
        "x" * 1_000_000,
    ])  # fmt: skip
    asked: list[str] = []
    person = TerminalRespondent(lambda question: asked.append(question) or next(said))  # type: ignore[func-returns-value]
    user = RespondentUser(person, analyser, task)
    stated = user.states(task["folder"])
    assert "no goal that I understand" in asked[1] and "about a pen" in asked[2]
    assert len(stated.utterances) == 3 and stated.utterances[0] == "put it away"


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
    task, analyser = load_task_and_analyser("organize office")
    found = RespondentUser(TerminalRespondent(lambda question: said), analyser, task).states(task["pen"])
    assert found.sentence == f"If the object is a pen then the goal is that the object is {goal}"
    assert found.utterances == (said,)


def test_the_words_of_a_person_are_recorded_and_restored_beside_the_goal() -> None:
    task, analyser = load_task_and_analyser("organize office")
    words = iter(["put it away", "drawer"])
    user = RespondentUser(TerminalRespondent(lambda question: next(words)), analyser, task)
    learner = None  # only scores need it
    played = [RoomWorld(task, learner, user, EarlierReplies(())).step(GoalRequest(task["pen"]))]  # type: ignore[arg-type]
    resumed = EarlierReplies(played[0].events)
    played.append(RoomWorld(task, learner, user, resumed).step(GoalRequest(task["pen"])))  # type: ignore[arg-type]
    for step in played:
        [answer] = step.events
        assert isinstance(answer, GoalAnswerEvent) and answer.said == ["put it away", "drawer"]
        assert answer.text == "If the object is a pen then the goal is that the object is in the drawer"
        assert step.observation.said == StatedGoal(answer.text, ("put it away", "drawer"))


def test_a_goal_in_answer_to_yes_or_no_is_restored() -> None:
    task, analyser = load_task_and_analyser("organize office")
    question = GoalQuestion(
        task["pen"], "The goal is that the pen is on the desk.", analyser.analyse("", task.situation)
    )
    words = iter(["desk drawer", "drawer"])
    user = TerminalOversightUser(TerminalRespondent(lambda asked: next(words)), analyser, task)
    first = RoomWorld(task, None, user, EarlierReplies(())).step(question)  # type: ignore[arg-type]
    again = RoomWorld(task, None, user, EarlierReplies(first.events)).step(question)  # type: ignore[arg-type]
    goal = "If the object is a pen then the goal is that the object is in the drawer"
    assert first.observation.said == again.observation.said == StatedGoal(goal, ("desk drawer", "drawer"))


def test_the_simulated_user_states_a_goal_on_a_surface() -> None:
    mug = {"name": "mug", "kind": "cup", "wanted": ["shelf"]}
    places = [{"place": "table", "relation": "on", "subtask": "clear", "objects": [mug]}]
    content = {"name": "tidy shed", "room": "kitchen", "fixtures": ["table", "shelf"], "places": places}
    task, vocabulary = build_task(content, load_vocabulary(), "shed.yaml")
    analyser, about = GoalAnalyser(GoalLanguage(vocabulary), load_robot()), task["mug"]
    sentence = SimulatedUser(task).states(about).sentence
    analysis = analyser.analyse_statement(sentence, task.situation.with_focus(about.thing))
    assert analysis is not None and analysis.viable
    assert SimulatedUser(task).confirms(GoalQuestion(about, "", analysis))


def test_a_wider_grammar_takes_what_people_say() -> None:
    task, analyser = load_task_and_analyser("organize office", "wide")
    person = TerminalRespondent(lambda question: "put the pen in the drawer and close it")
    found = RespondentUser(person, analyser, task).states(task["pen"]).sentence
    assert found == "If the object is a pen then put the pen in the drawer and close it"
    analysis = analyser.analyse_statement(found, task.situation.with_focus(task["pen"].thing))
    assert analysis is not None and SimulatedUser(task).confirms(GoalQuestion(task["pen"], found, analysis))
