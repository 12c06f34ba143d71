"""The rules of the rearrangement task: when an object can be grabbed and released, and what happens then."""

from __future__ import annotations

from dataclasses import dataclass

from housewise.worlds.house.state import HouseState

REACH = 1.5
"""Horizontal distance in metres up to which the robot can grab and release."""


@dataclass(frozen=True)
class GrabResult:
    """The result of one grab or release.

    Attributes:
        moved: Key of the object that moved, or None if the action failed.
        source: Receptacle that the object was on, or None if it was in the hand.
        target: Receptacle that the object is on now, or None if it is in the hand.
        reward: +1 for a correct placement, -1 for grabbing a correctly placed object, else 0 (Housekeep;
            LLM-Personalize, section 3).
        reason: Why the action failed; empty on success.
    """

    moved: str | None = None
    source: str | None = None
    target: str | None = None
    reward: int = 0
    reason: str = ""


def grab_or_release(state: HouseState, target: str | None, visible: frozenset[str]) -> GrabResult:
    """Grab the target object or, if the hand is full, release the held object on the target receptacle.

    Args:
        state: State of the house, which is changed.
        target: Key of the target, or None if the ray through the image centre meets nothing in reach.
        visible: Keys of all objects and receptacles in view.
    """
    if target is None:
        return GrabResult(reason="nothing within reach")
    if state.holding is None:
        return _grab(state, target, visible)
    return _release(state, state.holding, target, visible)


def _grab(state: HouseState, key: str, visible: frozenset[str]) -> GrabResult:
    if key not in state.objects:
        return GrabResult(reason="only objects can be picked up")
    source = state.placements[key]
    if source is None or not visible & {key, source}:
        return GrabResult(reason="out of sight")
    if min(state.distance_to(key), state.distance_to(source)) > REACH:
        return GrabResult(reason="too far away")
    reward = -int(state.correct_by_object[key])
    state.pick_up(key)
    return GrabResult(key, source, None, reward)


def _release(state: HouseState, key: str, target: str, visible: frozenset[str]) -> GrabResult:
    if target not in state.receptacles:
        return GrabResult(reason="objects can only be placed on receptacles")
    if target not in visible:
        return GrabResult(reason="out of sight")
    if state.distance_to(target) > REACH:
        return GrabResult(reason="too far away")
    if not state.place_object(key, target):
        return GrabResult(reason="no free space")
    state.holding = None
    return GrabResult(key, None, target, int(state.correct_by_object[key]))
