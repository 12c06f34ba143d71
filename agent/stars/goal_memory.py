"""Learning: store a confirmed goal with the policy that achieved it, and recall it later.

A goal is stored in the words of a person ("if the object is a mug then the goal is that the object is in the
cupboard"). When it is recalled it is parsed, grounded and checked again, so that goals that are no longer possible are
not recalled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict

from pydantic import Field

from housewise.agent.stars.analysis_and_repair import GoalAnalyser
from housewise.agent.stars.goal_clauses import GoalClause, NounPhrase, PlacementClause
from housewise.agent.stars.lessons import LearnedGoal, Plan, RecalledGoal
from housewise.agent.stars.planning import goal_state, plan_actions, simulate_actions
from housewise.agent.stars.responses import GoalAnalysis
from housewise.agent.stars.situation import PerceivedThing
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.core.settings import Settings
from housewise.worlds.kitchen.manipulation import ImpossibleManipulation, ManipulationAction
from housewise.worlds.kitchen.state import State

SELF = "<object>"


class GoalGeneralisation(Settings):
    """How far learned goals are applied beyond what they were learned for."""

    other_places: bool = False
    """Whether goals apply to objects of the same name in other subtasks and places of the task."""
    max_kind_levels: int = Field(default=0, ge=0, le=100)
    """Number of levels up the hierarchy of kinds within which goals apply to objects with other names. 0 applies them
    to objects of the same name only."""
    confirmed_only: bool = False
    """Whether only goals that a person confirmed are applied."""


class LearnedGoals:
    """The goals and policies that were learned.

    Args:
        task: Current task.
        analyser: Checks recalled goals again, because fixtures may have disappeared.
        known: Goals learned earlier.
        generalisation: How far goals are generalised. None means not at all.
    """

    def __init__(
        self,
        task: StarsTask,
        analyser: GoalAnalyser,
        known: Iterable[LearnedGoal] = (),
        generalisation: GoalGeneralisation | None = None,
    ) -> None:
        self._task, self._analyser = task, analyser
        self._generalisation = generalisation or GoalGeneralisation()
        self._known = keep_latest(known)

    def recall(self, about: TaskObject, state: State) -> RecalledGoal | None:
        """Return the learned goal for an object here and now. None if there is none or it cannot be achieved.

        Goals learned for the same subtask and place come before generalised ones, and specific kinds before general
        ones.
        """
        possible = (self._possible(note, about, state) for note in self._matching_goals(about))
        return next((found for found in possible if found is not None), None)

    def learn(self, about: TaskObject, used: GoalAnalysis, path: Plan, confirmed: bool) -> LearnedGoal:
        """Keep the goal that was used for an object, with the actions that achieve it."""
        learned = LearnedGoal(
            task=self._task.name,
            subtask=about.subtask,
            place=about.place,
            noun=about.thing.noun,
            statement=goal_statement(used, about),
            policy=tuple(_taken_out(act, about.thing.name) for act in path),
            confirmed=confirmed,
            kind=next(iter(self._analyser.language.vocabulary.lineage(about.thing.noun)[1:]), None),
        )
        self._known = keep_latest([*self._known, learned])
        return learned

    def _matching_goals(self, about: TaskObject) -> Iterator[LearnedGoal]:
        vocabulary, how_far = self._analyser.language.vocabulary, self._generalisation
        levels = how_far.max_kind_levels + 1
        usable = [
            note
            for note in self._known
            if note.task == self._task.name and (note.confirmed or not how_far.confirmed_only)
        ]
        for noun in vocabulary.lineage(about.thing.noun)[:levels]:
            alike = [note for note in usable if noun in note.lineage(vocabulary)[:levels]]
            exact = [note for note in alike if (note.subtask, note.place) == (about.subtask, about.place)]
            yield from exact
            if how_far.other_places:
                yield from (note for note in alike if note not in exact)

    def _possible(self, note: LearnedGoal, about: TaskObject, state: State) -> RecalledGoal | None:
        # The goal may have been learned for a thing whose noun is unknown in this room, so that its noun is replaced.
        said = note.statement.partition(" then ")[2]
        statement = self._analyser.language.statement(f"if the object is a {about.thing.noun} then {said}")
        if statement is None:
            return None
        analysis = self._analyser.check(statement.clauses, self._task.situation.with_focus(about.thing))
        goal = goal_state(analysis) if analysis.viable else None
        if goal is None:
            return None
        policy = _policy(note, about.thing.name)
        try:
            if policy is not None and goal.holds(simulate_actions(state, policy)):
                return RecalledGoal(note, analysis, policy, by_policy=True)
        except ImpossibleManipulation:
            pass
        path = plan_actions(state, goal)
        return None if path is None else RecalledGoal(note, analysis, path, by_policy=False)


def keep_latest(notes: Iterable[LearnedGoal]) -> list[LearnedGoal]:
    """Keep one goal per task, subtask, place and noun: the latest one."""
    found: dict[tuple[str, str, str, str], LearnedGoal] = {}
    for note in notes:
        key = (note.task, note.subtask, note.place, note.noun)
        found.pop(key, None)
        found[key] = note
    return list(found.values())


def goal_statement(analysis: GoalAnalysis, about: TaskObject) -> str:
    """Return a goal in the words in which a person states one: "if the object is a mug then the goal is that ..."."""
    clauses = " and ".join(_say(clause, analysis, about.thing) for clause in analysis.clauses)
    return f"if the object is a {about.thing.noun} then the goal is that {clauses}"


def _say(clause: GoalClause, analysis: GoalAnalysis, thing: PerceivedThing) -> str:
    def name(phrase: NounPhrase) -> str:
        return "the object" if analysis.things.get(phrase) == (thing,) else str(phrase)

    if isinstance(clause, PlacementClause):
        return f"{name(clause.subject)} is {clause.relation} {name(clause.target)}"
    return f"{name(clause.subject)} is {clause.state}"


def _policy(note: LearnedGoal, name: str) -> tuple[ManipulationAction, ...] | None:
    filled = [{key: name if value == SELF else value for key, value in step.items()} for step in note.policy]
    try:
        return tuple(ManipulationAction(**step) for step in filled)  # type: ignore[arg-type]
    except TypeError:
        return None


def _taken_out(act: ManipulationAction, name: str) -> dict[str, str | None]:
    return {key: SELF if value == name else value for key, value in asdict(act).items()}
