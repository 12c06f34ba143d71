from __future__ import annotations

import pytest

from housewise.worlds.kitchen.manipulation import OPEN_TAG, ManipulationAction, ImpossibleManipulation, possible_actions, apply_action, create_hand, standing_furniture, find_obstacle
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


def after(state: State, *path: ManipulationAction) -> State:
    for act in path:
        state = apply_action(state, act)
    return state


def test_milk_goes_into_the_fridge(room: State) -> None:
    end = after(
        room, ManipulationAction("go to", "fridge"), ManipulationAction("open", "fridge"), ManipulationAction("go to", "table"), ManipulationAction("pick up", "milk"),
        ManipulationAction("go to", "fridge"), ManipulationAction("put", "milk", "in", "fridge"), ManipulationAction("close", "fridge"),
    )  # fmt: skip
    assert end.place("milk") == Place("fridge", "in") and not end.has_tag("fridge", OPEN_TAG) and end.held_thing is None


@pytest.mark.parametrize(
    ("before", "act", "reason"),
    [
        ([], ManipulationAction("pick up", "milk"), "milk is out of reach"),
        ([ManipulationAction("go to", "table")], ManipulationAction("pick up", "egg"), "egg is out of reach"),
        ([ManipulationAction("go to", "table")], ManipulationAction("pick up", "table"), "table is not grabbable"),
        ([ManipulationAction("go to", "table")], ManipulationAction("close", "box"), "box is closed"),
        ([ManipulationAction("go to", "table")], ManipulationAction("open", "milk"), "milk cannot be opened or closed"),
        ([ManipulationAction("go to", "table"), ManipulationAction("pick up", "milk")], ManipulationAction("pick up", "box"), "the hand holds milk"),
        ([ManipulationAction("go to", "table"), ManipulationAction("pick up", "milk")], ManipulationAction("open", "box"), "the hand holds milk"),
        ([ManipulationAction("go to", "table"), ManipulationAction("pick up", "milk")], ManipulationAction("put", "milk", "in", "box"), "box is closed"),
        ([ManipulationAction("go to", "table"), ManipulationAction("pick up", "milk")], ManipulationAction("put", "milk", "in", "table"), "cannot be put in table"),
        ([ManipulationAction("go to", "table"), ManipulationAction("pick up", "milk")], ManipulationAction("put", "milk", "in", "fridge"), "fridge is out of reach"),
        ([ManipulationAction("go to", "table"), ManipulationAction("pick up", "milk")], ManipulationAction("put", "milk", "in", "milk"), "nothing else is named"),
        ([], ManipulationAction("put", "milk", "on", "table"), "the hand does not hold milk"),
        ([], ManipulationAction("go to", "milk"), "milk is no furniture"),
        ([], ManipulationAction("go to", "kitchen"), "kitchen is no furniture"),
        ([], ManipulationAction("go to", "moon"), "there is no moon"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(room: State, before: list[ManipulationAction], act: ManipulationAction, reason: str) -> None:
    state = after(room, *before)
    assert reason in str(find_obstacle(state, act))
    with pytest.raises(ImpossibleManipulation, match=reason):
        apply_action(state, act)


def test_what_is_carried_is_at_no_station_but_the_hand(room: State) -> None:
    assert standing_furniture(room, "egg") == "table"
    carried = after(room, ManipulationAction("go to", "table"), ManipulationAction("pick up", "box"), ManipulationAction("go to", "fridge"))
    assert carried.is_within("egg", "hand")


def test_all_acts_that_are_listed_can_be_done(room: State) -> None:
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
