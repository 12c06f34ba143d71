"""The symbolic state: what it says, what changes, and what it refuses."""

import pytest

from housewise.worlds.kitchen.state import HAND, Entity, Place, State


def small() -> State:
    things = [
        Entity("kitchen", "kitchen", affords=frozenset({"room"})),
        Entity("fridge", "fridge", affords=frozenset({"openable"})),
        Entity("bowl", "bowl", affords=frozenset({"container"})),
        Entity("egg", "egg", affords=frozenset({"edible"})),
        Entity(HAND, "hand"),
    ]
    places = {"fridge": Place("kitchen"), "bowl": Place("fridge"), "egg": Place("bowl")}
    return State.create(things, places, {"fridge": ["closed"]})


def test_says_what_is_where():
    state = small()
    assert state.inside("fridge") == ["bowl"]
    assert set(state.descendants("kitchen")) == {"fridge", "bowl", "egg"}
    assert list(state.holders("egg")) == ["bowl", "fridge", "kitchen"]
    assert state.room("egg") == "kitchen"
    assert state.is_shut_away("egg")
    assert not state.with_tags("fridge", "open", without=["closed"]).is_shut_away("egg")


def test_a_change_leaves_the_old_state_as_it_was():
    state = small()
    held = state.put("egg", HAND)
    assert held.held_thing == "egg"
    assert state.held_thing is None
    assert state.inside("bowl") == ["egg"]
    assert held.put("egg", "bowl") == state
    assert hash(held.put("egg", "bowl")) == hash(state)


def test_what_is_moved_takes_along_what_is_in_it():
    assert small().put("bowl", "kitchen").room("egg") == "kitchen"
    assert "fridge" not in small().put("bowl", "kitchen").holders("egg")


def test_contents_come_in_the_order_of_adding():
    state = small()
    for name in ("milk", "salt"):
        state = state.with_entity(Entity(name, name), Place("bowl"))
    assert state.inside("bowl") == ["egg", "milk", "salt"]
    assert state.put("egg", "bowl").inside("bowl") == ["milk", "salt", "egg"]


def test_part_is_the_same_for_a_planner_who_looks_at_nothing_else():
    state = small()
    other = state.with_tags("fridge", "open", without=["closed"])
    assert state.substate(["egg", "bowl"]) == other.substate(["egg", "bowl"])
    assert state.substate(["fridge"]) != other.substate(["fridge"])


@pytest.mark.parametrize(("thing", "holder"), [("bowl", "egg"), ("bowl", "bowl"), ("fridge", "egg")])
def test_nothing_is_within_itself(thing, holder):
    with pytest.raises(ValueError, match="within itself"):
        small().put(thing, holder)


def test_nothing_is_left_without_a_place():
    with pytest.raises(ValueError, match="still in or on bowl"):
        small().without_entities(["bowl"])
    assert "egg" not in small().without_entities(["bowl", "egg"])


def test_refuses_what_contradicts_itself():
    egg = Entity("egg", "egg")
    with pytest.raises(ValueError, match="twice"):
        State.create([egg, egg], {})
    with pytest.raises(ValueError, match="does not exist"):
        State.create([egg], {"egg": Place("bowl")})
    with pytest.raises(ValueError, match="within itself"):
        State.create([egg, Entity("bowl", "bowl")], {"egg": Place("bowl"), "bowl": Place("egg")})
    with pytest.raises(ValueError, match="there already"):
        small().with_entity(egg, Place("bowl"))
