"""The symbolic state: queries, changes and checks."""

import pytest

from housewise.worlds.kitchen.state import HAND, Entity, Place, State


def small_state() -> State:
    things = [
        Entity("kitchen", "kitchen", affords=frozenset({"room"})),
        Entity("fridge", "fridge", affords=frozenset({"openable"})),
        Entity("bowl", "bowl", affords=frozenset({"container"})),
        Entity("egg", "egg", affords=frozenset({"edible"})),
        Entity(HAND, "hand"),
    ]
    places = {"fridge": Place("kitchen"), "bowl": Place("fridge"), "egg": Place("bowl")}
    return State.create(things, places, {"fridge": ["closed"]})


def test_places_can_be_queried():
    state = small_state()
    assert state.inside("fridge") == ["bowl"]
    assert set(state.descendants("kitchen")) == {"fridge", "bowl", "egg"}
    assert list(state.holders("egg")) == ["bowl", "fridge", "kitchen"]
    assert state.is_shut_away("egg")
    assert not state.with_tags("fridge", "open", without=["closed"]).is_shut_away("egg")


def test_a_change_returns_a_new_state():
    state = small_state()
    held = state.put("egg", HAND)
    assert held.held_thing == "egg"
    assert state.held_thing is None
    assert state.inside("bowl") == ["egg"]
    assert held.put("egg", "bowl") == state
    assert hash(held.put("egg", "bowl")) == hash(state)


def test_a_moved_container_takes_its_contents_along():
    assert list(small_state().put("bowl", "kitchen").holders("egg")) == ["bowl", "kitchen"]


def test_contents_are_in_the_order_of_placing():
    state = small_state()
    for name in ("milk", "salt"):
        state = state.with_entity(Entity(name, name), Place("bowl"))
    assert state.inside("bowl") == ["egg", "milk", "salt"]
    assert state.put("egg", "bowl").inside("bowl") == ["milk", "salt", "egg"]


def test_substates_ignore_other_entities():
    state = small_state()
    other = state.with_tags("fridge", "open", without=["closed"])
    assert state.substate(["egg", "bowl"]) == other.substate(["egg", "bowl"])
    assert state.substate(["fridge"]) != other.substate(["fridge"])


@pytest.mark.parametrize(("thing", "holder"), [("bowl", "egg"), ("bowl", "bowl"), ("fridge", "egg")])
def test_nothing_can_contain_itself(thing, holder):
    with pytest.raises(ValueError, match="within itself"):
        small_state().put(thing, holder)


def test_a_holder_cannot_be_removed():
    with pytest.raises(ValueError, match="still in or on bowl"):
        small_state().without_entities(["bowl"])
    assert "egg" not in small_state().without_entities(["bowl", "egg"])


def test_contradictory_states_are_refused():
    egg = Entity("egg", "egg")
    with pytest.raises(ValueError, match="twice"):
        State.create([egg, egg], {})
    with pytest.raises(ValueError, match="does not exist"):
        State.create([egg], {"egg": Place("bowl")})
    with pytest.raises(ValueError, match="within itself"):
        State.create([egg, Entity("bowl", "bowl")], {"egg": Place("bowl"), "bowl": Place("egg")})
    with pytest.raises(ValueError, match="there already"):
        small_state().with_entity(egg, Place("bowl"))
