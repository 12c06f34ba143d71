"""Carries out actions in the lab by the rule table."""

from __future__ import annotations

from dataclasses import replace

from housewise.worlds.lab.actions import AMOUNTS, ARGUMENTS, ActionOutcome, LabAction, Status
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.rule_table import FREE_WAY, LANDED, Requirement, find_rule, is_dangerous
from housewise.worlds.lab.situation import ActionSituation
from housewise.worlds.lab.state import ROOMS, LabState
from housewise.worlds.lab.surroundings import Surroundings, is_enclosed

HURT = "hurt"
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
        return state, _failure("InvalidCommand", "The task has ended.", "running")
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
        words = " or ".join(map(str, allowed))
        return state, _failure("InvalidCommand", f"That can be done by {words} {ARGUMENTS[action.verb]}.", "amount")
    moved = surroundings.move(state, action)
    if moved is None:
        return state, _failure("UnsupportedNavigation", "Something is in the way.", "free floor")
    return _check_danger(moved, surroundings)


def _go_to_room(state: LabState, action: LabAction, surroundings: Surroundings) -> tuple[LabState, ActionOutcome]:
    room = action.argument.replace("_", " ")
    if room not in ROOMS:
        return state, _failure("InvalidCommand", f"There is no such room; rooms: {', '.join(ROOMS)}.", "known room")
    moved = surroundings.go_to_room(state, room)
    if moved is None:
        return state, _failure("UnsupportedNavigation", f"There is no way to the {room}.", "a way")
    return moved, DONE


def _check_danger(state: LabState, surroundings: Surroundings) -> tuple[LabState, ActionOutcome]:
    """Return the state and outcome after a move, which ends the task near the active gravity flipper."""
    if surroundings.is_in_danger(state):
        return _hurt(state)
    return state, DONE


def _hurt(state: LabState) -> tuple[LabState, ActionOutcome]:
    message = "You went too near to the active gravity flipper and are hurt."
    return replace(state, ended=HURT), _failure("KilledByHazard", message, "safe distance")


def _act_on_thing(state: LabState, action: LabAction, surroundings: Surroundings) -> tuple[LabState, ActionOutcome]:
    thing = state.by_id.get(action.argument)
    if thing is None:
        return state, _failure("InvalidCommand", "There is no such thing in view.", "known thing")
    situation = ActionSituation(state, action.verb, thing)
    if thing.id == state.held:
        return state, _failure("InvalidCommand", "That is in your hand.", "not in hand")
    if thing.room != state.room or is_enclosed(state, thing.id):
        return state, _fail(situation, _IN_SIGHT)
    if not FREE_WAY.holds(situation):
        return state, _fail(situation, FREE_WAY)
    if action.verb == "GotoObject":
        if is_dangerous(state, thing.id):
            return _hurt(state)
        moved = surroundings.go_to_thing(state, thing.id)
        return (
            (state, _failure("UnsupportedNavigation", "There is no way to it.", "a way"))
            if moved is None
            else (moved, DONE)
        )
    rule = find_rule(situation)
    if rule is None:
        return state, _fail(situation, _SUPPORTED)
    # What floats cannot be reached from anywhere, which is the better reason. A throw needs no reach.
    if not LANDED.holds(situation):
        return state, _fail(situation, LANDED)
    if action.verb != "Throw" and not surroundings.in_reach(state, thing.id):
        return state, _fail(situation, _IN_REACH)
    failed = next((each for each in rule.requires if not each.holds(situation)), None)
    if failed is not None:
        return state, _fail(situation, failed)
    after, message, events = rule.effect(situation)
    return after, ActionOutcome("ActionSuccessful", message or "Done.", events=events)


_IN_SIGHT = Requirement("in sight", "TargetInaccessible", "You do not see the {thing}.", lambda s: True)
_IN_REACH = Requirement("in reach", "TargetOutOfRange", "The {thing} is too far away.", lambda s: True)
_SUPPORTED = Requirement("possible", "UnsupportedAction", "That cannot be done with the {thing}.", lambda s: True)


def _fail(situation: ActionSituation, requirement: Requirement) -> ActionOutcome:
    thing, held = situation.thing, situation.held
    message = requirement.message.format(
        thing=KINDS[thing.kind].name, held=KINDS[held.kind].name if held else "nothing", room=thing.room
    )
    return _failure(requirement.status, message, requirement.name)


def _failure(status: Status, message: str, reason: str) -> ActionOutcome:
    return ActionOutcome(status, message, reason)
