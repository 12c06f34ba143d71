"""What is learned: a goal that was confirmed, and the way that brought it about (STARS, execution and learning).

A goal is kept in the words in which a person would state it ("if the object is a mug then the goal is that the object
is in the cupboard"), and read again, grounded and checked when it is recalled: what is no longer possible is not
recalled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from housewise.agent.stars.analysis import Analyser, Analysis
from housewise.agent.stars.clauses import Clause, Placement, Referent
from housewise.agent.stars.planning import Goal, execute, goal_of, plan
from housewise.agent.stars.situation import Thing
from housewise.agent.stars.tasks import Task, TaskObject
from housewise.agent.stars.vocabulary import Vocabulary
from housewise.worlds.kitchen.manipulation import ManipulationAction, ImpossibleManipulation
from housewise.worlds.kitchen.state import State

SELF = "<object>"


@dataclass(frozen=True)
class GoalNote:
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

    def lineage(self, vocabulary: Vocabulary) -> tuple[str, ...]:
        """The object's name and its kinds, the most special first."""
        known = vocabulary.lineage(self.noun)
        return known if len(known) > 1 or self.kind is None else (self.noun, *vocabulary.lineage(self.kind))


@dataclass(frozen=True)
class Generalisation:
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
class Recalled:
    """A goal that is known for an object, possible here and now.

    Attributes:
        path: what to do: the learned policy where it still brings the goal about, else a new plan.
        by_policy: whether it is the learned policy.
    """

    note: GoalNote
    analysis: Analysis
    goal: Goal
    path: tuple[ManipulationAction, ...]
    by_policy: bool


def recall(
    notes: Sequence[GoalNote],
    task: Task,
    about: TaskObject,
    state: State,
    analyser: Analyser,
    carry: Generalisation | None = None,
) -> Recalled | None:
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
    for note in _known(notes, task, about, analyser.language.vocabulary, carry or Generalisation()):
        if (found := _possible(note, task, about, state, analyser)) is not None:
            return found
    return None


def latest(notes: Iterable[GoalNote]) -> list[GoalNote]:
    """One note for each task, subtask, place and noun: a later one replaces an earlier one."""
    found: dict[tuple[str, str, str, str], GoalNote] = {}
    for note in notes:
        key = (note.task, note.subtask, note.place, note.noun)
        found.pop(key, None)
        found[key] = note
    return list(found.values())


def note_of(
    task: Task, about: TaskObject, analysis: Analysis, path: Iterable[ManipulationAction], confirmed: bool, vocabulary: Vocabulary
) -> GoalNote:
    """A goal that was used for an object, as it is kept."""
    return GoalNote(
        task=task.name,
        subtask=about.subtask,
        place=about.place,
        noun=about.thing.noun,
        statement=statement_of(analysis, about),
        policy=tuple(_taken_out(act, about.thing.name) for act in path),
        confirmed=confirmed,
        kind=next(iter(vocabulary.lineage(about.thing.noun)[1:]), None),
    )


def statement_of(analysis: Analysis, about: TaskObject) -> str:
    """A goal in the words in which a person states one: "if the object is a mug then the goal is that ..."."""
    clauses = " and ".join(_say(clause, analysis, about.thing) for clause in analysis.clauses)
    return f"if the object is a {about.thing.noun} then the goal is that {clauses}"


def _say(clause: Clause, analysis: Analysis, thing: Thing) -> str:
    def name(phrase: Referent) -> str:
        return "the object" if analysis.things.get(phrase) == (thing,) else str(phrase)

    if isinstance(clause, Placement):
        return f"{name(clause.subject)} is {clause.relation} {name(clause.target)}"
    return f"{name(clause.subject)} is {clause.state}"


def _possible(note: GoalNote, task: Task, about: TaskObject, state: State, analyser: Analyser) -> Recalled | None:
    # What is known of another thing may be recalled in a room that has no word for it.
    said = note.statement.partition(" then ")[2]
    statement = analyser.language.statement(f"if the object is a {about.thing.noun} then {said}")
    if statement is None:
        return None
    analysis = analyser.check(statement.clauses, task.situation.asked_about(about.thing))
    goal = goal_of(analysis) if analysis.viable else None
    if goal is None:
        return None
    policy = _policy(note, about.thing.name)
    try:
        if policy is not None and goal.holds(execute(state, policy)):
            return Recalled(note, analysis, goal, policy, by_policy=True)
    except ImpossibleManipulation:
        pass
    path = plan(state, goal)
    return None if path is None else Recalled(note, analysis, goal, path, by_policy=False)


def _policy(note: GoalNote, name: str) -> tuple[ManipulationAction, ...] | None:
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


def _known(
    notes: Sequence[GoalNote], task: Task, about: TaskObject, vocabulary: Vocabulary, carry: Generalisation
) -> Iterator[GoalNote]:
    nouns = vocabulary.lineage(about.thing.noun)[: carry.kinds + 1]
    usable = [note for note in notes if note.task == task.name and (note.confirmed or not carry.confirmed)]
    for noun in nouns:
        alike = [note for note in usable if noun in note.lineage(vocabulary)[: carry.kinds + 1]]
        exact = [note for note in alike if (note.subtask, note.place) == (about.subtask, about.place)]
        yield from exact
        if carry.places:
            yield from (note for note in alike if note not in exact)
