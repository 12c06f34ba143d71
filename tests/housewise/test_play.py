"""Cooking at the terminal, by the command that users run."""

import os
import subprocess
import sys

import pytest

from housewise.language.embedder import has_minilm
from tests.commands import run_module


def play(text, *arguments):
    return run_module("housewise", ["play", "kitchen", *arguments], input=text)


def test_a_breakfast_by_hand_is_judged():
    text = "help\nwishes\nmade\nFly to the moon\nMove pan_0 to stove_0\nSearch egg_carton_0\nDeclare Done\n"
    result = play(text, "--task", "1", "--person", "miranda", "--seed", "3")
    assert result.returncode == 0, result.stderr
    assert "Task: Prepare eggs for breakfast" in result.stdout
    assert "10.2 Sprinkle some salt on my eggs." in result.stdout
    assert "Not done: Unknown action" in result.stdout
    assert "violated" in result.stdout
    assert "miranda: 0 % of the wishes that apply" in " ".join(result.stdout.split())


@pytest.mark.skipif(not has_minilm(), reason="needs MiniLM")
def test_the_person_answers():
    result = play('Ask "Where do you sit?"\nAsk "Where is the salt?"\n', "--task", "1", "--person", "miranda")
    assert result.returncode == 0, result.stderr
    assert "miranda: I eat on the patio." in result.stdout
    assert "I will not tell you where things are" in result.stdout


def test_nobody_answers_where_nobody_is():
    assert "Nobody is there to answer" in play('Ask "Where do you sit?"\n').stdout


def test_the_end_of_input_ends_it():
    result = play("Open fridge_0\n")
    assert result.returncode == 0, result.stderr
    assert "fridge_0 is now open" in result.stdout


def test_somebody_unknown_is_refused_in_one_line():
    result = play("", "--person", "nobody")
    assert result.returncode != 0
    assert "nobody is named 'nobody'; use one of juan" in " ".join((result.stderr + result.stdout).split())
    assert "there is no task 9" in play("", "--task", "9").stderr


def test_bytes_that_are_no_text_are_an_unknown_action():
    done = subprocess.run(
        [sys.executable, "-m", "housewise", "play", "kitchen"],
        input=b"\xff\xfe\xe9\nOpen fridge_0\n",
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "utf-8:strict"},
        timeout=300,
        check=False,
    )
    told = done.stdout.decode()
    assert done.returncode == 0 and not done.stderr, done.stderr.decode()
    assert told.count("Unknown action") == 1 and "fridge_0 is now open" in told
