"""Carries out actions in the lab by the rule table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from housewise.worlds.lab.actions import AMOUNTS, ARGUMENTS, ActionOutcome, LabAction, Status
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.rule_table import FREE_WAY, LANDED, Requirement, find_rule, is_dangerous
from housewise.worlds.lab.situation import ActionSituation
from housewise.worlds.lab.state import ROOMS, LabState
from housewise.worlds.lab.surroundings import Surroundings, is_enclosed

HURT = "hurt"
FAILURES: Mapping[str, tuple[Status, str]] = MappingProxyType(
    {
        "running": ("InvalidCommand", "The task has ended."),
        "amount": ("InvalidCommand", "That can be done by {amounts}."),
        "free floor": ("UnsupportedNavigation", "Something is in the way."),
        "known room": ("InvalidCommand", "There is no such room; rooms: {rooms}."),
        "safe distance": ("KilledByHazard", "You went too near to the active gravity flipper and are hurt."),
        "known thing": ("InvalidCommand", "There is no such thing in view."),
        "not in hand": ("InvalidCommand", "That is in your hand."),
        "in sight": ("TargetInaccessible", "You do not see the {thing}."),
        "a way": ("UnsupportedNavigation", "There is no way to it."),
        "possible": ("UnsupportedAction", "That cannot be done with the {thing}."),
        "in reach": ("TargetOutOfRange", "The {thing} is too far away."),
    }
)
"""Status and message of the failures that no rule of the table is about, by what is missing."""
DONE = ActionOutcome("ActionSuccessful", "Done.")


def step(state: LabState, action: LabAction, surroundings: Surroundings) -> tuple[LabState, ActionOutcome]:
    """Carry out an action.

    Args:
        state: State before it.
        action: The action.
        surroundings: Space of the lab.

    Returns:
        The state after it, which is the same after a failure, and what became of the action.
    """
    if state.ended:
        return state, _failure("running")
    if action.verb == "Speak":
        return state, DONE
    if ARGUMENTS[action.verb] == "thing":
        return _act_on_thing(state, action, surroundings)
    if action.verb == "GotoRoom":
        return _go_to_room(state, action, surroundings)
    return _move(state, action, surroundings)


def _move(state: LabState, action: LabAction, surroundings: Surroundings) -> tuple[LabState, ActionOutcome]:
    allowed = AMOUNTS[action.verb]
    if action.argument not in map(str, allowed):
        amounts = f"{' or '.join(map(str, allowed))} {ARGUMENTS[action.verb]}"
        return state, _failure("amount", amounts=amounts)
    moved = surroundings.move(state, action)
    if moved is None:
        return state, _failure("free floor")
    return _check_danger(moved, surroundings)


def _go_to_room(state: LabState, action: LabAction, surroundings: Surroundings) -> tuple[LabState, ActionOutcome]:
    room = action.argument.replace("_", " ")
    if room not in ROOMS:
        return state, _failure("known room", rooms=", ".join(ROOMS))
    return surroundings.go_to_room(state, room), DONE


def _check_danger(state: LabState, surroundings: Surroundings) -> tuple[LabState, ActionOutcome]:
    """Return the state and outcome after a move, which ends the task near the active gravity flipper."""
    if surroundings.is_in_danger(state):
        return _hurt(state)
    return state, DONE


def _hurt(state: LabState) -> tuple[LabState, ActionOutcome]:
    return replace(state, ended=HURT), _failure("safe distance")


def _act_on_thing(state: LabState, action: LabAction, surroundings: Surroundings) -> tuple[LabState, ActionOutcome]:
    thing = state.by_id.get(action.argument)
    if thing is None:
        return state, _failure("known thing")
    situation, name = ActionSituation(state, action.verb, thing), KINDS[thing.kind].name
    if thing.id == state.held:
        return state, _failure("not in hand")
    if thing.room != state.room or is_enclosed(state, thing.id):
        return state, _failure("in sight", thing=name)
    if not FREE_WAY.holds(situation):
        return state, _fail(situation, FREE_WAY)
    if action.verb == "GotoObject":
        if is_dangerous(state, thing.id):
            return _hurt(state)
        moved = surroundings.go_to_thing(state, thing.id)
        return (state, _failure("a way")) if moved is None else (moved, DONE)
    rule = find_rule(situation)
    if rule is None:
        return state, _failure("possible", thing=name)
    # What floats cannot be reached from anywhere, which is the better reason. A throw needs no reach.
    if not LANDED.holds(situation):
        return state, _fail(situation, LANDED)
    if action.verb != "Throw" and not surroundings.in_reach(state, thing.id):
        return state, _failure("in reach", thing=name)
    failed = next((each for each in rule.requires if not each.holds(situation)), None)
    if failed is not None:
        return state, _fail(situation, failed)
    after, message, events = rule.effect(situation)
    return after, ActionOutcome("ActionSuccessful", message or "Done.", events=events)


def _fail(situation: ActionSituation, requirement: Requirement) -> ActionOutcome:
    thing, held = situation.thing, situation.held
    message = requirement.message.format(
        thing=KINDS[thing.kind].name, held=KINDS[held.kind].name if held else "nothing", room=thing.room
    )
    return ActionOutcome(requirement.status, message, requirement.name)


def _failure(reason: str, **fields: str) -> ActionOutcome:
    status, message = FAILURES[reason]
    return ActionOutcome(status, message.format(**fields), reason)
