"""What one arm can do in a symbolic room: go to furniture, open and close it, pick things up, put them in or on others.

Opening, closing and picking up take an empty hand, as the robot has one. What is within reach is what stands at the
piece of furniture where the robot is and is not shut away.

Affordances: ``grabbable``, ``receptacle``, ``openable``. Tags: ``open``, and ``here`` for where the robot is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from housewise.worlds.kitchen.state import HAND, Entity, Relation, State

OPEN_TAG = "open"
HERE_TAG = "here"
Verb = Literal["go to", "open", "close", "pick up", "put"]
_ALONE: tuple[Verb, ...] = ("go to", "open", "close", "pick up")
_RELATIONS: tuple[Relation, ...] = ("in", "on")


@dataclass(frozen=True)
class ManipulationAction:
    """One thing to do.

    Attributes:
        thing: the id of what it is done to.
        relation: for ``put``, whether the thing comes into the target or on it.
        target: for ``put``, the id of what the thing is put in or on.
    """

    verb: Verb
    thing: str
    relation: Relation = "in"
    target: str | None = None

    def __str__(self) -> str:
        return f"{self.verb} {self.thing}" + (f" {self.relation} {self.target}" if self.target else "")


class ImpossibleManipulation(ValueError):
    """The state does not allow an act; the message says why."""


def create_hand() -> Entity:
    """The robot's hand, which a state needs for things to be picked up."""
    return Entity(HAND, "hand")


def standing_furniture(state: State, id: str) -> str:
    """The piece of furniture at which one has to be to reach something: the last holder before the room."""
    chain = [id, *state.holders(id)]
    return chain[-2] if len(chain) > 1 else id


def find_obstacle(state: State, act: ManipulationAction) -> str | None:
    """Why an act is impossible now, None where it can be done."""
    for id in filter(None, (act.thing, act.target)):
        if id not in state:
            return f"there is no {id}"
    if act.verb == "go to":
        stands = state.holder(act.thing) not in (None, HAND) and standing_furniture(state, act.thing) == act.thing
        return None if stands else f"{act.thing} is no furniture"
    if act.verb == "put":
        return _why_not_put(state, act)
    if state.held_thing is not None:
        return f"the hand holds {state.held_thing}"
    if not _reachable(state, act.thing):
        return f"{act.thing} is out of reach"
    if act.verb == "pick up":
        return None if state[act.thing].can("grabbable") else f"{act.thing} is not grabbable"
    if not state[act.thing].can("openable"):
        return f"{act.thing} cannot be opened or closed"
    is_open = state.has_tag(act.thing, OPEN_TAG)
    return f"{act.thing} is {'open' if is_open else 'closed'}" if is_open == (act.verb == "open") else None


def apply_action(state: State, act: ManipulationAction) -> State:
    """The state after an act.

    Raises:
        ImpossibleAct: when the state does not allow it.
    """
    if reason := find_obstacle(state, act):
        raise ImpossibleManipulation(f"cannot {act}: {reason}")
    if act.verb == "go to":
        for place in [id for id, tags in state.tags.items() if HERE_TAG in tags]:
            state = state.with_tags(place, without=[HERE_TAG])
        return state.with_tags(act.thing, HERE_TAG)
    if act.verb == "pick up":
        return state.put(act.thing, HAND)
    if act.verb == "put" and act.target is not None:
        return state.put(act.thing, act.target, act.relation)
    return state.with_tags(act.thing, OPEN_TAG) if act.verb == "open" else state.with_tags(act.thing, without=[OPEN_TAG])


def possible_actions(state: State, ids: frozenset[str]) -> Iterator[ManipulationAction]:
    """All acts on a few things that a state allows."""
    everything = [ManipulationAction(verb, id) for id in sorted(ids) for verb in _ALONE]
    if state.held_thing in ids and state.held_thing is not None:
        everything += [ManipulationAction("put", state.held_thing, how, id) for id in sorted(ids) for how in _RELATIONS]
    return (act for act in everything if find_obstacle(state, act) is None)


def _why_not_put(state: State, act: ManipulationAction) -> str | None:
    if state.held_thing != act.thing:
        return f"the hand does not hold {act.thing}"
    if act.target is None or act.thing in (act.target, *state.holders(act.target)):
        return "nothing else is named to put it in or on"
    target = state[act.target]
    if not _reachable(state, act.target):
        return f"{act.target} is out of reach"
    if (act.relation == "in") != target.can("receptacle"):
        return f"things cannot be put {act.relation} {act.target}"
    if target.can("openable") and not state.has_tag(act.target, OPEN_TAG):
        return f"{act.target} is closed"
    return None


def _reachable(state: State, id: str) -> bool:
    return state.has_tag(standing_furniture(state, id), HERE_TAG) and not state.is_shut_away(id)
