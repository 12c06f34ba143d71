"""Measures of STARS episodes that are no scores of the system, and the control that does nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import fmean
from typing import Any

from housewise.agent.stars.data_files import load_task
from housewise.core.record import Record
from housewise.experiments.measured_values import MeasuredValue
from housewise.selftrain.stars.held_out_objects import held_out_nouns

_NUMBER = re.compile(r" \d+$")


def held_out_percent(record: Record) -> float | None:
    """Return the share of the objects never learned from that are in place, in percent; None if there are none."""
    wanted, places = record.header.initial_state["wanted"], record.result.final["places"]
    held_out = [name for name in wanted if _NUMBER.sub("", name) in held_out_nouns()]
    return 100 * fmean(places[name] in wanted[name] for name in held_out) if held_out else None


def measure_start(task: str, **_: Any) -> Iterator[MeasuredValue]:
    """Measure what doing nothing comes to: fixtures are closed at the start.

    Args:
        task: Task by name.
    """
    room, _words = load_task(task)
    start = room.completion(room.start())
    yield MeasuredValue(task, 0, "completion_percent", start.percent)
    yield MeasuredValue(task, 0, "objects_percent", 100 * start.in_place / max(1, start.objects))
