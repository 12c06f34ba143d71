"""Runs with the prompt of notes and a server: rules once for a memory, judgements as JSON or in lines."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("openai")

from housewise.people.house.reaction_notes import reaction_note
from housewise.people.memory import Memory, MemoryFolder
from housewise.rollout.record_reader import read_records
from housewise.rollout.run import Run
from housewise.systems.personalize.record import PlanEvent, SummaryEvent
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize
from housewise.worlds.house.spoken_names import SpokenPlace
from tests.language.conftest import Body, ChatServer, Handler, completion


@pytest.fixture
def folder(tmp_path: Path) -> MemoryFolder:
    memories = MemoryFolder(tmp_path / "memories")
    shelf = SpokenPlace("shelf", "kitchen")
    memories.save(Memory("ada", [reaction_note("ada", thing, shelf, True) for thing in ("umbrella", "trombone")]))
    return memories


class Answers:
    """A model that knows what it is asked.

    Args:
        rules: What it answers when asked for rules.
        refuses_json: Whether its server refuses JSON schemas, so that it answers in lines.
    """

    def __init__(self, rules: str = "- Umbrellas belong on the shelf.", refuses_json: bool = False) -> None:
        self.rules, self.refuses_json = rules, refuses_json

    def __call__(self, handler: Handler, body: Body) -> None:
        told = body["messages"][-1]["content"]
        if self.refuses_json and "response_format" in body:
            handler.reply(400, {"error": {"message": "response_format is not supported"}})
        elif "Which rules" in told:
            handler.reply(200, completion(self.rules))
        elif "Answer in JSON alone" in told:
            listed = told.partition("Where does each of these objects belong?\n")[2]
            things = re.findall(r"^(.+?), which", listed, re.MULTILINE)
            lines = "\n".join(f"{thing}: fine" for thing in things)
            handler.reply(200, completion(lines if self.refuses_json else json.dumps(dict.fromkeys(things, "fine"))))
        else:
            rooms = re.findall(r"^(.+ \d+) has no receptacles", told, re.MULTILINE)
            handler.reply(200, completion(f"step 1: go to {rooms[0]}" if rooms else "mission complete"))


def play(
    server: ChatServer, folder: MemoryFolder, out: Path, houses: int = 2, **judging: bool
) -> list[list[PlanEvent]]:
    """The plans of each episode of a run."""
    memory = {"start": "ada", "folder": str(folder.root), "learn": "never", "meaning": False}
    model = {"model": "m", "base_url": server.url, "prompt": "notes", "temperature": 0.0}
    limits = {"houses": houses, "max_plans": 4, "max_steps": 300, "seed": 3, "misplaced": [3, 3], "objects": [12, 12]}
    Run(Personalize(house_settings(settings={**model, **limits, "memory": memory, "judging": judging})), out).play()
    return [record.of_type(PlanEvent) for record in read_records(out / "episodes")]


def summaries(out: Path) -> list[tuple[tuple[str, ...], str]]:
    return [
        (event.rules, event.problem)
        for record in read_records(out / "episodes")
        for event in record.of_type(SummaryEvent)
    ]


@pytest.mark.slow
def test_rules_are_asked_for_once_in_a_run_and_in_the_next(
    server: ChatServer, folder: MemoryFolder, tmp_path: Path
) -> None:
    server.play(Answers())
    plans = play(server, folder, tmp_path / "first")
    assert len(plans) == 2 and len(plans[0]) > 1
    play(server, folder, tmp_path / "second", houses=1)
    asked = [body for body in server.requests if "Which rules" in body["messages"][-1]["content"]]
    assert len(asked) == 1
    found = (("Umbrellas belong on the shelf.",), "")
    assert summaries(tmp_path / "first") == [found, found] and summaries(tmp_path / "second") == [found]
    assert [len(each[0].prior_calls) for each in plans] == [1, 0]
    for plan in (plan for each in plans for plan in each):
        assert '- "Umbrellas belong on the shelf."' in plan.prompt[1]["content"]
    # What was learned or forgotten since changes the rules.
    with folder.edit_memory("ada") as memory:
        memory.forget(memory.notes[0].id)
    play(server, folder, tmp_path / "third", houses=1)
    asked = [body for body in server.requests if "Which rules" in body["messages"][-1]["content"]]
    assert len(asked) == 2 and asked[0] != asked[1]


def test_a_record_says_that_there_are_no_rules(server: ChatServer, folder: MemoryFolder, tmp_path: Path) -> None:
    server.play(Answers("I would rather not say."))
    plans = play(server, folder, tmp_path / "run", houses=1)
    assert summaries(tmp_path / "run") == [((), "the reply has no usable rule")]
    assert not any("Rules that sum up" in plan.prompt[1]["content"] for plan in plans[0])


@pytest.mark.parametrize("refuses_json", [False, True])
def test_any_server_judges(refuses_json: bool, server: ChatServer, folder: MemoryFolder, tmp_path: Path) -> None:
    server.play(Answers(refuses_json=refuses_json))
    (plans,) = play(server, folder, tmp_path / "run", houses=1, as_json=True)
    judged = [plan for plan in plans if "is where it belongs." in plan.prompt[1]["content"]]
    assert judged
    for plan in judged:
        reply = plan.prior_calls[-1].reply
        assert reply.startswith("{") != refuses_json
        things = {thing for places in plan.scene_graph.values() for objects in places.values() for thing in objects}
        assert all(f"{thing} is where it belongs." in plan.prompt[1]["content"] for thing in things)
    formats = ["response_format" in body for body in server.requests if "Answer in JSON" in str(body["messages"])]
    assert formats.count(True) == (1 if refuses_json else len(formats))
