"""STARS as a user plays it: commands in processes of their own, a chat server, a local model."""

from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("openai")

from housewise.people.memory import MemoryFolder
from housewise.rollout.record_reader import read_record
from housewise.systems.stars.record import GoalEvent, RepairEvent, RetrievedEvent, SelectionEvent
from tests.language.conftest import ChatServer
from tests.systems.command_runs import ATTIC, asking, record_of, stars
from tests.systems.stars.housekeeper_server import housekeeper


def test_an_episode_is_recorded_object_by_object_and_learned_in_notes(server: ChatServer, tmp_path: Path) -> None:
    told = stars(*asking(server, "condition=STARS+O", "--out", tmp_path / "run"))
    assert "completion 100 %" in told
    record = record_of(tmp_path / "run")
    events = [event.type for event in record.events]
    first = events[: events.index("object", 1)]
    assert first[0] == "object" and first[-1] == "action"
    order = ["object", "retrieved", "repair", "selection", "question", "answer", "goal", "plan", "note", "action"]
    assert list(dict.fromkeys(first)) == order
    retrieved = record.of_type(RetrievedEvent)[0].responses
    [closet, drawer] = sorted(retrieved, key=lambda line: -line.probability)
    assert closet.mismatches[0].kind == "unknown-word" and closet.mismatches[0].what == "closet"
    assert drawer.text == "the goal is that the pen is in the drawer and the drawer is closed" and drawer.viable
    repair = record.of_type(RepairEvent)[0]
    assert repair.refused_goal == closet.text and repair.reason == "I do not know the word closet" and repair.depth == 1
    # What the server has no place for is stated by the person.
    by = Counter(event.source for event in record.of_type(GoalEvent))
    assert set(by) == {"model", "person"} and by["model"] == 7
    scores = record.result.scores
    assert scores["sourced"] == 7 and scores["stated"] == 5 and scores["objects_percent"] == 100
    assert record.result.usage.prompt_tokens == 100 * len(server.requests) == 100 * scores["calls"]
    assert record.header.models == {"agent": "m"} and record.header.agent == "STARS+O"
    goals = [note for note in MemoryFolder(tmp_path / "run" / "memory").load("simulated").notes if note.about.task]
    assert len(goals) == 12 and {note.kind for note in goals} == {"goal"}
    pen = next(note for note in goals if note.about.things == ("pen",))
    assert (pen.about.subtask, pen.about.situation) == ("clear", "desk (stationery)")
    assert isinstance(pen.value, str) and "put <object> in drawer; close drawer" in pen.value


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("TBP", {"retrieved": 12, "proposed": 0}),
        ("ST", {"viable_percent": 50, "proposed": 0}),
        ("STAR", {"sourced": 12, "objects_percent": 7 / 12 * 100}),
        ("TBP+O", {"completion_percent": 100}),
        ("STAR+O", {"completion_percent": 100}),
    ],
)
def test_conditions_are_played_by_name(
    server: ChatServer, tmp_path: Path, condition: str, wanted: dict[str, float]
) -> None:
    stars(*asking(server, f"condition={condition}", "memory.learn=never", "--out", tmp_path / "run"))
    scores = record_of(tmp_path / "run").result.scores
    assert {name: scores[name] for name in wanted} == pytest.approx(wanted)


def test_a_model_selects_with_hints_or_without(server: ChatServer, tmp_path: Path) -> None:
    server.play(housekeeper(also="bookshelf"))
    for condition in ("STARS", "STARS*"):
        asked = len(server.requests)
        out = tmp_path / condition.replace("*", "_hints")
        stars(*asking(server, f"condition={condition}", "selection=numbered", "--out", out))
        selections = [event for event in record_of(out).of_type(SelectionEvent) if event.answer is not None]
        assert selections and all(event.answer.strip() == "1" and len(event.options) > 1 for event in selections)  # type: ignore[union-attr]
        assert all(event.chosen == event.options[0] and not event.fallback for event in selections)
        hinted = ["have been used" in body["messages"][0]["content"] for body in server.requests[asked:]]
        assert sum(hinted) == (len(selections) if condition == "STARS*" else 0)


def test_a_server_without_log_probabilities_is_drawn_from(server: ChatServer, tmp_path: Path) -> None:
    server.play(housekeeper(logprobs=False))
    stars(*asking(server, "condition=STARS+O", "--out", tmp_path / "run"))
    record = record_of(tmp_path / "run")
    assert record.result.scores["completion_percent"] == 100
    lines = [line for event in record.of_type(RetrievedEvent) for line in event.responses]
    assert lines and all(line.probability == 1 for line in lines)
    assert {body["temperature"] for body in server.requests} == {0.0, 0.9, 1.0}


@pytest.mark.slow
def test_endless_text_of_a_server_is_cut_and_not_understood(server: ChatServer, tmp_path: Path) -> None:
    server.play(lambda handler, body: handler.reply(200, {"choices": [{"message": {"content": "mug " * 100_000}}]}))
    stars(*asking(server, "condition=STAR", "--out", tmp_path / "run"))
    record = record_of(tmp_path / "run")
    assert record.result.scores["viable_percent"] == 0 and record.result.scores["objects_percent"] == 0
    assert (tmp_path / "run" / "episodes" / "organize-office-run0.jsonl").stat().st_size < 100_000


def test_several_workers_play_several_tasks_where_nothing_is_learned_meanwhile(
    server: ChatServer, tmp_path: Path
) -> None:
    tasks = "task=[organize office,store groceries]"
    stars(*asking(server, tasks, "--workers", "4", "repeats=2", "memory.learn=run", "--out", tmp_path / "run"))
    scores = [read_record(path).result.scores for path in (tmp_path / "run" / "episodes").glob("*.jsonl")]
    assert len(scores) == 4 and all(each["completion_percent"] == 100 and each["recalled"] == 0 for each in scores)
    assert len(MemoryFolder(tmp_path / "run" / "memory").load("simulated")) > 27


def test_a_local_model_is_asked_offline(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from tests.language.tiny import save_tiny_model

    path, model = tmp_path / "attic.yaml", save_tiny_model(tmp_path / "model")
    path.write_text(ATTIC)
    for condition, retrieved in (("STARS+O", None), ("grounded+S+O", 8)):
        out = tmp_path / condition
        words = (f"condition={condition}", "--model", f"local:{model}", "max_goal_tokens=4", "max_calls=20")
        stars(f"task={path}", *words, "--out", out)
        record = record_of(out, "tidy-attic-run0")
        scores = record.result.scores
        assert scores["completion_percent"] == 100 and scores["calls"] > 0 < record.result.usage.prompt_tokens
        assert retrieved is None or (scores["retrieved"], scores["viable_percent"]) == (retrieved, 100)
