"""STARS as a user plays it: commands in processes of their own, a chat server, a person at the terminal."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai")

from housewise.agent.personalize.knowledge import Remembered
from housewise.people.householder import Place
from housewise.people.memory import MemoryFolder
from housewise.rollout.records import read_record
from housewise.systems.stars.record import AnswerEvent, GoalEvent, RepairEvent, RetrievedEvent, SelectionEvent
from housewise.systems.stars.system import Stars
from tests.commands import run_module
from tests.language.conftest import ChatServer, fails
from tests.systems.stars.server import housekeeper

NEVER = "http://127.0.0.1:1/v1"
"""Where nothing answers."""
GOAL = "If the object is a {} then the goal is that the object is in the {}."


def environment(**more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("HOUSE", "OPENAI"))}
    return kept | {"COLUMNS": "200", "OMP_NUM_THREADS": "1"} | more


def stars(*words: object, code: int = 0, input: str = "") -> str:
    """Run a command; its output, or what it complains of."""
    done = run_module("housewise", ["run", "--system", "stars", *words], environment(), input=input)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr if code else done.stdout


def asking(server: ChatServer, *words: object) -> list[object]:
    return ["--model", "m", "--base-url", server.url, *words]


def record_of(folder: Path, name: str = "organize-office-run0") -> Any:
    return read_record(folder / "episodes" / f"{name}.jsonl")


@pytest.fixture
def server() -> Iterator[ChatServer]:
    import threading

    with ChatServer() as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        made.play(housekeeper())
        yield made
        made.shutdown()


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
    assert repair.wrong == closet.text and repair.reason == "I do not know the word closet" and repair.depth == 1
    # What the server has no place for is stated by the person.
    by = Counter(event.by for event in record.of_type(GoalEvent))
    assert set(by) == {"model", "person"} and by["model"] == 7
    scores = record.result.scores
    assert scores["sourced"] == 7 and scores["stated"] == 5 and scores["objects_percent"] == 100
    assert record.result.usage.prompt_tokens == 100 * len(server.requests) == 100 * scores["calls"]
    assert record.header.models == {"agent": "m"} and record.header.agent == "STARS+O"
    goals = [note for note in MemoryFolder(tmp_path / "run" / "memory").load("simulated").notes if note.about.task]
    assert len(goals) == 12 and {note.kind for note in goals} == {"goal"}
    pen = next(note for note in goals if note.about.things == ("pen",))
    assert pen.about.situation == "clear: desk"
    assert isinstance(pen.value, str) and "put <object> in drawer; close drawer" in pen.value


def test_trial_2_in_another_process_asks_no_model_and_nobody(server: ChatServer, tmp_path: Path) -> None:
    kept = ("--memory", "ann", f"memory.folder={tmp_path / 'kept'}")
    stars(*asking(server, *kept, "memory.new=true", "--out", tmp_path / "first"))
    asked = len(server.requests)
    server.play(fails(500, "nobody was to ask"))
    stars(*asking(server, *kept, "tasks.person=terminal", "--out", tmp_path / "second"))
    # A model that there is not is not opened either, local or behind a server.
    stars(*kept, "--model", tmp_path / "none", "--base-url", NEVER, "--out", tmp_path / "third")
    stars(*kept, "--model", f"local:{tmp_path / 'none'}", "--out", tmp_path / "fourth")
    assert len(server.requests) == asked
    for name in ("second", "third", "fourth"):
        record = record_of(tmp_path / name)
        scores, types = record.result.scores, Counter(event.type for event in record.events)
        assert (scores["completion_percent"], scores["recalled"], scores["calls"], scores["words"]) == (100, 12, 0, 2)
        assert record.result.usage.prompt_tokens == 0 and set(types) == {"object", "recalled", "goal", "plan", "action"}


def test_a_second_run_of_the_same_command_recalls_and_a_third_plays_nothing(server: ChatServer, tmp_path: Path) -> None:
    words = asking(server, "condition=STARS+O", "runs=2", "--out", tmp_path / "run")
    stars(*words)
    asked = len(server.requests)
    first, second = (record_of(tmp_path / "run", f"organize-office-run{run}") for run in range(2))
    assert first.result.scores["calls"] == asked and second.result.scores["recalled"] == 12
    stars(*words)
    assert len(server.requests) == asked


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


def test_endless_text_of_a_server_is_cut_and_not_understood(server: ChatServer, tmp_path: Path) -> None:
    server.play(lambda handler, body: handler.reply(200, {"choices": [{"message": {"content": "mug " * 200_000}}]}))
    stars(*asking(server, "condition=STAR", "--out", tmp_path / "run"))
    record = record_of(tmp_path / "run")
    assert record.result.scores["viable_percent"] == 0 and record.result.scores["objects_percent"] == 0
    assert (tmp_path / "run" / "episodes" / "organize-office-run0.jsonl").stat().st_size < 100_000


def test_several_workers_play_several_tasks_where_nothing_is_learned_meanwhile(
    server: ChatServer, tmp_path: Path
) -> None:
    tasks = "task=[organize office,store groceries]"
    stars(*asking(server, tasks, "--workers", "4", "runs=2", "memory.learn=run", "--out", tmp_path / "run"))
    scores = [read_record(path).result.scores for path in (tmp_path / "run" / "episodes").glob("*.jsonl")]
    assert len(scores) == 4 and all(each["completion_percent"] == 100 and each["recalled"] == 0 for each in scores)
    assert len(MemoryFolder(tmp_path / "run" / "memory").load("simulated")) > 27


def test_a_system_travels_to_other_machines_with_the_files_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "attic.yaml"
    path.write_text(ATTIC)
    system = Stars(Stars.load(overrides=[f"task={path}"]))
    [job] = system.jobs()
    path.unlink()
    there = pickle.loads(pickle.dumps(system))
    assert [task.name for task in there.tasks()] == ["tidy attic"] and pickle.loads(pickle.dumps(job)) == job


ATTIC = """
name: tidy attic
room: office
fixtures: [desk, drawer, bookshelf]
closed: [drawer]
places:
  - place: desk
    relation: "on"
    subtask: clear
    objects:
      - {name: pen, kind: stationery, wanted: [drawer]}
      - {name: novel, kind: book, wanted: [bookshelf]}
"""


def test_a_person_at_the_terminal_is_asked_and_understood(server: ChatServer, tmp_path: Path) -> None:
    path = tmp_path / "attic.yaml"
    path.write_text(ATTIC)
    said = ["perhaps", "Y", "rubbish " * 140_000, GOAL.format("pen", "drawer"), GOAL.format("novel", "bookshelf")]
    words = (f"task={path}", "--person", "terminal", "--out", tmp_path / "run")
    told = stars(*asking(server, *words), input="\n".join(said) + "\n")
    assert told.count("For pen on desk: is it right that") == 2
    assert "That is no goal that I understand. What is the goal for novel on desk?" in told
    assert "That is about a pen." in told
    record = record_of(tmp_path / "run", "tidy-attic-run0")
    assert record.result.scores["completion_percent"] == 100 and record.header.person == "terminal"
    assert [event.text for event in record.of_type(AnswerEvent)] == ["yes", said[-1]]
    assert {note.person for note in MemoryFolder(tmp_path / "run" / "memory").load("terminal").notes} == {"terminal"}


def test_nothing_is_asked_twice_where_the_terminal_ends_and_where_it_is_killed(
    server: ChatServer, tmp_path: Path
) -> None:
    path, out = tmp_path / "attic.yaml", tmp_path / "run"
    path.write_text(f"{ATTIC}      - {{name: folder, kind: stationery, wanted: [bookshelf]}}\n")
    words = asking(server, f"task={path}", "--person", "terminal", "--out", out)
    complaint = stars(*words, code=2, input="yes\n")
    assert "nobody answers at this terminal" in complaint and complaint.count("\n") == 1
    command = [sys.executable, "-m", "housewise", "run", "--system", "stars", *map(str, words)]
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())
    assert program.stdin is not None and program.stdout is not None
    program.stdin.write(GOAL.format("novel", "bookshelf") + "\n")
    program.stdin.flush()
    shown = ""
    while "What is the goal for folder" not in shown:
        shown += program.stdout.readline()
    program.send_signal(signal.SIGKILL)
    program.communicate()
    assert "For pen" not in shown and shown.count("What is the goal for novel") == 1
    told = stars(*words, input=GOAL.format("folder", "bookshelf") + "\n")
    assert told.count("What is the goal") == 1 and "is it right" not in told
    record = record_of(out, "tidy-attic-run0")
    said = ["yes", GOAL.format("novel", "bookshelf"), GOAL.format("folder", "bookshelf")]
    assert [event.text for event in record.of_type(AnswerEvent)] == said
    assert record.header.attempt == 2 and record.result.scores["completion_percent"] == 100
    prompts = Counter(body["messages"][-1]["content"] for body in server.requests)
    assert set(prompts.values()) == {1} and record.result.scores["calls"] == len(prompts)


def test_an_episode_that_failed_is_gone_on_with_where_it_failed(server: ChatServer, tmp_path: Path) -> None:
    path, answer = tmp_path / "attic.yaml", housekeeper()
    path.write_text(ATTIC)

    def refusing(handler: Any, body: Any) -> None:
        long = "novel" in json.dumps(body["messages"])
        fails(413, "too long")(handler, body) if long else answer(handler, body)

    server.play(refusing)
    words = asking(server, f"task={path}", "--person", "terminal", "--out", tmp_path / "run")
    complaint = stars(*words, code=3, input="yes\n")
    assert "1 of 1 episodes failed" in complaint and "413" in complaint
    assert len(list((tmp_path / "run" / "episodes").glob("*.failed"))) == 1
    asked = len(server.requests)
    server.play(answer)
    told = stars(*words, input="in the bookshelf\n")
    assert told.count("What is the goal for novel") == 1 and "pen on desk" not in told
    assert all("novel" in json.dumps(body["messages"]) for body in server.requests[asked:])
    record = record_of(tmp_path / "run", "tidy-attic-run0")
    said = [event.text for event in record.of_type(AnswerEvent)]
    assert said == ["yes", GOAL.format("novel", "bookshelf")[:-1]]
    assert not list((tmp_path / "run" / "episodes").glob("*.failed"))


def test_models_are_not_asked_again_for_what_is_in_the_record_of_a_killed_run(
    server: ChatServer, tmp_path: Path
) -> None:
    words = asking(server, "condition=STARS", "--out", tmp_path / "run")
    command = [sys.executable, "-m", "housewise", "run", "--system", "stars", *map(str, words)]
    program = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment())
    while len(server.requests) < 30:
        time.sleep(0.005)
    program.send_signal(signal.SIGKILL)
    program.wait()
    stars(*words)
    asked = [body["messages"][-1]["content"].rpartition("Seen: ") for body in server.requests]
    again = {seen.split()[0] for (_, _, seen), count in Counter(asked).items() if count > 1}
    # What was being asked when it was killed, and nothing else.
    assert len(again) <= 1
    scores = record_of(tmp_path / "run").result.scores
    assert scores["sourced"] == 12 and len(set(asked)) == scores["calls"]


def test_a_local_model_is_asked_offline(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from tests.language.tiny import save_tiny_model

    path, model = tmp_path / "attic.yaml", save_tiny_model(tmp_path / "model")
    path.write_text(ATTIC)
    for condition, retrieved in (("STARS+O", None), ("grounded+S+O", 8)):
        out = tmp_path / condition
        words = (f"condition={condition}", "--model", f"local:{model}", "most_tokens=4", "most_calls=20")
        stars(f"task={path}", *words, "--out", out)
        record = record_of(out, "tidy-attic-run0")
        scores = record.result.scores
        assert scores["completion_percent"] == 100 and scores["calls"] > 0 < record.result.usage.prompt_tokens
        assert retrieved is None or (scores["retrieved"], scores["viable_percent"]) == (retrieved, 100)


def test_a_person_who_contradicts_themselves_has_the_last_word(server: ChatServer, tmp_path: Path) -> None:
    path = tmp_path / "attic.yaml"
    path.write_text(ATTIC.replace("{name: novel, kind: book", "{name: pen, kind: stationery"))
    closed = " and the drawer is closed."
    said = ["no", GOAL.format("pen", "drawer")[:-1] + closed, "no", GOAL.format("pen", "bookshelf")]
    words = asking(server, f"task={path}", "--person", "terminal")
    stars(*words, "--memory", "ann", f"memory.folder={tmp_path / 'kept'}", "memory.new=true", "--out",
          tmp_path / "first", input="\n".join(said) + "\n")  # fmt: skip
    scores = record_of(tmp_path / "first", "tidy-attic-run0").result.scores
    # The second pen is like the first: what was said of that is recalled, and nobody is asked again.
    assert (scores["proposed"], scores["stated"], scores["recalled"]) == (1, 1, 1)
    kept = MemoryFolder(tmp_path / "kept").load("ann")
    assert [note.text for note in kept.notes if note.about.task] == [said[1]]


def test_a_goal_whose_fixture_is_gone_is_asked_for_again(server: ChatServer, tmp_path: Path) -> None:
    path = tmp_path / "attic.yaml"
    path.write_text(ATTIC)
    kept = ("--memory", "ann", f"memory.folder={tmp_path / 'kept'}")
    stars(*asking(server, f"task={path}", *kept, "memory.new=true", "--out", tmp_path / "first"))
    path.write_text(ATTIC.replace("desk, drawer, bookshelf", "desk, drawer").replace("[bookshelf]", "[drawer]"))
    asked = len(server.requests)
    stars(*asking(server, f"task={path}", *kept, "--out", tmp_path / "second"))
    scores = record_of(tmp_path / "second", "tidy-attic-run0").result.scores
    assert (scores["completion_percent"], scores["recalled"]) == (100, 1) and scores["instructions"] > 1
    assert all("novel" in json.dumps(body["messages"]) for body in server.requests[asked:])


KITCHEN = """
name: clear up
room: kitchen
fixtures: [table, dish rack, cupboard, pantry]
closed: [cupboard, pantry]
places:
  - place: table
    relation: "on"
    subtask: clear
    objects:
      - {name: cereal-box, kind: snack, wanted: [pantry]}
      - {name: mug, kind: vessel, wanted: [dish rack]}
  - place: dish rack
    relation: in
    subtask: unload
    objects:
      - {name: mug, kind: vessel, wanted: [cupboard]}
"""


def test_a_confirmed_place_of_a_kind_is_known_to_the_robot_in_houses(server: ChatServer, tmp_path: Path) -> None:
    path = tmp_path / "kitchen.yaml"
    path.write_text(KITCHEN)
    server.play(housekeeper({"cereal-box": "pantry", "mug": "cupboard"}))
    stars(*asking(server, f"task={path}", "--out", tmp_path / "run"))
    memory = MemoryFolder(tmp_path / "run" / "memory").load("simulated")
    places = {
        "kitchen 0 pantry 1": Place("pantry", "kitchen"),
        "kitchen 0 cupboard 2": Place("cupboard", "kitchen"),
        "bathroom 0 pantry 3": Place("pantry", "bathroom"),
    }
    known = Remembered(memory, places)
    assert known.wants("cereal box 1", "kitchen 0 pantry 1") is True
    assert known.wants("cereal box 1", "bathroom 0 pantry 3") is None
    # Where mugs belong depends on where they are found: that is for the task, not for the house.
    assert known.wants("mug 1", "kitchen 0 cupboard 2") is None
    assert len([note for note in memory.notes if note.about.things == ("mug",)]) == 2
    # Nothing that nobody confirmed is known.
    stars(*asking(server, f"task={path}", "condition=STARS", "--out", tmp_path / "alone"))
    alone = MemoryFolder(tmp_path / "alone" / "memory").load("simulated")
    assert len(alone) > 0 and all(note.text.startswith("Nobody confirmed: ") for note in alone.notes)
    assert all(note.about.task == "clear up" for note in alone.notes)


def test_forgetting_a_goal_forgets_the_place_that_follows_from_it(server: ChatServer, tmp_path: Path) -> None:
    stars(*asking(server, "--out", tmp_path / "run"))
    memory = MemoryFolder(tmp_path / "run" / "memory").load("simulated")
    goal = next(note for note in memory.notes if note.about.things == ("pen",) and note.about.task)
    assert {note.about.receptacle for note in memory.forget(goal.id)} == {None, "drawer"}


def test_an_edited_goal_is_followed_and_nonsense_in_a_note_is_not(server: ChatServer, tmp_path: Path) -> None:
    path = tmp_path / "attic.yaml"
    path.write_text(ATTIC)
    kept = ("--memory", "ann", f"memory.folder={tmp_path / 'kept'}")
    stars(*asking(server, f"task={path}", *kept, "memory.new=true", "--out", tmp_path / "first"))
    with MemoryFolder(tmp_path / "kept").changing("ann") as memory:
        pen, novel = (
            next(note for note in memory.notes if note.about.task and note.about.things == (kind,))
            for kind in ("pen", "novel")
        )
        memory.edit(pen.id, text=GOAL.format("pen", "bookshelf"))
        memory.edit(novel.id, text="rm -rf / ; go to bookshelf", value="explode bookshelf; put in on in on")
    server.play(fails(401, "only the novel may be asked about"))
    complaint = stars(*asking(server, f"task={path}", *kept, "--out", tmp_path / "second"), code=2)
    assert "only the novel may be asked about" in complaint
    server.play(housekeeper())
    stars(*asking(server, f"task={path}", *kept, "--out", tmp_path / "second"))
    record = record_of(tmp_path / "second", "tidy-attic-run0")
    assert record.result.final["places"] == {"pen": "bookshelf", "novel": "bookshelf"}
    assert record.result.scores["recalled"] == 1


def test_a_model_may_play_the_person(server: ChatServer, tmp_path: Path) -> None:
    def answer(handler: Any, body: Any) -> None:
        told = body["messages"][0]["content"]
        if "You live in this home" not in told:
            return housekeeper()(handler, body)
        text = body["messages"][-1]["content"]
        said = "Yes, it is." if "is it right" in text else GOAL.format(text.split(" on ")[0].split()[-1], "bookshelf")
        handler.reply(200, {"choices": [{"message": {"content": said}}]})

    server.play(answer)
    path = tmp_path / "attic.yaml"
    path.write_text(ATTIC)
    person = ("tasks.person=model", "models.person.model=p", f"models.person.base_url={server.url}")
    stars(*asking(server, f"task={path}", *person, "--out", tmp_path / "run"))
    record = record_of(tmp_path / "run", "tidy-attic-run0")
    assert record.result.scores["completion_percent"] == 100 and record.header.models == {"agent": "m", "person": "p"}
    [told] = {body["messages"][0]["content"] for body in server.requests if body["model"] == "p"}
    assert "- novel on desk: bookshelf" in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["condition=STARE"], "no condition STARE; did you mean"),
        (["questions=-1"], "setting questions"),
        (["sure=1.5"], "setting tree.sure"),
        (["mean=nan"], "setting tree.mean"),
        (["most_tokens=100000"], "setting most_tokens"),
        (["lead={thing}"], "setting lead"),
        (["lead={name.__class__.nope}"], "setting lead"),
        (["kinds=1e9"], "setting carry.kinds"),
        (["selection=dice"], "setting selection"),
        (["task=tidy attic"], "setting task: tidy attic: no such task"),
        (["task=[]"], "setting task"),
        (["task=[tidy kitchen,tidy kitchen]"], "each task once"),
        (["grammar=nope"], "nope: no such grammar"),
        (["--person", "nobody"], "setting person"),
        (["--person", "terminal", "--workers", "2"], "one person answers one episode at a time"),
        (["--person", "terminal", "condition=STARS"], "STARS asks nobody; choose STARS+O"),
        (["condition=grounded", "--model", "m", "--base-url", NEVER], "rates texts"),
    ],
)
def test_settings_that_cannot_be_are_one_line(tmp_path: Path, words: list[str], said: str) -> None:
    complaint = stars(*words, "--out", tmp_path / "run", code=2)
    assert said in complaint and complaint.count("\n") == 1


def test_files_of_the_user_that_cannot_be_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "attic.yaml"
    for change, said in (
        (("place: desk", "place: ''"), "field places.0.place"),
        (("place: desk", "place: sofa"), "object pen names sofa, which is no fixture here"),
        (("wanted: [drawer]", "wanted: []"), "object pen has no wanted"),
        (("kind: book", "kind: dragon"), "dragon is no kind"),
        (("name: tidy attic", f"name: {'a' * 99}"), "field name"),
    ):
        path.write_text(ATTIC.replace(*change))
        complaint = stars(f"task={path}", "--out", tmp_path / "run", code=2)
        assert said in complaint and complaint.count("\n") == 1
    words = tmp_path / "words.yaml"
    words.write_text("name: mine\nwords: {}\nkinds: {mug: {}}\nsynonyms: {cup: beaker, beaker: cup}\n")
    complaint = stars(f"vocabulary={words}", "--out", tmp_path / "run", code=2)
    assert "field synonyms: cup -> beaker -> cup is a circle" in complaint and complaint.count("\n") == 1
    path.write_text(ATTIC)
    other = tmp_path / "other.yaml"
    other.write_text(ATTIC)
    assert "name their tasks alike" in stars(f"task=[{path},{other}]", "--out", tmp_path / "run", code=2)


def test_a_task_that_has_changed_is_not_gone_on_with(server: ChatServer, tmp_path: Path) -> None:
    path = tmp_path / "attic.yaml"
    path.write_text(ATTIC)
    words = asking(server, f"task={path}", "runs=2", "--out", tmp_path / "run")
    stars(*words)
    path.write_text(ATTIC.replace("novel", "book"))
    assert "has changed since" in stars(*words, "runs=3", code=2)
