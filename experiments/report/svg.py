"""Small helpers to write SVG; all text and attributes are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

Point = tuple[float, float]
Number = float | int


def tag(name: str, *content: str, **attributes: str | Number | None) -> Markup:
    """An SVG element.

    Args:
        name: of the element.
        content: what is in it; text is escaped, Markup is not.
        attributes: ``class_`` becomes ``class`` and ``font_size`` becomes ``font-size``; None leaves one out.
    """
    parts = [
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _plain(value))
        for key, value in attributes.items()
        if value is not None
    ]
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), Markup("").join(parts), join(content))


def join(parts: Iterable[str]) -> Markup:
    """Elements, or texts that get escaped, one after the other."""
    return Markup("").join(escape(part) for part in parts)


def path(points: Sequence[Point], closed: bool = False) -> str:
    """The ``d`` of a path through points."""
    return "M" + "L".join(f"{_plain(x)} {_plain(y)}" for x, y in points) + ("Z" if closed else "")


def _plain(value: str | Number) -> str:
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")
