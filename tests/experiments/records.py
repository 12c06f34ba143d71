"""Records made by hand: a house with a mug that belongs on the shelf, and whatever else a test puts into it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from housewise.core.record import Header, RecordWriter, Result
from housewise.systems.personalize.record import ActionEvent, HouseRecord, PlanEvent

SHELF, TABLE = "kitchen 0 shelf 1", "kitchen 0 table 2"


def make_record(
    ends: Mapping[str, str],
    starts: Mapping[str, str] | None = None,
    statuses: tuple[str, ...] = ("succeeded",),
    seen: bool = True,
    **changes: Any,
) -> HouseRecord:
    """An episode in which everything belongs on the shelf.

    Args:
        ends: where things end.
        starts: where they start, unless on the table.
        statuses: of its steps.
        seen: whether the robot knows of everything.
        **changes: to the first and the last line.
    """
    placements = {name: (starts or {}).get(name, TABLE) for name in ends}
    wrong = [name for name, place in placements.items() if place != SHELF]
    change = sum(place == SHELF for place in ends.values()) - (len(ends) - len(wrong))
    header = {"scene": "Merom_1_int", "episode": 1, "run": 0, "config": {"person": "ada"}}
    last = {"ended": "complete", "success_rate": change / len(wrong), "unique_placements": 1}
    zeros = dict.fromkeys(("plans", "steps", "prompt_tokens", "completion_tokens", "model_seconds", "seconds"), 0)
    counts = {status: statuses.count(status) for status in ("succeeded", "failed", "skipped")}
    known = {"kitchen 0": {TABLE: list(ends)}} if seen else {}
    return HouseRecord(
        episode=Header(
            **(header | {key: value for key, value in changes.items() if key in header}),
            seed=0,
            planner="llm",
            simulator="raycast",
            rooms=["kitchen 0"],
            placements=placements,
            correct={name: [SHELF] for name in ends},
        ),
        plans=[PlanEvent(plan=0, step=0, reply="", known=known)],
        actions=[ActionEvent(plan=0, raw="", status=status, start=0, end=1) for status in statuses],
        result=Result(
            **(last | {key: value for key, value in changes.items() if key in last}),
            correct_start=len(ends) - len(wrong),
            correct_end=sum(place == SHELF for place in ends.values()),
            misplaced_start=len(wrong),
            objects=len(ends),
            placements=dict(ends),
            actions=len(statuses),
            **counts,
            **zeros,
        ),
    )


def save(record: HouseRecord, folder: Path) -> None:
    """Write a record as a run does."""
    writer = RecordWriter(folder, record.name)
    for line in (record.episode, *record.plans, *record.actions, record.result):
        writer.write(line)
