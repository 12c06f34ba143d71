"""Helpers that build SVG elements. All texts and attributes are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from housewise.report.drawing.control_characters import neutralize_text

Point = tuple[float, float]
Number = float | int


def tag(name: str, *content: str, **attributes: str | Number | None) -> Markup:
    """Return an SVG element.

    Args:
        name: Name of the element.
        content: Its children. Texts are escaped, Markup is not.
        attributes: Its attributes: `class_` becomes `class`, `font_size` becomes `font-size`, None is left out.
    """
    parts = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{parts}>{join(content)}</{name}>")


def join(parts: Iterable[str]) -> Markup:
    """Concatenate elements and texts; texts are escaped."""
    return Markup("").join(part if isinstance(part, Markup) else escape(neutralize_text(part)) for part in parts)


def path(points: Sequence[Point], closed: bool = False) -> str:
    """Return the `d` attribute of a path through points."""
    return "M" + "L".join(f"{_plain(x)} {_plain(y)}" for x, y in points) + ("Z" if closed else "")


def mark(kind: str, x: Number = 8, y: Number = 8, size: Number = 7, hollow: bool = False, title: str = "") -> Markup:
    """Return the sign for "right", "wrong" or "unseen": a tick in a disc, a cross in a lozenge, a bar in a square.

    Args:
        kind: "right", "wrong" or "unseen".
        x: Horizontal position of the centre, in pixels.
        y: Vertical position of the centre, in pixels.
        size: Half of the width, in pixels.
        hollow: Whether only the outline is drawn.
        title: Tooltip, or an empty text.
    """
    far, half = 1.2 * size, 0.46 * size
    if kind == "right":
        outline = tag("circle", cx=x, cy=y, r=size)
        sign = path([(x - half, y), (x - 0.2 * half, y + 0.85 * half), (x + half, y - 0.75 * half)])
    elif kind == "wrong":
        outline = tag("path", d=path([(x, y - far), (x + far, y), (x, y + far), (x - far, y)], closed=True))
        arm = 0.8 * half
        ends = [(x - arm, y - arm), (x + arm, y + arm)], [(x + arm, y - arm), (x - arm, y + arm)]
        sign = "".join(map(path, ends))
    else:
        side = 0.9 * size
        outline = tag("rect", x=x - side, y=y - side, width=2 * side, height=2 * side, rx=0.3 * size)
        sign = path([(x - half, y), (x + half, y)])
    told = (tag("title", title),) if title else ()
    within = () if hollow else (tag("path", d=sign, class_="sign"),)
    return tag("g", *told, outline, *within, class_=f"mark {kind}{' hollow' if hollow else ''}")


def icon(kind: str) -> Markup:
    """Return a mark that stands in a line of text."""
    return tag("svg", mark(kind), viewBox="-1 -1 18 18", class_="icon", aria_hidden="true")


def gauge(share: float) -> Markup:
    """Return a bar for a share; negative shares are striped and have the colour of "wrong"."""
    width, kind = min(abs(share), 1.0) * 100, "right" if share >= 0 else "wrong"
    bars = (
        tag("rect", width=width, height=9)
        if share >= 0
        else tag("path", d=f"M0 4.5H{_plain(width)}", stroke_width=9, stroke_dasharray="3 2")
    )
    return tag("svg", bars, viewBox="0 0 100 9", preserveAspectRatio="none", class_=f"gauge {kind}", aria_hidden="true")


def _plain(value: str | Number) -> str:
    return neutralize_text(value) if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")
