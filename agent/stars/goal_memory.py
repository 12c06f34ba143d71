"""What is learned: a goal that was confirmed, and the way that brought it about (STARS, execution and learning).

A goal is kept in the words in which a person would state it ("if the object is a mug then the goal is that the object
is in the cupboard"), and read again, grounded and checked when it is recalled: what is no longer possible is not
recalled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from housewise.agent.stars.analysis import GoalAnalyser, GoalAnalysis
from housewise.agent.stars.goal_clauses import GoalClause, NounPhrase, PlacementClause
from housewise.agent.stars.planning import GoalState, goal_state, plan_actions, simulate_actions
from housewise.agent.stars.situation import PerceivedThing
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.agent.stars.vocabulary import RobotVocabulary
from housewise.worlds.kitchen.manipulation import ImpossibleManipulation, ManipulationAction
from housewise.worlds.kitchen.state import State

SELF = "<object>"


@dataclass(frozen=True)
class LearnedGoal:
    """A goal for objects of a name in a subtask, and its policy.

    Attributes:
        task: its name.
        subtask: what was done with the objects of a place: it tells the mug in the dish rack from that on the counter.
        place: where the object was found.
        noun: what the object is called.
        statement: the goal as a person would state it.
        policy: the acts that brought it about, ``<object>`` for the object; none where it held already.
        confirmed: whether a person said so.
        kind: of what the object is; the next room may not have it, nor know its name.
    """

    task: str
    subtask: str
    place: str
    noun: str
    statement: str
    policy: tuple[dict[str, str | None], ...] = ()
    confirmed: bool = False
    kind: str | None = None

    def lineage(self, vocabulary: RobotVocabulary) -> tuple[str, ...]:
        """The object's name and its kinds, the most special first."""
        known = vocabulary.lineage(self.noun)
        return known if len(known) > 1 or self.kind is None else (self.noun, *vocabulary.lineage(self.kind))


@dataclass(frozen=True)
class GoalGeneralisation:
    """How far a goal is carried over to what it was not learned for.

    Attributes:
        places: to objects of the name in other subtasks and places of the task.
        kinds: to objects of other names of the same kind, at most this many steps up (0: not at all).
        confirmed: only goals that a person confirmed.
    """

    places: bool = False
    kinds: int = 0
    confirmed: bool = False


@dataclass(frozen=True)
class RecalledGoal:
    """A goal that is known for an object, possible here and now.

    Attributes:
        path: what to do: the learned policy where it still brings the goal about, else a new plan.
        by_policy: whether it is the learned policy.
    """

    note: LearnedGoal
    analysis: GoalAnalysis
    goal: GoalState
    path: tuple[ManipulationAction, ...]
    by_policy: bool


def recall_goal(
    notes: Sequence[LearnedGoal],
    task: StarsTask,
    about: TaskObject,
    state: State,
    analyser: GoalAnalyser,
    carry: GoalGeneralisation | None = None,
) -> RecalledGoal | None:
    """What is known for an object here and now, None where nothing is, or where it cannot be done.

    Goals for the same subtask and place come before those that are carried over, and the most special kind first.

    Args:
        notes: what has been learned.
        task: what is being done.
        about: the object.
        state: how things are.
        analyser: reads and checks the goal again, as fixtures may be gone.
        carry: how far goals are carried over; None for not at all.
    """
    for note in _matching_goals(notes, task, about, analyser.language.vocabulary, carry or GoalGeneralisation()):
        if (found := _possible(note, task, about, state, analyser)) is not None:
            return found
    return None


def keep_latest(notes: Iterable[LearnedGoal]) -> list[LearnedGoal]:
    """One note for each task, subtask, place and noun: a later one replaces an earlier one."""
    found: dict[tuple[str, str, str, str], LearnedGoal] = {}
    for note in notes:
        key = (note.task, note.subtask, note.place, note.noun)
        found.pop(key, None)
        found[key] = note
    return list(found.values())


def learn_goal(
    task: StarsTask,
    about: TaskObject,
    analysis: GoalAnalysis,
    path: Iterable[ManipulationAction],
    confirmed: bool,
    vocabulary: RobotVocabulary,
) -> LearnedGoal:
    """A goal that was used for an object, as it is kept."""
    return LearnedGoal(
        task=task.name,
        subtask=about.subtask,
        place=about.place,
        noun=about.thing.noun,
        statement=goal_statement(analysis, about),
        policy=tuple(_taken_out(act, about.thing.name) for act in path),
        confirmed=confirmed,
        kind=next(iter(vocabulary.lineage(about.thing.noun)[1:]), None),
    )


def goal_statement(analysis: GoalAnalysis, about: TaskObject) -> str:
    """A goal in the words in which a person states one: "if the object is a mug then the goal is that ..."."""
    clauses = " and ".join(_say(clause, analysis, about.thing) for clause in analysis.clauses)
    return f"if the object is a {about.thing.noun} then the goal is that {clauses}"


def _say(clause: GoalClause, analysis: GoalAnalysis, thing: PerceivedThing) -> str:
    def name(phrase: NounPhrase) -> str:
        return "the object" if analysis.things.get(phrase) == (thing,) else str(phrase)

    if isinstance(clause, PlacementClause):
        return f"{name(clause.subject)} is {clause.relation} {name(clause.target)}"
    return f"{name(clause.subject)} is {clause.state}"


def _possible(
    note: LearnedGoal, task: StarsTask, about: TaskObject, state: State, analyser: GoalAnalyser
) -> RecalledGoal | None:
    # What is known of another thing may be recalled in a room that has no word for it.
    said = note.statement.partition(" then ")[2]
    statement = analyser.language.statement(f"if the object is a {about.thing.noun} then {said}")
    if statement is None:
        return None
    analysis = analyser.check(statement.clauses, task.situation.with_focus(about.thing))
    goal = goal_state(analysis) if analysis.viable else None
    if goal is None:
        return None
    policy = _policy(note, about.thing.name)
    try:
        if policy is not None and goal.holds(simulate_actions(state, policy)):
            return RecalledGoal(note, analysis, goal, policy, by_policy=True)
    except ImpossibleManipulation:
        pass
    path = plan_actions(state, goal)
    return None if path is None else RecalledGoal(note, analysis, goal, path, by_policy=False)


def _policy(note: LearnedGoal, name: str) -> tuple[ManipulationAction, ...] | None:
    acts = []
    for step in note.policy:
        filled = {key: name if value == SELF else value for key, value in step.items()}
        try:
            acts.append(ManipulationAction(**filled))  # type: ignore[arg-type]
        except TypeError:
            return None
    return tuple(acts)


def _taken_out(act: ManipulationAction, name: str) -> dict[str, str | None]:
    return {key: SELF if value == name else value for key, value in asdict(act).items()}


def _matching_goals(
    notes: Sequence[LearnedGoal],
    task: StarsTask,
    about: TaskObject,
    vocabulary: RobotVocabulary,
    carry: GoalGeneralisation,
) -> Iterator[LearnedGoal]:
    nouns = vocabulary.lineage(about.thing.noun)[: carry.kinds + 1]
    usable = [note for note in notes if note.task == task.name and (note.confirmed or not carry.confirmed)]
    for noun in nouns:
        alike = [note for note in usable if noun in note.lineage(vocabulary)[: carry.kinds + 1]]
        exact = [note for note in alike if (note.subtask, note.place) == (about.subtask, about.place)]
        yield from exact
        if carry.places:
            yield from (note for note in alike if note not in exact)
