"""The lab at the terminal, by the commands that users run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from housewise.rollout.record_reader import read_record
from housewise.systems.basis.record import GuidanceEvent, LabActionEvent
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.state import ROOMS
from tests.in_process import call_housewise

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
NAMES = [kind.name for kind in KINDS.values() if not kind.is_common]


def play(lines, *arguments):
    return call_housewise("play", "lab", *arguments, input="".join(f"{line}\n" for line in lines), code=0).stdout


def replies(lines, *arguments):
    """What is printed below each of some lines."""
    parts = play([*lines, "quit"], *arguments).split("\n> ")[1:]
    return [" ".join(part.partition("\n")[2].split()) for part in parts]


@pytest.mark.parametrize("example", ["lab_make_carrot", "lab_fire_laser"])
def test_a_stranger_reaches_the_goal_by_what_the_assistant_says(example, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    command, *text = (EXAMPLES / f"{example}.txt").read_text(encoding="utf-8").splitlines()
    lines = [line.removeprefix("> ") for line in text if line.startswith("> ")]
    out = play(lines, *command.split()[4:])
    assert "You have done it" in out and out.splitlines() == text
    record = read_record(next((tmp_path / "runs").glob("*/episodes/*.jsonl")))
    actions = [event for event in record.events if isinstance(event, LabActionEvent)]
    assert actions[-1].subgoals[-1] == "goal" and all(event.status == "ActionSuccessful" for event in actions)
    assert any(isinstance(event, GuidanceEvent) and event.speech for event in record.events)


def test_nothing_is_shown_that_a_stranger_cannot_know():
    lines = [line for room in ROOMS for line in (f"go to the {room}", *["turn left 90"] * 4)]
    lines += ["go to the quantum lab", "go to the silver booth", "map"]
    out = " ".join(play(lines, "make_carrot", "--no-assistant").split()).lower()
    assert all(f"in the {room}" in out for room in ROOMS) and "silver booth" in out and "red button" in out
    assert [name for name in NAMES if re.search(rf"\b{re.escape(name.lower())}\b", out)] == []
    assert not re.search(r"\w_\d", out)


FREE = {
    "": "Type what you do or say, for example: go to the table",
    "dance": "I do not understand that. To tell the assistant, begin with say.",
    "say": "I do not understand that.",
    "take 77": "There is no 77 in the list",
    "take the banana": "You see nothing here that fits that. Turn",
    "take": "Which thing?",
    "put it on 2": "Your hand is empty. First take something",
    "turn left 30": "That can be done by 45 or 90 degrees.",
    "main office": "You are in the main office already.",
    "take the hammer in the warehouse": "First go there: go to the warehouse",
    "look at 2": "green table, 1.9 m ahead.",
    "map": "main office (you are here): green table",
    "Thanks a lot!": "You need not say that.",
    "hello": "To say it all the same, which takes an action, begin with say.",
    "goal": "Turn the banana into a carrot.",
    "picture lab.txt": "Name a file that ends in .png",
    "x" * 1_000_000: "has more than 2000 characters, and was ignored",
    "?": "say I want to break a bowl to the assistant",
}


def test_what_takes_no_action_is_answered_and_not_counted():
    *answers, left = replies([*FREE, "go\x00 to\x1b the warehouse"])[:-1]
    assert [line[:40] for line, answer in zip(FREE, answers, strict=True) if FREE[line] not in answer] == []
    assert left.startswith("[1 of 50] You go to the warehouse.")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("say thanks", "[1 of 50] You have said it. (Nobody answers.)"),
        ("take the table", "[1 of 50] That fails: That cannot be done with the table."),
        ("go to the table and take the mug", "One thing at a time: only the first is done. [1 of 50] You go to the"),
        ("go to 3", "[1 of 50] You go to the shelf."),
        ("Lobby", "[1 of 50] You go to the reception."),
        ("turn left", "[1 of 50] You turn left. You are in the main office, facing north."),
        ("turn around", "[2 of 50] You turn right. You are in the main office, facing southwest."),
    ],
)
def test_what_people_type_is_done(line, expected):
    assert expected in replies([line], "make_carrot", "--no-assistant")[0]


def test_which_one_is_meant_is_asked_and_answered_by_number_look_or_side():
    lines = ("quantum lab", "look at the computer", "9", "use the machine", "the silver one", "go to the computer", "2")
    _, which, ninth, machine, silver, remembered, black = replies(lines, "make_carrot", "--no-assistant")[:7]
    assert which.startswith("Which one? 1 computer (black screen") and "9 computer (screen with a green base" in which
    assert ninth == "computer (screen with a green base and a label on top), 5.0 m ahead."
    assert machine.startswith("Which one? 2 machine") and silver.startswith("[2 of 50] You go to the machine. [3 of")
    assert "1 machine (silver booth" in silver and "out of view" in remembered
    assert "computer (black screen with a label on top), 0.8 m ahead" in black
    unknown, left = replies(["quantum lab", "turn left", "use the carrot maker", "left"], "--no-assistant")[2:4]
    assert unknown.startswith("Which one? 1 machine (tall gray"), "nobody has said how it looks"
    assert left.startswith("[3 of 50] You go to the machine. [4 of 50] That fails: There is nothing in the machine.")


def test_a_player_is_reminded_where_a_thing_was_seen():
    lines = ["main office", "go to the table", "warehouse", "take the banana"]
    answer = replies(lines, "make_carrot", "--seed", "4", "--no-assistant")[-2]
    assert "You saw this in the main office: yellow banana, on or in this: green table." in answer


def test_what_is_seen_is_saved_as_a_picture(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert replies(["picture lab.png"])[0] == "Saved: lab.png"
    with Image.open("lab.png") as image:
        assert image.size == (300, 300) and len(image.getcolors(1 << 17)) > 50
    assert not any(Path("runs").glob("*")), "a session that was left is not kept"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["make_carot"], "there is no variant or task 'make_carot'; did you mean make_carrot?"),
        (["fire_laser__none__powr"], "did you mean fire_laser__none__power?"),
        (["--split", "foo"], "setting split: no 'foo'; available: training, test"),
        (["--wording", "foo"], "assistant wording 'foo': unknown; use training, held_out or a .yaml file"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(arguments, expected):
    result = call_housewise("play", "lab", *arguments)
    assert result.returncode == 2 and not result.stdout and result.stderr.count("\n") == 1
    assert expected in result.stderr


def test_a_run_whose_person_is_at_the_terminal_begins_each_attempt_anew(tmp_path):
    command = [sys.executable, "-m", "housewise", "run", "--system", "basis", "--person", "terminal"]
    chosen = ["tasks.variant=fire_laser__none__simple", "tasks.max_actions=3", "tasks.attempts=2"]
    lines = b"\xff\xfe\nwarehouse\nturn left\nreception\nsay fire the laser\nrobotics lab\ngo to the red computer\n"
    done = subprocess.run(
        [*command, *chosen, "--out", tmp_path / "run"],
        input=lines,
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "utf-8:strict"},
        timeout=300,
        check=False,
    )
    out = done.stdout.decode()
    assert done.returncode == 0, done.stderr.decode()
    assert "Attempt 2: the lab is as it was in the beginning." in out and "out of actions" in out
    record = read_record(next((tmp_path / "run" / "episodes").glob("*.jsonl")))
    assert record.result.final["successes"] == [False, False] and record.result.scores["steps"] == 3


def test_a_session_that_was_left_is_kept_beside_the_next_one(tmp_path):
    words = ["run", "--system", "basis", "--person", "terminal", "--out", tmp_path / "run"]
    chosen = ["tasks.variant=fire_laser__none__simple", "tasks.max_actions=3"]
    left = call_housewise(*words, *chosen, input="warehouse\nquit\n")
    assert left.returncode == 2 and "run the same command again" in left.stderr
    assert call_housewise(*words, *chosen, input="reception\nturn left\nturn left\n").returncode == 0
    folder = tmp_path / "run" / "episodes"
    (finished,), (kept,) = folder.glob("*.jsonl"), folder.glob("*.interrupted-1")
    assert '"argument":"warehouse"' in kept.read_text() and '"argument":"warehouse"' not in finished.read_text()
    assert read_record(finished).header.attempt == 1


def test_two_sessions_at_once_cannot_be_typed():
    settings = ["tasks.variant=fire_laser__none__simple", "--workers", "2"]
    result = call_housewise("run", "--system", "basis", "--person", "terminal", *settings)
    assert result.returncode == 2 and "one person answers one episode at a time" in result.stderr
