"""What the main results look like: ours on the left, what the paper printed on the right, on another scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from housewise.core.plots import new_figure, save_figure
from housewise.experiments.adapt.rows import AT, BINS, OURS, point
from housewise.experiments.adapt.study import AGENTS, PUBLISHED

_MARKERS = "os^"  # each with ten colours
_PAPERS: Mapping[str, Any] = PUBLISHED["rows"]
Line = tuple[Sequence[float], Sequence[float]]


def draw(rows: Mapping[str, Any], path: Path) -> None:
    """Draw satisfaction against questions of those people for whom was played, and figures 3 and 4 of unseen people.

    Figures 3 and 4 have the paper's agents alone, so that they can be read.

    Args:
        rows: of experiments.adapt.rows.Rows.
        path: of the picture.

    Raises:
        UserError: when matplotlib is not installed.
    """
    sides = [side for side in ("unseen", "seen") if any(point(row[side]) for row in rows.values())] or ["unseen"]
    papers = {name: row for name, row in rows.items() if name in _PAPERS}
    figure = new_figure(13, 4 * (len(sides) + 2))
    panels = figure.subplots(len(sides) + 2, 2)
    for pair, side in zip(panels, sides, strict=False):
        _draw_pair(pair, against_questions(rows, side), _printed_points(side), f"{side} people", "questions", line="")
    *_, third, fourth = panels
    wishes, breakfast = "wishes that apply", "share of the breakfast, %"
    _draw_pair(
        third,
        by_wishes(papers),
        _published_lines("questions_by_wishes", range(len(BINS))),
        "questions by wishes (figure 3)",
        wishes,
        ylabel="questions",
    )
    for axes in third:
        axes.set_xticks(range(len(BINS)), BINS)
    _draw_pair(
        fourth,
        over_time(papers),
        _published_lines("over_time", _percent(AT)),
        "over the breakfast (figure 4)",
        breakfast,
    )
    handles = {name: line for axes in panels.flat for line, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend([*handles.values()], [*handles], loc="outside right upper", fontsize=8)
    save_figure(figure, path)


def against_questions(rows: Mapping[str, Any], side: str) -> dict[str, Line]:
    """Questions and satisfaction (%) of every agent that was played: one point each."""
    points = {name: point(row[side]) for name, row in rows.items()}
    return {name: ([found[0]], _percent([found[1]])) for name, found in points.items() if found}


def by_wishes(rows: Mapping[str, Any]) -> dict[str, Line]:
    """Questions where few, some and many wishes apply, of those that ask."""
    means = {name: [row["questions_by_wishes"][size]["mean"] for size in BINS] for name, row in rows.items()}
    return {name: (range(len(BINS)), found) for name, found in means.items() if None not in found and any(found)}


def over_time(rows: Mapping[str, Any]) -> dict[str, Line]:
    """Satisfaction (%) after each part (%) of the breakfast."""
    curves = {name: [row["over_time"][f"{part:g}"] for part in AT] for name, row in rows.items()}
    return {name: (_percent(AT), _percent(found)) for name, found in curves.items() if None not in found}


def _printed_points(side: str) -> dict[str, Line]:
    return {name: ([row[f"questions_{side}"][0]], [row[side][0]]) for name, row in _PAPERS.items()}


def _published_lines(which: str, places: Sequence[float]) -> dict[str, Line]:
    return {name: (places, found) for name, found in PUBLISHED[which].items()}


def _percent(shares: Iterable[float]) -> list[float]:
    return [100 * share for share in shares]


def _draw_pair(
    pair: Sequence[Any],
    ours: Mapping[str, Line],
    printed: Mapping[str, Line],
    title: str,
    xlabel: str,
    ylabel: str = "satisfaction, %",
    line: str = "-",
) -> None:
    """Two panels: an agent has the same colour and marker in both, and Reflection-DPO stands out."""
    for axes, lines, whose in zip(pair, (ours, printed), ("", "published, another scale: "), strict=True):
        for name, (x, y) in lines.items():
            place = [*AGENTS].index(name)
            marker, size = _MARKERS[place // 10 % len(_MARKERS)], 11 if name == OURS else 6
            axes.plot(x, y, linestyle=line, marker=marker, color=f"C{place % 10}", ms=size, label=name)
        axes.set(title=f"{whose}{title}", xlabel=xlabel, ylabel=ylabel)
        axes.grid(alpha=0.3)
