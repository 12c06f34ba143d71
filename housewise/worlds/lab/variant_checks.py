"""Checks variants of your own against the rules. The bundled ones are checked by tests."""

from __future__ import annotations

from collections.abc import Collection

from housewise.core.errors import UserError, suggest_names
from housewise.worlds.lab.goals import TASKS
from housewise.worlds.lab.kinds import KINDS, Property
from housewise.worlds.lab.planner import make_plan
from housewise.worlds.lab.rules import step
from housewise.worlds.lab.state import ROOMS, LabState
from housewise.worlds.lab.surroundings import OpenSpace
from housewise.worlds.lab.variants import PRECONDITIONS, Precondition, Variant

_ABOUT_ROOMS: tuple[Precondition, ...] = ("power", "assemble_fusebox")
_NEEDS: dict[Precondition, Property] = {
    "deembiggen": "pickupable", "landing": "pickupable", "transform_carrot": "pickupable",
    "disinfect_computer": "infectable", "print": "pickupable",
}  # fmt: skip
"""What the thing has to be that a precondition is about."""


def check_variant(variant: Variant) -> None:
    """Check that a variant names nothing that the rules do not have.

    Raises:
        UserError: It names an unknown task, kind, room or precondition, or its precondition is about nothing.
    """
    goal = variant.goal
    _check_name(variant, "task", goal.task, TASKS)
    _check_name(variant, "precondition", variant.precondition, PRECONDITIONS)
    if goal.kind:
        _check_name(variant, "kind", goal.kind, KINDS)
    if goal.room:
        _check_name(variant, "room", goal.room, ROOMS)
    if variant.precondition in _ABOUT_ROOMS:
        _check_name(variant, "needed: room", variant.needed.removeprefix("@"), ROOMS)
    elif (needed := _NEEDS.get(variant.precondition)) is not None:
        _check_name(variant, "needed: kind", variant.needed, KINDS)
        if needed not in KINDS[variant.needed].properties:
            raise UserError(
                f"variant {variant.name}: needed: the {KINDS[variant.needed].name} is not {needed}, so that the "
                f"precondition {variant.precondition} cannot be about it"
            )


def check_solvable(variant: Variant, state: LabState) -> None:
    """Check that the planner reaches the goal of a variant, and every subgoal on the way.

    Args:
        variant: The variant.
        state: State of its lab at the beginning.

    Raises:
        UserError: It does not, or the goal is reached at the beginning.
    """
    name, goal, space = variant.name, variant.goal, OpenSpace()
    if goal.holds(state):
        raise UserError(f"variant {name}: the goal is reached at the beginning; choose another precondition or thing")
    events: set[str] = set()
    missing = {each.name: each for each in goal.subgoals(variant.precondition, variant.needed)}
    for each in make_plan(state, goal, space):
        state, outcome = step(state, each.action, space)
        events |= set(outcome.events)
        missing = {key: subgoal for key, subgoal in missing.items() if not subgoal.holds(state, events)}
    if not goal.holds(state, events):
        raise UserError(f"variant {name}: nobody can reach the goal by the rules; choose another thing, color or room")
    if missing:
        raise UserError(f"variant {name}: no way to the goal reaches the subgoal {next(iter(missing))!r}")


def _check_name(variant: Variant, field: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise UserError(f"variant {variant.name}: {field}: there is no {name!r}; {suggest_names(name, known)}")
