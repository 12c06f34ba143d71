"""The plan simulator: what the robot can do next in the house as it knows it, without trying it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import dropwhile

from housewise.agent.personalize.plan_parser import NOT_AN_ACTION, ParsedPlan, ParsedStep
from housewise.agent.personalize.planner import Attempt, Plan
from housewise.agent.personalize.step_phrasing import strip_numbering
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import ROBOT, SceneGraph


class PlanSimulator:
    """The known house as it would be after some actions.

    This is SayPlan's scene graph simulator (Rana et al. 2023, section 3.3).

    Args:
        graph: Everything that the robot knows. It is not changed.
        attempts: Everything that was tried in this episode, which tells where the robot is.
        must_look: Whether the robot has to look at a receptacle before it picks up or places something there, and has
            to go there before it looks.
    """

    def __init__(self, graph: SceneGraph, attempts: Sequence[Attempt] = (), must_look: bool = True) -> None:
        self._graph, self._must_look = graph, must_look
        self._places = {thing: graph.container_of(thing) or ROBOT for thing in graph.objects}
        self._at: str | None = None
        self._looking_at: str | None = None
        for attempt in attempts:
            self._apply_attempt(attempt)

    @property
    def holding(self) -> str | None:
        """The object that the robot would hold."""
        return next((thing for thing, place in self._places.items() if place == ROBOT), None)

    def problem(self, action: HighLevelAction) -> str:
        """Return why an action is not feasible now, in words. Empty if it is feasible."""
        kind, target, holding = action.kind, action.target, self.holding
        if kind == ActionKind.PLACE:
            if holding != target:
                return f"you do not hold {target}" + (f" but {holding}" if holding else "; pick it up first")
            return self._reach_problem(action.destination or "", action.destination or "")
        if target == holding:
            return f"you hold {target} already"
        if kind == ActionKind.PICK_UP:
            return (
                f"your hand is full; place {holding} first"
                if holding
                else self._reach_problem(target, self._location(target))
            )
        if kind == ActionKind.LOOK_AT and self._must_look and self._location(target) != self._at:
            return f"you are not there; go to {target} first"
        return ""

    def apply(self, action: HighLevelAction) -> None:
        """Change the state as if an action had succeeded."""
        kind, target = action.kind, action.target
        if kind == ActionKind.GO_TO:
            self._at, self._looking_at = self._location(target), None
        elif kind == ActionKind.LOOK_AT:
            self._looking_at = self._location(target)
        elif kind == ActionKind.PICK_UP:
            self._places[target] = ROBOT
        else:
            self._places[target] = action.destination or ""

    def simulate(self, steps: Iterable[ParsedStep]) -> Iterator[tuple[ParsedStep, str]]:
        """Apply the feasible steps. Yield each step, without its action if that is infeasible, and its problem."""
        for number, step in enumerate(steps, start=1):
            reason = step.problem if step.action is None else self.problem(step.action)
            if step.action is None or reason:
                yield ParsedStep(step.raw, None, reason), f"step {number} ({step.raw}) cannot be done: {reason}"
            else:
                self.apply(step.action)
                yield step, ""

    def feasible_actions(self) -> Iterator[HighLevelAction]:
        """Yield every action that is feasible now and changes the state."""
        rooms, receptacles = self._graph.rooms, self._graph.receptacles
        free = self.holding is None
        names = [*rooms, *receptacles, *(self._places if free else ())]
        for name in names:
            if self._location(name) != self._at:
                yield HighLevelAction(ActionKind.GO_TO, name)
            elif self._at != self._looking_at and name not in rooms:
                yield HighLevelAction(ActionKind.LOOK_AT, name)
        if free:
            actions = [HighLevelAction(ActionKind.PICK_UP, thing) for thing in self._places]
        else:
            actions = [HighLevelAction(ActionKind.PLACE, self.holding or "", place) for place in receptacles]
        yield from (action for action in actions if not self.problem(action))

    def _reach_problem(self, name: str, place: str) -> str:
        if place != self._at:
            return f"you are not there; go to {name} first"
        return (
            "" if place == self._looking_at or not self._must_look else f"you do not look there; look at {name} first"
        )

    def _location(self, name: str) -> str:
        """Return where the robot goes to reach a thing: the receptacle of an object, else the thing itself."""
        return self._places.get(name, name)

    def _apply_attempt(self, attempt: Attempt) -> None:
        """Update where an attempt left the robot, as far as the present graph tells."""
        action = attempt.action
        if action.kind == ActionKind.GO_TO:
            place = self._location(action.target) if attempt.succeeded else ROBOT
            self._at, self._looking_at = None if place == ROBOT else place, None
        elif action.kind == ActionKind.LOOK_AT and attempt.succeeded:
            self._looking_at = self._location(action.target)


def find_problem(plan: ParsedPlan, graph: SceneGraph, attempts: Sequence[Attempt] = ()) -> str:
    """Simulate a plan and return its first problem in words. Empty if it is feasible.

    The problem is the first infeasible step and the reason (SayPlan, section 3.3). Text before the first step is
    ignored.
    """
    house = PlanSimulator(graph, attempts)
    steps = dropwhile(_is_chatter, plan.steps) if any(step.action for step in plan.steps) else plan.steps
    for _, problem in house.simulate(steps):
        if problem:
            return problem
    if plan.complete and house.holding is not None:
        return f"the plan ends with {house.holding} in your hand"
    return "" if plan.steps or plan.complete else "there is no step in it"


def remove_infeasible_steps(plan: Plan, graph: SceneGraph, attempts: Sequence[Attempt]) -> tuple[Plan, str]:
    """Simulate a plan and remove the actions of its infeasible steps (STARS, analysis).

    Looking at a receptacle is not required: the robot may see it from where it stands.

    Args:
        plan: Plan of a model.
        graph: Everything that the robot knows.
        attempts: Everything that was tried in this episode.

    Returns:
        The plan, whose infeasible steps have a reason instead of an action, and the first problem in words. The problem
        is empty if every step is feasible.
    """
    outcomes = list(PlanSimulator(graph, attempts, must_look=False).simulate(plan.steps))
    first = next((problem for _, problem in outcomes if problem), "")
    return replace(plan, steps=tuple(step for step, _ in outcomes)), first


def _is_chatter(step: ParsedStep) -> bool:
    """Whether a line is neither a step nor numbered like one."""
    return step.problem == NOT_AN_ACTION and strip_numbering(step.raw) == step.raw
