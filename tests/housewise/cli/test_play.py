"""Cooking at the terminal, by the command that users run."""

import os
import subprocess
import sys

import pytest

from housewise.language.embedder import has_minilm
from tests.in_process import call_housewise


def play(text, *arguments):
    return call_housewise("play", "kitchen", *arguments, input=text)


def shown(*lines, task=1):
    """What is shown below each of some lines, without the opening and the judgement."""
    out = play("".join(f"{line}\n" for line in lines), "--task", str(task)).stdout
    parts = out.split("\n> ")[1:]
    assert len(parts) == len(lines) + 1, out
    return [" ".join(part.split("\n", 1)[1].split()) for part in parts[:-1]]


def test_the_opening_says_what_is_asked_for_and_where_one_is_in_a_few_lines():
    result = play("")
    opening = result.stdout.split("> ")[0].splitlines()
    assert len(opening) < 12 and all(len(line) <= 80 for line in opening)
    said = " ".join(opening)
    assert "in Miranda's house, in the kitchen" in said and "Prepare eggs" in said and "help shows" in said


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("l", "kitchen: stove, oven, microwave"),
        ("LOOK", "kitchen: stove, oven, microwave"),
        ("look in the fridge", "almond milk in a bottle"),
        ("search Fridge", "almond milk in a bottle"),
        ("open fridge", "fridge is now open In or on the fridge: still water"),
        ("Open the refrigerator, please", "fridge is now open"),
        ("close the oven.", "oven is now closed"),
        ("turn on stove", "stove is now on"),
        ("switch the stove off", "stove is now off"),
        ("find eggs", "egg with a brown shell in/on carton for a dozen eggs (7)"),
        ("find the milk", "almond milk in a bottle in/on fridge"),
        ("where is the milk?", "almond milk in a bottle in/on fridge"),
        ("get the almond milk", "You hold this: almond milk in a bottle."),
        ("take milk", "Which milk? 1. sweetened condensed milk in a tin 2. almond milk in a bottle"),
        ("put almond milk on the coffee table", "almond milk in a bottle is now in/on coffee table"),
        ("pour almond milk into the kettle", "almond milk is now in/on kettle"),
        ("add ice to the kettle", "ice cube is now in/on kettle"),
        ("slice the avocado", "ripe avocado is now sliced avocado in/on fridge"),
        ("crack an egg into the stainless steel pan", "cracked egg is now in/on frying pan of stainless steel"),
        ("cut an egg", "egg with a brown shell is now cut egg in/on carton for a dozen eggs"),
        ("heat the kettle", "kettle is now hot"),
        ("take the fridge", "The fridge cannot be taken."),
        ("take saffron", 'I know of no "saffron". Try for example: find saffron; look'),
        ("fly to the moon", 'I do not know how to "fly". Try for example: look in the fridge'),
        ("put", "Put what, or where? For example: put the pan on the stove"),
        ("ask miranda", "For example: ask how you like your eggs"),
        ("take it", 'I do not know what "it" is.'),
        ("", "Say what you do, or help."),
        ("hand", "Your hand is empty."),
        ("undo", "There is nothing to undo."),
        ("x" * 10_000, "was ignored"),
        ("Search fridge_0", "almond milk in a bottle"),
    ],
)
def test_what_people_type_is_understood_or_answered_with_examples(line, expected):
    (told,) = shown(line)
    assert expected in told and "(?:" not in told


def test_which_one_is_said_by_number_or_in_words_and_it_is_what_is_held():
    lines = ["take milk", "the second one", "put it on the counter", "worktop beside the sink", "take milk", "undo"]
    which, held, where, moved, again, undone = shown(*lines)
    assert which.startswith("Which milk?") and held.startswith("You hold this: almond milk in a bottle.")
    assert where.startswith("Which counter?") and moved.startswith("almond milk in a bottle is now in/on counter_1")
    assert again.startswith("You hold this: almond milk"), "the one that was just used is meant"
    assert undone == "Undone: take almond milk in a bottle"


def test_undo_takes_the_last_line_back_and_what_the_hand_held_before_it():
    lines = ["turn on the stove", "take the almond milk", "undo", "hand", "take the almond milk"]
    *_, undone, hand, _ = shown(*lines)
    assert undone == "Undone: take almond milk in a bottle" and hand == "Your hand is empty."
    *_, put, hand, taken, stove = shown(
        "turn on the stove", "take almond milk", "put it on the stove", "undo", "hand", "undo", "undo"
    )
    assert put.startswith("Undone: Move almond milk") and hand == "You hold this: almond milk in a bottle."
    assert taken.startswith("Undone: take") and stove == "Undone: Turn on stove"


def test_food_is_made_in_a_pan_and_taken_back():
    lines = ["put stainless steel pan on the stove", "fry an egg in the pan", "made", "undo", "made"]
    told = shown(*lines)
    assert told[1].endswith("fried egg is now in/on frying pan of stainless steel, made of egg with a brown shell")
    assert told[2] == "fried egg in/on frying pan of stainless steel, of egg with a brown shell"
    assert told[4] == "Nothing has been made so far."


def test_what_is_held_is_put_somewhere_before_it_is_cooked():
    assert "You hold it: first put it somewhere" in shown("take the egg", "fry the egg")[1]
    assert "You hold it" not in shown("take the egg", "heat the sofa")[1]


def test_a_breakfast_by_hand_is_judged():
    text = "help\nwishes\nmade\nFly to the moon\nMove pan_0 to stove_0\nSearch egg_carton_0\nDeclare Done\n"
    result = play(text, "--task", "1", "--person", "miranda", "--seed", "3")
    assert result.returncode == 0, result.stderr
    assert "Task: Prepare eggs for breakfast" in result.stdout
    assert "10.2 Sprinkle some salt on my eggs." in result.stdout
    assert 'I do not know how to "fly"' in result.stdout
    assert "violated" in result.stdout and "served_at" not in result.stdout
    assert "Miranda: 0 % of the wishes that apply" in " ".join(result.stdout.split())


@pytest.mark.skipif(not has_minilm(), reason="needs MiniLM")
def test_the_person_answers():
    result = play('Ask "Where do you sit?"\nask miranda where the salt is\n')
    assert result.returncode == 0, result.stderr
    assert "Miranda: I eat on the patio." in result.stdout
    assert "I will not tell you where things are" in result.stdout


def test_the_end_of_input_ends_it():
    result = play("Open fridge_0\n")
    assert result.returncode == 0, result.stderr
    assert "fridge is now open" in result.stdout


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
    assert told.count("I do not know how") == 1 and "fridge is now open" in told
