"""Planners of the user's own: a function, an object or a class that says its plan as text; see docs/extending.md."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from housewise.agent.personalize.plan_parser import parse_plan
from housewise.agent.personalize.planner import MOST_STEPS, Attempt, Plan
from housewise.core.error_origin import describe_code
from housewise.core.errors import UserCodeError, UserError, excerpt
from housewise.language.base import Reply
from housewise.worlds.house.scene_graph import SceneGraph

if TYPE_CHECKING:
    from housewise.systems.personalize.planners import PlannerContext

Decide = Callable[[SceneGraph, Sequence[Attempt]], str | Plan]
"""What says the next few steps as text, one a line, given what the robot knows and what it has tried."""

_ARGUMENTS = "(graph, attempts)"


class CustomPlanner(Protocol):
    """An object that plans; ``name``, if it has one, is what records call it."""

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> str | Plan:
        """The next few steps as text, one a line; see docs/extending.md."""
        ...


class TextPlanner:
    """Plans with what a function says, read as a model's reply is.

    Args:
        name: what records call it.
        decide: called for every plan.
        label: what it is called in messages.
        most_steps: steps of a plan that are carried out.
    """

    def __init__(self, name: str, decide: Decide, label: str, most_steps: int = MOST_STEPS) -> None:
        self.name = name
        self._decide, self._label, self._most_steps = decide, label, most_steps

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan.

        Raises:
            UserCodeError: The function returns neither text nor a plan.
        """
        try:
            said = self._decide(graph, attempts)
        except SystemExit as error:
            raise UserCodeError(f"{self._label}: it ended the program ({error}) instead of returning a plan") from error
        if isinstance(said, Plan):
            return said
        if not isinstance(said, str):
            what = "None" if said is None else f"{excerpt(repr(said))}, which is {type(said).__name__} and not text"
            raise UserCodeError(
                f"{self._label}: {describe_code(self._decide)} returned {what}; return the plan as text, such as "
                "'go to kitchen 0'"
            )
        parsed = parse_plan(said, graph.vocabulary, self._most_steps)
        return Plan(parsed.steps, parsed.complete, reply=Reply(said))


class CustomPlannerFactory:
    """Makes a planner of the user's own for each episode; see PlannerFactory.

    Args:
        found: a function of what the robot knows and has tried, an object with such a method ``plan``, or a class of
            such objects, which is called without arguments or with the episode's Situation.
        label: what it is called in messages.
        most_steps: steps of a plan that are carried out.

    Raises:
        UserError: It takes other arguments.
    """

    def __init__(self, found: Any, label: str, most_steps: int = MOST_STEPS) -> None:
        self._found, self._label, self._most_steps = found, label, most_steps
        self.asks = bool(getattr(found, "asks", False))
        plan = getattr(found, "plan", None if isinstance(found, type) else found)
        if not callable(plan):
            raise self._wrong(f"{_name_of(found)} has no method plan{_ARGUMENTS} that returns text")
        if isinstance(found, type):
            if not (_binds(found, 0) or _binds(found, 1)):
                raise self._wrong(
                    f"{_name_of(found)} takes other arguments; it is called without any, or with a Situation"
                )
            is_bound = isinstance(inspect.getattr_static(found, "plan"), staticmethod | classmethod)
            fits = _binds(plan, 2 if is_bound else 3)
        else:
            fits = _binds(plan, 2)
        if not fits:
            raise self._wrong(f"{_name_of(found)} takes other arguments; it is called with {_ARGUMENTS}")

    def __call__(self, situation: PlannerContext) -> TextPlanner:
        """See PlannerFactory."""
        made = self._found
        if isinstance(made, type):
            made = made() if _binds(made, 0) else made(situation)
        decide = getattr(made, "plan", made)
        name = getattr(made, "name", None)
        return TextPlanner(
            name if isinstance(name, str) else _name_of(self._found), decide, self._label, self._most_steps
        )

    def _wrong(self, what: str) -> UserError:
        return UserError(f"{self._label}: {what}; see docs/extending.md")


def is_custom_planner(found: Any) -> bool:
    """Whether something plans itself, and is not what makes planners from settings (see PlannerFactory)."""
    if isinstance(found, type):
        return not any("__call__" in vars(each) for each in found.__mro__)
    if callable(getattr(found, "plan", None)):
        return not callable(found)
    return inspect.isroutine(found) and _binds(found, 2) and not _binds(found, 1)


def _binds(function: Any, count: int) -> bool:
    """Whether a function can be called with so many arguments; of some built-in ones nobody knows."""
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _name_of(found: Any) -> str:
    return str(getattr(found, "__name__", None) or type(found).__name__)
