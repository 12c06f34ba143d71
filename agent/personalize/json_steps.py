"""Reads steps from JSON-like text as models write it: truncated, in single quotes, with superfluous commas.

The scanner is not recursive, since replies are untrusted: it takes time linear in the text, however deeply that nests.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from housewise.agent.personalize.step_phrasing import count_arguments, is_step

JSON_START = re.compile(r"(?<![\w(\[{])[\[{]\s*(?=[\[{\"'])")
"""Start of an object or a list, unless it is the argument of a call."""

_TOKEN = re.compile(
    r"""(?P<quote>["'])(?P<said>(?:(?!(?P=quote))[^\\]|\\(?:.|\Z))*)(?:(?P=quote)|\Z)
    | (?P<mark>[\[\]{}:,]) | [^\s\[\]{}:,"']+""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_REASON_KEYS = re.compile("reason|thought|rationale|expla|why|comment|note|analysis|purpose|observ|expect|justif")


@dataclass
class _Container:
    """An object or a list that has been opened.

    Attributes:
        is_list: Whether it is a list.
        verb: The verb whose names it holds. Empty if unknown.
        key: The key of the next text.
        texts: The texts in it.
        has_step: Whether one of them is a step.
    """

    is_list: bool
    verb: str = ""
    key: str = ""
    texts: list[str] = field(default_factory=list)
    has_step: bool = False

    def add(self, text: str) -> None:
        """Add a text under the current key."""
        key, self.key = self.key, ""
        if not text or text.isdigit() or _REASON_KEYS.search(key.lower()):
            return
        if text in ("true", "True"):
            text = key.replace("_", " ")
        elif count_arguments(key):
            text = f"{key}({text})"
        elif count_arguments(text) and not self.verb:
            # Names follow their verb. A text before the verb may be a name if nothing follows.
            self.verb = text
            return
        step = is_step(text)
        if step and not self.has_step and not self.is_list:
            self.texts.clear()
        self.has_step |= step
        if step or self.is_list or not self.has_step:
            self.texts.append(text)

    def lines(self) -> list[str]:
        """Return its steps and other texts, one per line."""
        if self.verb and not self.has_step:
            return [f"{self.verb}({', '.join(self.texts)})"]
        return self.texts


def json_step_lines(text: str, start: int) -> tuple[list[str], int]:
    """Read the steps of an object or a list.

    Args:
        text: Any text.
        start: Index of its opening bracket.

    Returns:
        One line per step, and the index after the closing bracket, or the length of the text if it is not closed.
    """
    lines, opened, said = list[str](), list[_Container](), ""
    for token in _TOKEN.finditer(text, start):
        mark = token["mark"]
        if mark is None:
            if token["quote"] and said:
                opened[-1].add(said)
                said = ""
            word = _ESCAPE.sub(r"\1", token["said"]) if token["quote"] else token[0]
            said = f"{said} {word}".strip()
        elif mark in "[{":
            key = opened[-1].key if opened else ""
            opened.append(_Container(mark == "[", key if count_arguments(key) else ""))
        elif mark == ":":
            opened[-1].key, said = said, ""
        else:
            opened[-1].add(said)
            said = ""
            if mark != ",":
                lines += _close_last(opened)
            if not opened:
                return lines, token.end()
    opened[-1].add(said)
    while opened:
        lines += _close_last(opened)
    return lines, len(text)


def _close_last(opened: list[_Container]) -> list[str]:
    """Return the lines of the innermost container. Its texts may be names for a step in the one around it."""
    inner = opened.pop()
    if not opened or inner.verb or inner.has_step:
        return inner.lines()
    opened[-1].texts += inner.texts
    return []
