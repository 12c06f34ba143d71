"""Line charts as SVG. Lines differ by marks and dashes as well as by colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from housewise.report.drawing.svg import Point, path, tag

_WIDTH, _HEIGHT = 560.0, 260.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 48.0, 14.0, 34.0
_MARKS = ("M-4 -4h8v8h-8Z", "M0 -5l5 5l-5 5l-5 -5Z", "M-5 4l5 -9l5 9Z", "M-4 -1.5h8v3h-8Z")
_DASHES = ("", "7 4", "2 4", "9 3 2 3")
_MAX_LABELS = 8


@dataclass(frozen=True)
class Series:
    """A line of a chart.

    Attributes:
        name: Name in the legend.
        values: Value at each place, or None.
        errors: Standard error of each value, or None.
    """

    name: str
    values: Sequence[float | None]
    errors: Sequence[float | None] = ()


def chart(series: Sequence[Series], places: Sequence[str], unit: str, title: str) -> Markup:
    """Return a line chart.

    Args:
        series: Lines of the chart.
        places: Labels of the horizontal axis.
        unit: Unit of the values.
        title: Text for screen readers.
    """
    values = [value for line in series for value in line.values if value is not None]
    low, high = min([0.0, *values]), max([0.0, *values])
    scale = _Scale(len(places), low, high if high > low else low + 1.0)
    drawn = [_line(line, number, scale) for number, line in enumerate(series)]
    return tag(
        "svg",
        tag("title", title),
        _grid(scale, places, unit),
        *drawn,
        viewBox=f"0 0 {_WIDTH:.0f} {_HEIGHT:.0f}",
        class_="chart",
        role="img",
    )


def swatch(number: int) -> Markup:
    """Return the legend entry of a line."""
    line = tag("path", d="M0 6H30", class_="line", stroke_dasharray=_DASHES[number % len(_DASHES)] or None)
    sign = tag("path", d=_MARKS[number % len(_MARKS)], transform="translate(15 6)", class_="point")
    return tag("svg", line, sign, viewBox="0 0 30 12", class_=f"swatch s{number % len(_MARKS)}", aria_hidden="true")


@dataclass(frozen=True)
class _Scale:
    """Converts places and values to pixels."""

    count: int
    low: float
    high: float

    def x(self, place: int) -> float:
        share = place / (self.count - 1) if self.count > 1 else 0.5
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)


def _grid(scale: _Scale, places: Sequence[str], unit: str) -> Markup:
    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        value = scale.low + share * (scale.high - scale.low)
        y = scale.y(value)
        parts.append(tag("path", d=path([(_LEFT, y), (_WIDTH - _RIGHT, y)])))
        label = f"{value:.2g}{unit}" if abs(value) < 10 else f"{value:.0f}{unit}"
        parts.append(tag("text", label, x=_LEFT - 6, y=y + 4, class_="tick"))
    step = -(-len(places) // _MAX_LABELS)
    for place in range(0, len(places), step):
        parts.append(tag("text", places[place], x=scale.x(place), y=_HEIGHT - 12))
    return tag("g", *parts, class_="grid")


def _line(line: Series, number: int, scale: _Scale) -> Markup:
    points: list[Point] = []
    marks = []
    for place, value in enumerate(line.values):
        if value is None:
            continue
        x, y = scale.x(place), scale.y(value)
        points.append((x, y))
        error = line.errors[place] if place < len(line.errors) else None
        if error:
            ends = [(x, scale.y(max(value - error, scale.low))), (x, scale.y(min(value + error, scale.high)))]
            marks.append(tag("path", d=path(ends), class_="error"))
        if len(line.values) <= 60:
            told = tag("title", f"{line.name}: {value:.3g}{f' ± {error:.2g}' if error else ''}")
            shape = _MARKS[number % len(_MARKS)]
            marks.append(tag("path", told, d=shape, transform=f"translate({x:.1f} {y:.1f})", class_="point"))
    dash = _DASHES[number % len(_DASHES)] or None
    drawn = [tag("path", d=path(points), class_="line", stroke_dasharray=dash)] if len(points) > 1 else []
    return tag("g", *drawn, *marks, class_=f"s{number % len(_MARKS)}")
