"""Manipulation by a robot with one arm in a symbolic room: go to, open, close, pick up and put.

Opening, closing and picking up need an empty hand. A thing is within reach if it belongs to the piece of furniture at
which the robot is, and nothing closed is around it.

Affordances: ``grabbable``, ``receptacle``, ``openable``. Tags: ``open``, and ``here`` for the position of the robot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from housewise.worlds.kitchen.state import HAND, Entity, Relation, State

OPEN_TAG = "open"
HERE_TAG = "here"
Verb = Literal["go to", "open", "close", "pick up", "put"]
_VERBS_WITHOUT_TARGET: tuple[Verb, ...] = ("go to", "open", "close", "pick up")
_RELATIONS: tuple[Relation, ...] = ("in", "on")


@dataclass(frozen=True)
class ManipulationAction:
    """One action of the robot.

    Attributes:
        verb: What to do.
        thing: Id of the manipulated thing.
        relation: For ``put``: whether the thing is put into the target or onto it.
        target: For ``put``: id of the target.
    """

    verb: Verb
    thing: str
    relation: Relation = "in"
    target: str | None = None

    def __str__(self) -> str:
        return f"{self.verb} {self.thing}" + (f" {self.relation} {self.target}" if self.target else "")


class ImpossibleManipulation(ValueError):
    """An action is impossible in the current state. The message says why."""


def create_hand() -> Entity:
    """Return the entity of the robot's hand, which every state with a robot needs."""
    return Entity(HAND, "hand")


def standing_furniture(state: State, id: str) -> str:
    """Return the furniture at which the robot has to be to reach a thing: its last holder before the room."""
    chain = [id, *state.holders(id)]
    return chain[-2] if len(chain) > 1 else id


def find_obstacle(state: State, act: ManipulationAction) -> str | None:
    """Return why an action is impossible in a state, or None if it is possible."""
    for id in filter(None, (act.thing, act.target)):
        if id not in state:
            return f"there is no {id}"
    if act.verb == "go to":
        stands = state.holder(act.thing) not in (None, HAND) and standing_furniture(state, act.thing) == act.thing
        return None if stands else f"{act.thing} is no furniture"
    if act.verb == "put":
        return _find_put_obstacle(state, act)
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
    """Return the state after an action.

    Raises:
        ImpossibleManipulation: The action is impossible.
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
    return (
        state.with_tags(act.thing, OPEN_TAG) if act.verb == "open" else state.with_tags(act.thing, without=[OPEN_TAG])
    )


def possible_actions(state: State, ids: frozenset[str]) -> Iterator[ManipulationAction]:
    """Yield all possible actions on some things."""
    everything = [ManipulationAction(verb, id) for id in sorted(ids) for verb in _VERBS_WITHOUT_TARGET]
    if state.held_thing in ids and state.held_thing is not None:
        everything += [ManipulationAction("put", state.held_thing, how, id) for id in sorted(ids) for how in _RELATIONS]
    return (act for act in everything if find_obstacle(state, act) is None)


def _find_put_obstacle(state: State, act: ManipulationAction) -> str | None:
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
