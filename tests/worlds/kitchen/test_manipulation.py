"""Manipulation by a robot with one arm."""

import pytest

from housewise.worlds.kitchen.manipulation import (
    OPEN_TAG,
    ImpossibleManipulation,
    apply_action,
    create_hand,
    find_obstacle,
    possible_actions,
    standing_furniture,
)
from housewise.worlds.kitchen.manipulation import ManipulationAction as Act
from housewise.worlds.kitchen.state import Entity, Place, State


@pytest.fixture()
def room() -> State:
    afforded = {
        "kitchen": (), "egg": ("grabbable",), "table": (), "fridge": ("receptacle", "openable"),
        "box": ("receptacle", "openable", "grabbable"),
        "milk": ("grabbable",),
    }  # fmt: skip
    places = {
        "table": Place("kitchen"), "fridge": Place("kitchen"), "box": Place("table", "on"),
        "milk": Place("table", "on"), "egg": Place("box"),
    }  # fmt: skip
    entities = [Entity(id, id, affords=frozenset(words)) for id, words in afforded.items()]
    return State.create([*entities, create_hand()], places)


def state_after(state: State, *path: Act) -> State:
    for act in path:
        state = apply_action(state, act)
    return state


def test_milk_goes_into_the_fridge(room: State) -> None:
    end = state_after(
        room, Act("go to", "fridge"), Act("open", "fridge"), Act("go to", "table"), Act("pick up", "milk"),
        Act("go to", "fridge"), Act("put", "milk", "in", "fridge"), Act("close", "fridge"),
    )  # fmt: skip
    assert end.place("milk") == Place("fridge", "in") and not end.has_tag("fridge", OPEN_TAG) and end.held_thing is None


@pytest.mark.parametrize(
    ("before", "act", "reason"),
    [
        ([], Act("pick up", "milk"), "milk is out of reach"),
        ([Act("go to", "table")], Act("pick up", "egg"), "egg is out of reach"),
        ([Act("go to", "table")], Act("pick up", "table"), "table is not grabbable"),
        ([Act("go to", "table")], Act("close", "box"), "box is closed"),
        ([Act("go to", "table")], Act("open", "milk"), "milk cannot be opened or closed"),
        ([Act("go to", "table"), Act("pick up", "milk")], Act("pick up", "box"), "the hand holds milk"),
        ([Act("go to", "table"), Act("pick up", "milk")], Act("open", "box"), "the hand holds milk"),
        ([Act("go to", "table"), Act("pick up", "milk")], Act("put", "milk", "in", "box"), "box is closed"),
        ([Act("go to", "table"), Act("pick up", "milk")], Act("put", "milk", "in", "table"), "cannot be put in table"),
        ([Act("go to", "table"), Act("pick up", "milk")], Act("put", "milk", "in", "fridge"), "fridge is out of reach"),
        ([Act("go to", "table"), Act("pick up", "milk")], Act("put", "milk", "in", "milk"), "nothing else is named"),
        ([], Act("put", "milk", "on", "table"), "the hand does not hold milk"),
        ([], Act("go to", "milk"), "milk is no furniture"),
        ([], Act("go to", "kitchen"), "kitchen is no furniture"),
        ([], Act("go to", "moon"), "there is no moon"),
    ],
)
def test_impossible_actions_are_refused_with_the_reason(room: State, before: list[Act], act: Act, reason: str) -> None:
    state = state_after(room, *before)
    assert reason in str(find_obstacle(state, act))
    with pytest.raises(ImpossibleManipulation, match=reason):
        apply_action(state, act)


def test_a_carried_thing_is_in_the_hand(room: State) -> None:
    assert standing_furniture(room, "egg") == "table"
    carried = state_after(room, Act("go to", "table"), Act("pick up", "box"), Act("go to", "fridge"))
    assert carried.is_within("egg", "hand")


def test_all_listed_actions_are_possible(room: State) -> None:
    everything = frozenset(room.entities)
    states, seen = [room], set()
    for state in states:  # grows
        for act in possible_actions(state, everything):
            then = apply_action(state, act)
            then.check()
            if then not in seen and len(states) < 60:
                seen.add(then)
                states.append(then)
    assert len(seen) > 20
