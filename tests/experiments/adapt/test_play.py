"""Cooking at the terminal, in a process of its own."""

import subprocess
import sys


def play(text, *arguments):
    command = [sys.executable, "-m", "housewise.experiments.adapt.play", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)


def test_a_breakfast_by_hand_is_judged():
    text = "help\nwishes\nmade\nFly to the moon\nMove pan_0 to stove_0\nSearch egg_carton_0\nDeclare Done\n"
    result = play(text, "--task", "1", "--person", "miranda", "--seed", "3")
    assert result.returncode == 0, result.stderr
    assert "Task: Prepare eggs for breakfast" in result.stdout
    assert "10.2 Sprinkle some salt on my eggs." in result.stdout
    assert "Not done: Unknown action" in result.stdout
    assert "violated" in result.stdout
    assert "miranda: 0 % of the wishes that apply" in " ".join(result.stdout.split())


def test_the_end_of_input_ends_it():
    result = play("Open fridge_0\n")
    assert result.returncode == 0, result.stderr
    assert "fridge_0 is now open" in result.stdout


def test_somebody_unknown_is_refused_in_one_line():
    result = play("", "--person", "nobody")
    assert result.returncode != 0
    assert "nobody is named 'nobody'; use one of juan" in " ".join((result.stderr + result.stdout).split())
