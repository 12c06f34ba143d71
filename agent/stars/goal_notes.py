"""Convert learned goals to notes of a person's memory and back. People can read, edit and forget the notes.

A goal is recalled in the subtask in which it was learned. If a person confirmed that a kind of thing belongs in a place
independent of the subtask, a second note says so, which every robot of that person can use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from housewise.agent.stars.goal_clauses import PlacementClause
from housewise.agent.stars.goal_memory import keep_latest
from housewise.agent.stars.lessons import LearnedGoal
from housewise.agent.stars.oversight import goal_place
from housewise.agent.stars.responses import GoalAnalysis
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.people.memory import About, Note
from housewise.people.memory.note import MAX_TEXT_CHARACTERS
from housewise.worlds.kitchen.manipulation import ManipulationAction

_UNCONFIRMED = "nobody confirmed: "
_PUT = re.compile(r"put (?P<thing>.+?) (?P<relation>in|on) (?P<target>.+)")
_ALONE = re.compile(r"(?P<verb>go to|open|close|pick up) (?P<thing>.+)")
_SITUATION = re.compile(r"(?P<place>[^()]+?)(?: \((?P<kind>[^()]+)\))?")
_NUMBER = re.compile(r" \d+$")


def goal_to_notes(
    goal: LearnedGoal, task: StarsTask, about: TaskObject, used: GoalAnalysis, person: str
) -> Iterator[Note]:
    """Yield the notes of a learned goal.

    Args:
        goal: The learned goal.
        task: Task in which it was learned.
        about: Object for which it was learned.
        used: Analysis of the goal.
        person: Person of the memory.
    """
    words = "; ".join(str(ManipulationAction(**step)) for step in goal.policy)  # type: ignore[arg-type]
    text = goal.statement if goal.confirmed else f"{_UNCONFIRMED}{goal.statement}"
    learned = Note(
        person=person,
        kind="goal",
        text=f"{text[:1].upper()}{text[1:]}.",
        about=About(
            things=(_unhyphenate(goal.noun),),
            task=goal.task,
            subtask=goal.subtask,
            situation=goal.place + (f" ({goal.kind})" if goal.kind else ""),
        ),
        value=words if len(words) <= MAX_TEXT_CHARACTERS else None,
    )
    yield learned
    place = goal_place(used, about.thing)
    if goal.confirmed and place is not None and _holds_for_all_of_kind(goal, task):
        belongs = "belong" if about.plural else "belongs"
        where, kind = _NUMBER.sub("", place), _unhyphenate(goal.noun)
        relation = next(clause.relation for clause in used.clauses if isinstance(clause, PlacementClause))
        yield Note(
            person=person,
            kind="goal",
            text=f"The {kind} {belongs} {relation} the {where} in the {task.room.noun}.",
            about=About(things=(kind,), receptacle=where, room=task.room.noun),
            value=1.0,
            derived_from=(learned.id,),
        )


def note_to_goal(note: Note) -> LearnedGoal | None:
    """Return the goal that a note describes, or None if it describes none."""
    about = note.about
    where = _SITUATION.fullmatch(about.situation or "")
    if note.kind != "goal" or about.task is None or about.subtask is None or len(about.things) != 1 or where is None:
        return None
    text = f"{note.text[:1].lower()}{note.text[1:]}".rstrip(".")
    confirmed = not text.startswith(_UNCONFIRMED)
    return LearnedGoal(
        task=about.task,
        subtask=about.subtask,
        place=where["place"],
        noun=about.things[0].replace(" ", "-"),
        statement=text if confirmed else text[len(_UNCONFIRMED) :],
        policy=tuple(_parse_policy(note.value)) if isinstance(note.value, str) else (),
        confirmed=confirmed,
        kind=where["kind"],
    )


def goals_from_notes(notes: Iterable[Note]) -> list[LearnedGoal]:
    """Return the goals that notes describe. Later notes replace earlier ones.

    Args:
        notes: Notes, oldest first.
    """
    return keep_latest(goal for note in notes if (goal := note_to_goal(note)) is not None)


def _holds_for_all_of_kind(goal: LearnedGoal, task: StarsTask) -> bool:
    """Return whether things of the goal's noun are found in one place only, so that the place does not matter."""
    return len({(each.subtask, each.place) for each in task.objects if each.thing.noun == goal.noun}) == 1


def _parse_policy(words: str) -> Iterator[dict[str, str | None]]:
    for step in filter(None, (step.strip() for step in words.split(";"))):
        if put := _PUT.fullmatch(step):
            yield {"verb": "put", **put.groupdict()}
        elif alone := _ALONE.fullmatch(step):
            yield {**alone.groupdict(), "relation": "in", "target": None}


def _unhyphenate(noun: str) -> str:
    return noun.replace("-", " ")
