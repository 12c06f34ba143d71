"""Measures of episodes in houses that experiments take: what was left out of place, and what could be understood."""

from __future__ import annotations

from pathlib import Path

from housewise.core.record import Record
from housewise.systems.personalize.record import HouseRecord

_LEFT_ALONE = "left alone"


def undiscovered(record: Record) -> float:
    """Return how many objects are left out of place that the robot has not seen."""
    return _count_left(record, "undiscovered")


def no_space(record: Record) -> float:
    """Return how many objects are left out of place because no receptacle had space for them."""
    return _count_left(record, "no space")


def no_steps_left(record: Record) -> float:
    """Return how many known objects are left out of place because the episode ran out of steps."""
    return _count_left(record, "no steps left")


def left_alone(record: Record) -> float:
    """Return how many known objects are left out of place that the robot never failed to move."""
    return _count_left(record, _LEFT_ALONE)


def understood(record: Record) -> float | None:
    """Return the share of steps that could be resolved to an action; None without steps."""
    actions = HouseRecord.from_record(record, Path(record.name)).actions
    return sum(action.action is not None for action in actions) / len(actions) if actions else None


def explain_left_objects(record: HouseRecord) -> dict[str, str]:
    """Return why each object that ends out of place does, by its name."""
    correct = record.initial_state.correct
    return {
        name: _explain_left(record, name)
        for name, place in record.final.placements.items()
        if place not in correct[name]
    }


def _count_left(record: Record, reason: str) -> float:
    return float(list(explain_left_objects(HouseRecord.from_record(record, Path(record.name))).values()).count(reason))


def _explain_left(record: HouseRecord, name: str) -> str:
    problems = [action.reason for action in record.actions if action.target == name and action.status == "failed"]
    if name not in record.known_things:
        return "undiscovered"
    if "no free space" in problems:
        return "no space"
    was_dismissed = any(name in plan.known_things for plan in record.plans if plan.second_look)
    if record.result.end_reason == "out of steps" and not was_dismissed:
        return "no steps left"
    return problems[-1] if problems else _LEFT_ALONE
