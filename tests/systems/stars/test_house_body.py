"""The tasks in a house in 3D: what is decided is the same, and a body does it."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai")

from housewise.agent.stars.data_files import TASKS
from housewise.agent.stars.oversight import SimulatedUser
from housewise.agent.stars.planning import goal_state, plan_actions
from housewise.systems.stars.house_body import HouseBody, build_house_task, load_stand_ins
from housewise.systems.stars.record import ManipulationEvent
from housewise.worlds.house.simulator import open_simulator
from housewise.worlds.kitchen.manipulation import ManipulationAction, apply_action
from tests.agent.stars.analysers import load_task_and_analyser
from tests.language.conftest import ChatServer, fails
from tests.systems.command_runs import asking, record_of, stars

IN_3D = ("--simulator", "raycast")


def body_in(name: str) -> HouseBody:
    task, analyser = load_task_and_analyser(name)
    house = build_house_task(task, analyser.language.vocabulary, load_stand_ins())
    return HouseBody(open_simulator("raycast", sensors=("instance",)), house, 20_000)


QUICKEST = "organize office"


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_all_that_a_person_wants_can_be_done_in_the_house(name: str) -> None:
    task, analyser = load_task_and_analyser(name)
    body, person, state = body_in(name), SimulatedUser(task), task.start()
    for about in task.objects:
        analysis = analyser.analyse_statement(person.states(about).sentence, task.situation.with_focus(about.thing))
        goal = goal_state(analysis) if analysis else None
        assert goal is not None
        for act in plan_actions(state, goal) or ():
            assert body.carry_out(act)[0] == ""
            state = apply_action(state, act)
    assert task.completion(state).percent == 100
    assert all(body.places[about.thing.name] in about.wanted for about in task.objects)


def test_a_body_has_to_be_there_and_says_why_not() -> None:
    body = body_in(QUICKEST)
    assert body.carry_out(ManipulationAction("go to", "desk"))[0] == ""
    assert body.carry_out(ManipulationAction("pick up", "pen")) == ("", 1)
    reason, _ = body.carry_out(ManipulationAction("put", "pen", "in", "bookshelf"))
    assert reason and body.places["pen"] is None
    assert body.carry_out(ManipulationAction("open", "bookshelf")) == ("too far away", 0)


def test_an_episode_in_3d_is_that_in_symbols_with_steps_of_a_body(server: ChatServer, tmp_path: Path) -> None:
    found: dict[str, Any] = {}
    for name, more in (("symbols", ()), ("house", IN_3D)):
        stars(*asking(server, *more, "--out", tmp_path / name))
        found[name] = record_of(tmp_path / name)
    acts = {name: [(act.act, act.done) for act in record.of_type(ManipulationEvent)] for name, record in found.items()}
    assert acts["house"] == acts["symbols"] and found["house"].result.final == found["symbols"].result.final
    scores = {name: record.result.scores for name, record in found.items()}
    assert scores["house"]["completion_percent"] == scores["symbols"]["completion_percent"] == 100
    taken = sum(act.steps for act in found["house"].of_type(ManipulationEvent))
    assert scores["house"]["steps"] == taken > scores["symbols"]["steps"] == len(acts["symbols"])


@pytest.mark.slow
def test_the_second_time_in_3d_needs_neither_model_nor_person(server: ChatServer, tmp_path: Path) -> None:
    kept = ("--memory", "ann", f"memory.folder={tmp_path / 'kept'}")
    stars(*asking(server, *kept, "memory.new=true", "--out", tmp_path / "first"))
    server.play(fails(500, "nobody was to ask"))
    stars(*asking(server, *kept, *IN_3D, "tasks.person=terminal", "--out", tmp_path / "second"))
    scores = record_of(tmp_path / "second").result.scores
    assert (scores["completion_percent"], scores["recalled"], scores["calls"], scores["words"]) == (100, 12, 0, 2)


def test_what_the_body_cannot_do_is_left_undone(server: ChatServer, tmp_path: Path, attic: Path) -> None:
    stars(*asking(server, f"task={attic}", *IN_3D, "max_steps=5", "--out", tmp_path / "run"))
    record = record_of(tmp_path / "run", "tidy-attic-run0")
    undone = [act.reason for act in record.of_type(ManipulationEvent) if not act.done]
    assert set(undone) == {"out of steps"} and record.result.scores["in_place"] == 0
    assert record.result.final["places"] == {"pen": "desk", "novel": "desk"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("objects: {thing: [1, 1, 1]}\nfurniture: {thing: {shape: cave, size: [1, 1, 1]}}", "no furniture shape"),
        ("objects: {pen: [1, 1, 1]}\nfurniture: {thing: {shape: bed, size: [1, 1, 1]}}", "thing is missing"),
        ("objects: {thing: [9, 1, 9]}\nfurniture: {thing: {shape: bed, size: [1, 1, 1]}}", "does not fit on desk"),
        ("objects: {thing: [1, 1, 0]}\nfurniture: {thing: {shape: bed, size: [1, 1, 1]}}", "objects.thing.2"),
    ],
)
def test_stand_ins_that_cannot_be_are_one_line(server: ChatServer, tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"name: mine\n{content}\n")
    words = asking(server, *IN_3D, f"stand_ins={path}", "--out", tmp_path / "run")
    complaint = stars(*words, code=2)
    assert said in complaint and complaint.count("\n") == 1
