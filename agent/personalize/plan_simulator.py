"""What is possible next in the house as the robot knows it: told from the graph and the steps before, not tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import dropwhile

from housewise.agent.personalize.plan_parser import NOT_AN_ACTION, ParsedPlan, ParsedStep
from housewise.agent.personalize.planner import Attempt
from housewise.agent.personalize.step_phrasing import strip_numbering
from housewise.worlds.house.actions import ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import ROBOT, SceneGraph


class PlanSimulator:
    """The known house as it would be after some actions.

    Args:
        graph: all that the robot knows; not changed.
        attempts: everything tried in this episode, which tells where the robot is.
        looks: whether a place has to be looked at before something there is picked up or placed, and can be from where
            it is alone.
    """

    def __init__(self, graph: SceneGraph, attempts: Sequence[Attempt] = (), looks: bool = True) -> None:
        self._graph, self._looks = graph, looks
        self._places = {thing: graph.place_of(thing) or ROBOT for thing in graph.objects}
        self._at: str | None = None
        self._looking_at: str | None = None
        self._unexplored = {room for room in graph.rooms if not graph.inside(room)}
        for attempt in attempts:
            self._recall(attempt)

    @property
    def holding(self) -> str | None:
        """The object that would be in the hand."""
        return next((thing for thing, place in self._places.items() if place == ROBOT), None)

    @property
    def may_complete(self) -> bool:
        """Whether all could be in its place: nothing is in the hand, and every room has been seen or tried."""
        return self.holding is None and not self._unexplored

    def problem(self, action: HighLevelAction) -> str:
        """Why an action cannot be done now, in words; empty when it can."""
        kind, target, holding = action.kind, action.target, self.holding
        if kind == ActionKind.PLACE:
            if holding != target:
                return f"you do not hold {target}" + (f" but {holding}" if holding else "; pick it up first")
            return self._out_of_reach(action.destination or "", action.destination or "")
        if target == holding:
            return f"you hold {target} already"
        if kind == ActionKind.PICK_UP:
            return (
                f"your hand is full; place {holding} first"
                if holding
                else self._out_of_reach(target, self._place(target))
            )
        if kind == ActionKind.LOOK_AT and self._looks and self._place(target) != self._at:
            return f"you are not there; go to {target} first"
        return ""

    def do(self, action: HighLevelAction) -> None:
        """Take an action as done."""
        kind, target = action.kind, action.target
        if kind == ActionKind.GO_TO:
            self._at, self._looking_at = self._place(target), None
        elif kind == ActionKind.LOOK_AT:
            self._looking_at = self._place(target)
        elif kind == ActionKind.PICK_UP:
            self._places[target] = ROBOT
        else:
            self._places[target] = action.destination or ""

    def feasible(self) -> Iterator[HighLevelAction]:
        """Every action that can be done now and changes something."""
        rooms, receptacles = self._graph.rooms, self._graph.receptacles
        free = self.holding is None
        names = [*rooms, *receptacles, *(self._places if free else ())]
        for name in names:
            if self._place(name) != self._at:
                yield HighLevelAction(ActionKind.GO_TO, name)
            elif self._at != self._looking_at and name not in rooms:
                yield HighLevelAction(ActionKind.LOOK_AT, name)
        if free:
            actions = [HighLevelAction(ActionKind.PICK_UP, thing) for thing in self._places]
        else:
            actions = [HighLevelAction(ActionKind.PLACE, self.holding or "", place) for place in receptacles]
        yield from (action for action in actions if not self.problem(action))

    def _out_of_reach(self, name: str, place: str) -> str:
        if place != self._at:
            return f"you are not there; go to {name} first"
        return "" if place == self._looking_at or not self._looks else f"you do not look there; look at {name} first"

    def _place(self, name: str) -> str:
        """Where one goes to get to a thing: the receptacle of an object, else the thing itself."""
        return self._places.get(name, name)

    def _recall(self, attempt: Attempt) -> None:
        """Take in where an attempt left the robot, as far as the present graph tells."""
        action = attempt.action
        if action.kind == ActionKind.GO_TO:
            self._unexplored.discard(action.target)
            place = self._place(action.target) if attempt.succeeded else ROBOT
            self._at, self._looking_at = None if place == ROBOT else place, None
        elif action.kind == ActionKind.LOOK_AT and attempt.succeeded:
            self._looking_at = self._place(action.target)


def find_problem(plan: ParsedPlan, graph: SceneGraph, attempts: Sequence[Attempt] = ()) -> str:
    """What is wrong with a plan, in words, found by doing it in thought; empty when nothing is.

    SayPlan's scene graph simulator (Rana et al. 2023, section 3.3): the first step that cannot be done, and why. Words
    before the first step are passed over.
    """
    house = PlanSimulator(graph, attempts)
    begun = dropwhile(_chatter, plan.steps) if any(step.action for step in plan.steps) else plan.steps
    for number, step in enumerate(begun, start=1):
        problem = step.problem if step.action is None else house.problem(step.action)
        if problem or step.action is None:
            return f"step {number} ({step.raw}) cannot be done: {problem}"
        house.do(step.action)
    if plan.complete and house.holding is not None:
        return f"the plan ends with {house.holding} in your hand"
    return "" if plan.steps or plan.complete else "there is no step in it"


def _chatter(step: ParsedStep) -> bool:
    """Whether a line is neither a step nor numbered like one."""
    return step.problem == NOT_AN_ACTION and strip_numbering(step.raw) == step.raw
