"""Custom planners: a user's function, object or class that returns its plan as text; see docs/extending.md."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from housewise.agent.personalize.plan_normalizer import parse_any_plan
from housewise.agent.personalize.planner import MAX_STEPS, Attempt, Plan, Planner
from housewise.core.error_origin import describe_code
from housewise.core.errors import UserCodeError, UserError
from housewise.core.printable_text import excerpt
from housewise.language.base import Reply
from housewise.systems.personalize.planner_context import PlannerContext
from housewise.worlds.house.scene_graph import SceneGraph

Decide = Callable[[SceneGraph, Sequence[Attempt]], str | Plan]
"""Returns the next steps as text, one per line, given the scene graph and the attempts."""

_ARGUMENTS = "(graph, attempts)"


class CustomPlanner(Protocol):
    """An object that plans. Its ``name``, if any, is its name in records."""

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> str | Plan:
        """Return the next steps as text, one per line; see docs/extending.md."""


class TextPlanner:
    """Plans with the text that a function returns, which is parsed like a model's reply.

    Args:
        name: Name in records.
        decide: Called for every plan.
        label: Name in error messages.
        max_steps: Maximum number of steps of a plan.
    """

    def __init__(self, name: str, decide: Decide, label: str, max_steps: int = MAX_STEPS) -> None:
        self.name = name
        self._decide, self._label, self._max_steps = decide, label, max_steps

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan.

        Raises:
            UserCodeError: The function returns neither text nor a plan.
        """
        try:
            text = self._decide(graph, attempts)
        except SystemExit as error:
            raise UserCodeError(f"{self._label}: it ended the program ({error}) instead of returning a plan") from error
        if isinstance(text, Plan):
            return text
        if not isinstance(text, str):
            what = "None" if text is None else f"{excerpt(repr(text))}, which is {type(text).__name__} and not text"
            raise UserCodeError(
                f"{self._label}: {describe_code(self._decide)} returned {what}; return the plan as text, such as "
                "'go to kitchen 0'"
            )
        parsed = parse_any_plan(text, graph.vocabulary, self._max_steps)
        return Plan(parsed.steps, parsed.complete, reply=Reply(text))


class CustomPlannerFactory:
    """Makes a custom planner for each episode; see PlannerFactory.

    Args:
        planner: A function of scene graph and attempts, an object with such a method ``plan``, or a class of such
            objects,
            which is called without arguments or with the episode's PlannerContext.
        label: Name in error messages.
        max_steps: Maximum number of steps of a plan.

    Raises:
        UserError: It takes other arguments.
    """

    def __init__(self, planner: Any, label: str, max_steps: int = MAX_STEPS) -> None:
        self._planner, self._label, self._max_steps = planner, label, max_steps
        self.asks_model = find_asks_model(planner) or False
        plan = getattr(planner, "plan", None if isinstance(planner, type) else planner)
        if not callable(plan):
            raise self._error(f"{_name_of(planner)} has no method plan{_ARGUMENTS} that returns text")
        if isinstance(planner, type):
            if not (accepts(planner, 0) or accepts(planner, 1)):
                raise self._error(
                    f"{_name_of(planner)} takes other arguments; it is called without any, or with a PlannerContext"
                )
            is_bound = isinstance(inspect.getattr_static(planner, "plan"), staticmethod | classmethod)
            fits = accepts(plan, 2 if is_bound else 3)
        else:
            fits = accepts(plan, 2)
        if not fits:
            raise self._error(f"{_name_of(planner)} takes other arguments; it is called with {_ARGUMENTS}")

    def __call__(self, context: PlannerContext) -> TextPlanner:
        """See PlannerFactory."""
        planner = self._planner
        if isinstance(planner, type):
            planner = planner() if accepts(planner, 0) else planner(context)
        decide = getattr(planner, "plan", planner)
        name = getattr(planner, "name", None)
        return TextPlanner(
            name if isinstance(name, str) else _name_of(self._planner), decide, self._label, self._max_steps
        )

    def _error(self, what: str) -> UserError:
        return UserError(f"{self._label}: {what}; see docs/extending.md")


@dataclass
class FormerPlannerFactory:
    """A factory that was written when ``asks_model`` was called ``asks``.

    Attributes:
        factory: The factory.
        asks_model: Whether its planners ask a model.
    """

    factory: Callable[[PlannerContext], Planner]
    asks_model: bool

    def __call__(self, context: PlannerContext) -> Planner:
        """See PlannerFactory."""
        return self.factory(context)


def find_asks_model(planner: object) -> bool | None:
    """Return whether a planner or a factory asks a model, or None if it does not say so.

    Warns:
        DeprecationWarning: It says so under the former name ``asks``.
    """
    value = getattr(planner, "asks_model", None)
    if value is None and (value := getattr(planner, "asks", None)) is not None:
        warnings.warn(f"planner {_name_of(planner)}: asks is now called asks_model", DeprecationWarning, stacklevel=3)
    return value if isinstance(value, bool) else None


def is_custom_planner(planner: Any) -> bool:
    """Whether an object plans itself, and is not a factory of planners (see PlannerFactory)."""
    if isinstance(planner, type):
        return not any("__call__" in vars(each) for each in planner.__mro__)
    if callable(getattr(planner, "plan", None)):
        return not callable(planner)
    return inspect.isroutine(planner) and accepts(planner, 2) and not accepts(planner, 1)


def accepts(function: Any, count: int) -> bool:
    """Whether a function or class can be called with this many arguments.

    Built-in functions without a signature count as accepting.
    """
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _name_of(planner: Any) -> str:
    return str(getattr(planner, "__name__", None) or type(planner).__name__)
