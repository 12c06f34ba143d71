"""Makes untrusted texts printable: without characters that control a terminal, and short enough for a message."""

from __future__ import annotations

_MAX_SHOWN = 120


def make_printable(text: str) -> str:
    """Return a text without characters that control a terminal; they become a space or ``?``."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each == "\n" else " " if each.isspace() else "?" for each in text)


def excerpt(text: object) -> str:
    """Return a foreign text on one printable line of at most 120 characters, for use in a message."""
    line = " ".join(str(text).split())
    line = line if line.isprintable() else line.encode("unicode_escape").decode()
    return line if len(line) <= _MAX_SHOWN else line[:_MAX_SHOWN] + " ..."
