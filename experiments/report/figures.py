"""The numbers of a report, always computed from the records that it shows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selftrain.metrics import summary
from selftrain.record import EpisodeRecord

Key = tuple[str, str]


@dataclass(frozen=True)
class Row:
    """Mean figures of some episodes, as texts.

    Attributes:
        name: of the scene, and of the task set where there is one.
        planner: and its model.
        cells: text by heading, in order.
        rate: success rate, percent.
        error: standard error of that, percent; None for a single episode.
    """

    name: str
    planner: str
    cells: dict[str, str]
    rate: float
    error: float | None


def rows(records: Sequence[EpisodeRecord]) -> list[Row]:
    """A row for each scene, task set and planner, and one for all when there are several."""
    groups: dict[Key, list[EpisodeRecord]] = {}
    for record in records:
        header = record.episode
        name = f"{header.scene}, {header.task_set}" if header.task_set else header.scene
        groups.setdefault((planner_of(record), name), []).append(record)
    result = [_row(name, planner, members) for (planner, name), members in sorted(groups.items())]
    planners = {planner for planner, _ in groups}
    if len(groups) > len(planners) > 1:
        result += [_row("all scenes", one, [r for r in records if planner_of(r) == one]) for one in sorted(planners)]
    elif len(groups) > 1 and len(planners) == 1:
        result.append(_row("all scenes", planners.pop(), records))
    return result


def overall(records: Sequence[EpisodeRecord]) -> Row:
    """The figures over all records."""
    return _row("all", "", records)


def planner_of(record: EpisodeRecord) -> str:
    """The planner, and the model and its adapter where it has any."""
    header = record.episode
    if not header.model:
        return header.planner
    adapter = header.config.get("adapter")
    return f"{header.planner} ({header.model}{f' with {adapter}' if adapter else ''})"


def stale(folder: Path, records: Sequence[EpisodeRecord]) -> str:
    """What ``metrics.json`` says otherwise than the records do, empty when nothing."""
    path = folder / "metrics.json"
    try:
        told = json.loads(path.read_text(encoding="utf-8"))["overall"]
        episodes, rate = int(told["episodes"]), float(told["success_rate"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    real = overall(records)
    if episodes == len(records) and abs(rate - real.rate) < 0.05:
        return ""
    return (
        f"metrics.json counts {episodes} episodes with {rate:.1f} % success; the {len(records)} records here have "
        f"{real.rate:.1f} %. This page follows the records; the same housewise run again brings the file up to date."
    )


def _row(name: str, planner: str, records: Sequence[EpisodeRecord]) -> Row:
    means: dict[str, Any] = summary([record.result for record in records], [record.episode.task for record in records])
    tokens = means["prompt_tokens"] + means["completion_tokens"]
    error = float(means["success_rate_stderr"]) if len(records) > 1 else None
    cells = {
        "episodes": str(len(records)),
        "executable": f"{100 * means['executability']:.0f} %",
        "unique placements": _short(means["unique_placements"]),
        "plans": _short(means["plans"]),
        "steps": f"{means['steps']:.0f}",
        "tokens": f"{tokens:,.0f}" if tokens else "–",
        "seconds": _short(means["seconds"]),
    }
    return Row(name, planner, cells, float(means["success_rate"]), error)


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 or value == round(value) else f"{value:.1f}"
