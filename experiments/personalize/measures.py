"""Measures of episodes in houses that experiments take: what became of objects, and what could be understood."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from housewise.core.record import Record
from housewise.people.memory import Memory
from housewise.playback.object_outcomes import HAND, ObjectOutcome, list_object_outcomes
from housewise.systems.personalize.record import HouseRecord
from housewise.worlds.house.spoken_names import kind_from_name

_DISTURBED = "disturbed"
_REASONS = ("no space", "no steps left", "left alone")


def share_of_understood_steps(record: Record) -> float | None:
    """Return the share of steps that could be resolved to an action; None without steps."""
    actions = _read(record).actions
    return sum(action.action is not None for action in actions) / len(actions) if actions else None


def explain_outcomes(record: HouseRecord) -> dict[str, str]:
    """Return what became of each object that started out of place, and of each that ended out of place, by its name.

    Objects that started out of place are ``tidied``, at a ``wrong place``, ``in hand``, ``undiscovered``, or were not
    moved: ``no space`` (no receptacle had space), ``no steps left`` (the episode ran out of steps), ``failed`` (for
    another reason) or ``left alone`` (the robot never failed to move it). Others that end out of place are
    ``disturbed``.
    """
    return {
        outcome.name: _explain(record, outcome)
        for outcome in list_object_outcomes(record)
        if not (outcome.was_correct and outcome.is_correct)
    }


def _explain(record: HouseRecord, outcome: ObjectOutcome) -> str:
    if outcome.was_correct:
        return _DISTURBED
    if outcome.is_correct:
        return "tidied"
    if outcome.end == HAND:
        return "in hand"
    if outcome.is_displaced:
        return "wrong place"
    if not outcome.was_discovered:
        return "undiscovered"
    reason = _explain_left(record, outcome.name)
    return reason if reason in _REASONS else "failed"


def _explain_left(record: HouseRecord, name: str) -> str:
    """Return why an object that the robot knew was not moved."""
    problems = [action.reason for action in record.actions if action.target == name and action.status == "failed"]
    if "no free space" in problems:
        return "no space"
    was_dismissed = any(name in plan.known_things for plan in record.plans if plan.second_look)
    if record.result.end_reason == "out of steps" and not was_dismissed:
        return "no steps left"
    return problems[-1] if problems else "left alone"


def _count_outcomes(record: Record, outcome: str) -> float:
    return float(list(explain_outcomes(_read(record)).values()).count(outcome))


undiscovered = partial(_count_outcomes, outcome="undiscovered")
no_space = partial(_count_outcomes, outcome="no space")
no_steps_left = partial(_count_outcomes, outcome="no steps left")
left_alone = partial(_count_outcomes, outcome="left alone")
"""Numbers of objects with each outcome; see ``explain_outcomes``."""


def _count_named(record: Record, memory: Memory | None, named: bool | None, placed: bool) -> float:
    """Return how many objects started out of place, and of which the memory names a correct place, or does not.

    Args:
        record: The episode.
        memory: Memory at its start.
        named: Whether a note names a place for objects of their kind. None counts all.
        placed: Whether only objects that end in a correct place count.
    """
    notes = memory.notes if memory else ()
    about = [note.about for note in notes if isinstance(note.value, float) and note.value > 0]
    known = {kind for each in about if each.receptacle for kind in each.things}
    found = [each for each in list_object_outcomes(_read(record)) if not each.was_correct]
    found = [each for each in found if named is None or (kind_from_name(each.name) in known) == named]
    return float(sum(each.is_correct for each in found) if placed else len(found))


def out_of_place(record: Record) -> float:
    """Return how many objects started out of place."""
    return _count_named(record, None, named=None, placed=False)


def place_named(record: Record, memory: Memory | None) -> float:
    """Return how many of these there are for whose kind the memory names a place."""
    return _count_named(record, memory, named=True, placed=False)


def named_placed(record: Record, memory: Memory | None) -> float:
    """Return how many objects for whose kind the memory names a place were put in a correct one."""
    return _count_named(record, memory, named=True, placed=True)


def unnamed_placed(record: Record, memory: Memory | None) -> float:
    """Return how many other objects were put in a correct place."""
    return _count_named(record, memory, named=False, placed=True)


def _read(record: Record) -> HouseRecord:
    return HouseRecord.from_record(record, Path(record.name))
