"""Custom wrappers: a user's class around a planner, whose plans it changes or replaces; see docs/extending.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from housewise.agent.personalize.planner import MAX_STEPS, Attempt, Plan, Planner, format_steps
from housewise.core.errors import UserError
from housewise.core.plugins import WRAPPERS, call_plugin
from housewise.core.user_code import load_plugin_or_code
from housewise.language.base import Reply
from housewise.systems.personalize.custom_planners import TextPlanner, accepts
from housewise.systems.personalize.planner_context import PlannerContext
from housewise.worlds.house.scene_graph import SceneGraph


class WrappedPlannerFactory:
    """Makes the planners of another factory, each inside custom wrappers; see PlannerFactory.

    Args:
        make_planner: The other factory.
        asks_model: Whether its planners ask a model.
        wrappers: Names of the wrappers in settings, from the inside out.
        prefix: Beginning of a reply in the prompt, which the text of a plan leaves out.
        max_steps: Maximum number of steps of a plan that a wrapper returns as text.

    Raises:
        UserError: A wrapper cannot be imported, or takes other arguments.
    """

    def __init__(
        self,
        make_planner: Callable[[PlannerContext], Planner],
        asks_model: bool,
        wrappers: Sequence[str],
        prefix: str,
        max_steps: int = MAX_STEPS,
    ) -> None:
        self.asks_model = asks_model
        self._make_planner, self._prefix, self._max_steps = make_planner, prefix, max_steps
        self._wrappers = [(f"wrapper {name!r}", _load(name)) for name in wrappers]

    def __call__(self, context: PlannerContext) -> Planner:
        """See PlannerFactory."""
        planner = self._make_planner(context)
        for label, wrapper in self._wrappers:
            inner = _PlanCollector(planner)
            arguments = (inner,) if accepts(wrapper, 1) else (inner, context)
            made = call_plugin(wrapper, label, *arguments, needs=("plan",))
            text_planner = TextPlanner(planner.name, made.plan, label, self._max_steps)
            planner = _WrappedPlanner(inner, text_planner, self._prefix)
        return planner


class _PlanCollector:
    """Keeps the plans of the wrapped planner, to record what the wrapper made of them."""

    def __init__(self, planner: Planner) -> None:
        self.name = planner.name
        self.plans: list[Plan] = []
        self._planner = planner

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        self.plans.append(self._planner.plan(graph, attempts))
        return self.plans[-1]


class _WrappedPlanner:
    """Plans as a wrapper does. A plan that it changed is recorded as a reply of its own, so that it can be replayed.

    Self-training learns nothing from such a plan, because it has no prompt.
    """

    def __init__(self, inner: _PlanCollector, wrapper: TextPlanner, prefix: str) -> None:
        self.name = inner.name
        self._inner, self._wrapper, self._prefix = inner, wrapper, prefix

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        self._inner.plans.clear()
        plan, asked = self._wrapper.plan(graph, attempts), self._inner.plans
        outcome = plan.steps, plan.complete
        kept = next(
            (each for each in asked if each.reply is plan.reply and (each.steps, each.complete) == outcome), None
        )
        calls = tuple(call for each in asked if each is not kept for call in each.calls)
        if kept is not None:
            return replace(plan, prior_calls=(*calls, *plan.prior_calls)) if calls else plan
        # Actions in the prompt's form are understood in a replay with any settings.
        lines = [step.action or step.raw for step in plan.steps]
        text = f"step 1: {format_steps([*lines, *(['mission complete'] if plan.complete else [])])}"
        reply = Reply(text.removeprefix(self._prefix))
        return replace(plan, messages=(), reply=reply, prior_calls=calls, alternatives=(), written_by_model=False)


def _load(name: str) -> Any:
    """Import a wrapper, a class or another callable.

    Raises:
        UserError: It cannot be imported, or takes other arguments.
    """
    found = load_plugin_or_code(WRAPPERS, name, "wrapper")
    if not callable(found) or not (accepts(found, 1) or accepts(found, 2)):
        problem = "is called with the wrapped planner, or with the planner and a PlannerContext, and takes neither"
    elif isinstance(found, type) and not (callable(plan := getattr(found, "plan", None)) and accepts(plan, 3)):
        problem = "has no method plan(graph, attempts)"
    else:
        return found
    raise UserError(f"wrapper {name!r}: {getattr(found, '__name__', found)} {problem}; see docs/extending.md")
