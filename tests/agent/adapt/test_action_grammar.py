"""The grammar of actions: what scripted cooks do follows it, and all that follows it is understood."""

import random

import pytest

pytest.importorskip("llguidance")

from housewise.agent.adapt.action_grammar import NameableThings, action_grammar
from housewise.agent.adapt.scripted_cook.oracle_cook import OracleCook
from housewise.language.grammar_matching import matches_grammar
from housewise.worlds.kitchen.action_parser import parse_action
from housewise.worlds.kitchen.world import TextKitchen
from tests.people.kitchen.sixteen import ADAPT_PEOPLE

MIRANDA = ADAPT_PEOPLE["miranda"]


def grammar(world, seen=None, asks=True):
    named = NameableThings.from_state(world.state, world.state.entities if seen is None else seen)
    return action_grammar(named, world.kitchen.verbs.open, asks)


def test_whatever_the_scripted_cook_does_can_be_said():
    for task in (2, 8):
        world = TextKitchen(task, seed=4)
        cook = OracleCook(MIRANDA, task)
        while not world.has_ended:
            action = cook.act(world.dynamics)
            assert matches_grammar(f" {action}", grammar(world)), action
            world.step(action)


@pytest.mark.parametrize(
    "action",
    [
        'Ask "How do you like your eggs?"',
        "Look for milk",
        "Search fridge_0",
        "Turn on stove_0",
        "Declare Done",
        "Open fridge_0",
    ],
)
def test_what_can_be_said_at_the_beginning(action):
    world = TextKitchen(1, seed=4)
    start = [*world.kitchen.house.rooms, *world.kitchen.furniture]
    assert matches_grammar(f" {action}", grammar(world, start))
    assert parse_action(action, world.kitchen.verbs)


@pytest.mark.parametrize(
    "action", ["Move salt_box_0 to table_0", "Open the fridge", "Burn stove_0", "Ask why", "Search fridge_0\nOpen", "x"]
)
def test_what_was_not_seen_or_is_no_action_cannot_be_said(action):
    world = TextKitchen(1, seed=4)
    start = [*world.kitchen.house.rooms, *world.kitchen.furniture]
    assert not matches_grammar(f" {action}", grammar(world, start))


def test_a_robot_that_does_not_ask_cannot():
    world = TextKitchen(1, seed=4)
    assert not matches_grammar(' Ask "Why?"', grammar(world, asks=False))


@pytest.mark.slow
def test_whole_replies_at_random_are_understood():
    """Letter by letter, at random among those that the grammar allows."""
    rng, world = random.Random(0), TextKitchen(1, seed=4)
    rules = grammar(world, ["stove_0", "pan_0", "egg_0", "table_0"])
    for begun in (" Move ", " Look for "):
        said = begun
        while not _complete(said, world):
            letters = [letter for letter in "abcdefghijklmnopqrstuvwxyz0123_ " if matches_grammar(said + letter, rules)]
            assert letters, said
            said += rng.choice(letters)
        assert matches_grammar(said, rules)


def _complete(said, world):
    try:
        action = parse_action(said.strip(), world.kitchen.verbs)
    except Exception:
        return False
    named = [each for each in (action.x, action.y) if each]
    return action.name == "look_for" or all(each in world.state for each in named)
