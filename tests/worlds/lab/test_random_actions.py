"""Random actions of the lab leave no contradiction, and reach every outcome that the rule table lets expect."""

import pytest

from housewise.worlds.lab.kinds import KINDS, Property
from housewise.worlds.lab.situation import BOX, FLIPPER, LIQUIDS
from housewise.worlds.lab.state import CIRCUITS, ROOMS, Flag, LabState, Thing
from tests.worlds.lab.random_actions import RandomPerson, expected_triples

NEEDED: dict[Flag, Property] = {
    "open": "openable", "broken": "breakable", "hot": "heatable", "cold": "chillable", "infected": "infectable",
    "large": "pickupable", "floating": "pickupable", "eaten": "eatable",
}  # fmt: skip
"""Property of the kind that a state needs."""


def check_state(before: LabState, state: LabState) -> None:
    """Check that a state does not contradict itself, and that nothing has come or gone but by a device."""
    ids = [thing.id for thing in state.things]
    assert sorted(set(ids)) == ids
    assert state.powered <= set(CIRCUITS) and state.room in ROOMS and state.near <= set(before.by_id)
    assert all(each == "crate_1" for each in set(before.by_id) - set(ids))
    assert all(state[id].kind in MADE for id in set(ids) - set(before.by_id))
    assert bool(state.blocked) == ("crate_1" in state.by_id)
    assert state.held is None or state.held in state.by_id
    for thing in state.things:
        _check_place(state, thing)
        _check_flags(state, thing)
    for id, contents in state.contents.items():
        kind = KINDS[state[id].kind]
        assert len(contents) <= kind.spots and len({each.spot for each in contents}) == len(contents)
        if kind.accepts:
            foreign = [each for each in contents if each.kind not in kind.accepts]
            assert len(foreign) <= (kind.key == "printer")
            assert len(contents) - len(foreign) <= (1 if kind.key in ("printer", BOX) else kind.spots)


MADE = ("action_figure", "hammer", "lever", "printed_mug", "coffee_beans")
"""Kinds that devices make."""


def _check_place(state: LabState, thing: Thing) -> None:
    holder = thing.container
    if thing.id == state.held:
        assert (holder, thing.room) == (None, "") and not {"large", "floating"} & thing.flags
        assert "pickupable" in KINDS[thing.kind].properties
    elif holder is None:
        assert "pickupable" not in KINDS[thing.kind].properties and thing.room in ROOMS
    else:
        assert thing.room == state[holder].room and "receptacle" in KINDS[state[holder].kind].properties
        assert not thing.kind.endswith("_button") or state[holder].kind == "color_changer"
    for _ in state.things:
        holder = None if holder is None else state[holder].container
    assert holder is None, "containers hold each other"


def _check_flags(state: LabState, thing: Thing) -> None:
    properties = KINDS[thing.original or thing.kind].properties | KINDS[thing.kind].properties
    assert all(NEEDED[flag] in properties for flag in thing.flags if flag in NEEDED)
    assert not {"hot", "cold"} <= thing.flags
    assert (thing.kind == "carrot") == (thing.original is not None)
    assert not thing.flags & set(LIQUIDS) or thing.kind == "coffee_unmaker" or "fillable" in properties
    flipper = thing.container is not None and state[thing.container]
    floats = bool(flipper and flipper.kind == FLIPPER and "on" in flipper.flags)
    assert ("floating" in thing.flags) == floats
    assert "fired" not in thing.flags or thing.kind in ("laser_cannon", "freeze_ray")


@pytest.mark.slow
def test_random_actions_leave_no_contradiction_and_reach_every_outcome() -> None:
    _run(seed=3, actions=10_000)


@pytest.mark.slow
@pytest.mark.parametrize("seed", (1, 2, 4, 5, 6, 7))
def test_many_random_actions_leave_no_contradiction_and_reach_every_outcome(seed: int) -> None:
    _run(seed, actions=50_000)


def _run(seed: int, actions: int) -> None:
    person = RandomPerson(check_state, seed)
    person.visit_labs(actions, limit=60_000)
    expected, never = expected_triples()
    assert person.actions >= actions and 0.5 <= person.accepted / person.actions <= 0.6
    assert not person.missing, f"never reached: {sorted(person.missing)}"
    assert not person.triples & set(never), {each: never[each] for each in person.triples & set(never)}
    assert not person.triples - expected, "the rule table does not let expect this"
