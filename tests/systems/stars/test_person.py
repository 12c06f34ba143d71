"""Who is asked in STARS: at the terminal, by a model, once and not again, whatever becomes of the run."""

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai")

from housewise.people.memory import MemoryFolder
from housewise.systems.stars.record import GoalAnswerEvent
from tests.commands import started_module
from tests.language.conftest import ChatServer, fails
from tests.systems.command_runs import ATTIC, GOAL, asking, environment, record_of, stars
from tests.systems.stars.housekeeper_server import housekeeper


def test_a_person_at_the_terminal_is_asked_and_understood(server: ChatServer, tmp_path: Path, attic: Path) -> None:
    said = ["perhaps", "Y", "rubbish " * 140_000, GOAL.format("pen", "drawer"), GOAL.format("novel", "bookshelf")]
    words = (f"task={attic}", "--person", "terminal", "--out", tmp_path / "run")
    told = stars(*asking(server, *words), input="\n".join(said) + "\n")
    assert told.count("For pen on desk: is it right that") == 2
    assert "That is no goal that I understand. What is the goal for novel on desk?" in told
    assert "That is about a pen." in told
    record = record_of(tmp_path / "run", "tidy-attic-run0")
    assert record.result.scores["completion_percent"] == 100 and record.header.person == "terminal"
    answers = record.of_type(GoalAnswerEvent)
    assert [event.text for event in answers] == ["yes", said[-1]]
    assert not answers[0].said and answers[1].said == [said[2][:2000].strip(), *said[-2:]]
    assert {note.person for note in MemoryFolder(tmp_path / "run" / "memory").load("terminal").notes} == {"terminal"}


@pytest.mark.slow
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
    assert [event.text for event in record.of_type(GoalAnswerEvent)] == said
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
    said = [event.text for event in record.of_type(GoalAnswerEvent)]
    assert said == ["yes", GOAL.format("novel", "bookshelf")[:-1]]
    assert not list((tmp_path / "run" / "episodes").glob("*.failed"))


def test_models_are_not_asked_again_for_what_is_in_the_record_of_a_killed_run(
    server: ChatServer, tmp_path: Path
) -> None:
    words = asking(server, "condition=STARS", "--out", tmp_path / "run")
    with started_module("housewise", ["run", "--system", "stars", *words], environment()) as program:
        while len(server.requests) < 30 and program.poll() is None:
            time.sleep(0.005)
    stars(*words)
    asked = [body["messages"][-1]["content"].rpartition("Seen: ") for body in server.requests]
    again = {seen.split()[0] for (_, _, seen), count in Counter(asked).items() if count > 1}
    # What was being asked when it was killed, and nothing else.
    assert len(again) <= 1
    scores = record_of(tmp_path / "run").result.scores
    assert scores["sourced"] == 12 and len(set(asked)) == scores["calls"]


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


def test_a_model_may_play_the_person(server: ChatServer, tmp_path: Path, attic: Path) -> None:
    def answer(handler: Any, body: Any) -> None:
        told = body["messages"][0]["content"]
        if "You live in this home" not in told:
            return housekeeper()(handler, body)
        text = body["messages"][-1]["content"]
        said = "Yes, it is." if "is it right" in text else GOAL.format(text.split(" on ")[0].split()[-1], "bookshelf")
        handler.reply(200, {"choices": [{"message": {"content": said}}]})

    server.play(answer)
    person = ("tasks.person=model", "models.person.model=p", f"models.person.base_url={server.url}")
    sampling = "models.person.sampling.temperature=0.5"
    stars(*asking(server, f"task={attic}", *person, sampling, "--out", tmp_path / "run"))
    record = record_of(tmp_path / "run", "tidy-attic-run0")
    assert {body["temperature"] for body in server.requests if body["model"] == "p"} == {0.5}
    assert record.result.scores["completion_percent"] == 100 and record.header.models == {"agent": "m", "person": "p"}
    [told] = {body["messages"][0]["content"] for body in server.requests if body["model"] == "p"}
    assert "- novel on desk: bookshelf" in told
