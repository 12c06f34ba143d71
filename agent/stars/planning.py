"""Plan the actions that bring a goal about, by breadth-first search in the symbolic world (STARS, execution)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from housewise.agent.stars.goal_clauses import NounPhrase, PlacementClause
from housewise.agent.stars.responses import GoalAnalysis
from housewise.worlds.kitchen.manipulation import (
    OPEN_TAG,
    ManipulationAction,
    apply_action,
    possible_actions,
    standing_furniture,
)
from housewise.worlds.kitchen.state import Place, State

# One clause needs at most seven actions: go, open, go, pick up, go, put, close. The limit allows for two clauses.
MAX_ACTIONS = 14
MAX_STATES = 20_000
_OPENNESS = {"closed": False, "opened": True}


@dataclass(frozen=True)
class GoalState:
    """The facts that a goal requires.

    Attributes:
        places: Required place of things, by id.
        open: Whether things must be open, by id.
    """

    places: Mapping[str, Place]
    open: Mapping[str, bool]

    def holds(self, state: State) -> bool:
        """Return whether all required facts are true."""
        return all(state.place(id) == place for id, place in self.places.items()) and all(
            state.has_tag(id, OPEN_TAG) == is_open for id, is_open in self.open.items()
        )


def plan_goal(analysis: GoalAnalysis, state: State) -> tuple[ManipulationAction, ...] | None:
    """Return the shortest plan for an analysed goal; see plan_actions. None if the goal is not viable."""
    goal = goal_state(analysis) if analysis.viable else None
    return plan_actions(state, goal) if goal is not None else None


def goal_state(analysis: GoalAnalysis) -> GoalState | None:
    """Return the facts that a viable goal requires.

    None if no action can achieve them, for example to be full or to be under something.
    """
    places: dict[str, Place] = {}
    openness: dict[str, bool] = {}
    for clause in analysis.clauses:
        subject = _thing_name(clause.subject, analysis)
        if isinstance(clause, PlacementClause):
            target = _thing_name(clause.target, analysis)
            if subject is None or target is None or subject in places or clause.relation not in ("in", "on"):
                return None
            places[subject] = Place(target, "in" if clause.relation == "in" else "on")
        elif subject is None or clause.state not in _OPENNESS:
            return None
        else:
            openness[subject] = _OPENNESS[clause.state]
    return GoalState(places, openness)


def plan_actions(state: State, goal: GoalState) -> tuple[ManipulationAction, ...] | None:
    """Return the shortest plan for a goal.

    Things that can be opened stay as the plan leaves them unless the goal says otherwise.

    Returns:
        The actions; empty if the goal holds already, None if there is no plan.
    """
    ids = _relevant_ids(state, goal)
    if ids is None:
        return None
    start = state.substate(ids)
    reached: dict[object, tuple[ManipulationAction, ...]] = {start: ()}
    waiting = deque([state])
    while waiting and len(reached) < MAX_STATES:
        now = waiting.popleft()
        path = reached[now.substate(ids)]
        if goal.holds(now):
            return path
        if len(path) == MAX_ACTIONS:
            continue
        for act in possible_actions(now, ids):
            then = apply_action(now, act)
            if then.substate(ids) not in reached:
                reached[then.substate(ids)] = (*path, act)
                waiting.append(then)
    return None


def simulate_actions(state: State, path: Sequence[ManipulationAction]) -> State:
    """Return the state after some actions.

    Raises:
        ImpossibleManipulation: The state does not allow one of the actions.
    """
    for act in path:
        state = apply_action(state, act)
    return state


def _thing_name(phrase: NounPhrase, analysis: GoalAnalysis) -> str | None:
    thing = analysis.first_thing(phrase)
    return None if thing is None else thing.name


def _relevant_ids(state: State, goal: GoalState) -> frozenset[str] | None:
    """Return the ids that a plan may involve: those that the goal names, and the furniture where they are."""
    named = {*goal.places, *goal.open, *(place.holder for place in goal.places.values())}
    if any(id not in state for id in named):
        return None
    around = {holder for id in named for holder in state.holders(id) if state.place(holder) is not None}
    here = {standing_furniture(state, id) for id in named if state.place(id) is not None}
    held = {state.held_thing} if state.held_thing else set()
    return frozenset(named | around | here | held)
