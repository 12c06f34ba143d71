"""Reads steps out of JSON and what resembles it, as models write it: cut, in single quotes, with commas too many.

A scanner without recursion, since replies are untrusted: it takes time in proportion to the text, however deep that
nests.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from housewise.agent.personalize.step_phrasing import count_arguments, is_step

JSON_START = re.compile(r"(?<![\w(\[{])[\[{]\s*(?=[\[{\"'])")
"""Where an object or a list begins, unless it is the argument of a call."""

_TOKEN = re.compile(
    r"""(?P<quote>["'])(?P<said>(?:(?!(?P=quote))[^\\]|\\(?:.|\Z))*)(?:(?P=quote)|\Z)
    | (?P<mark>[\[\]{}:,]) | [^\s\[\]{}:,"']+""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_REASONS = re.compile("reason|thought|rationale|expla|why|comment|note|analysis|purpose|observ|expect|justif")


@dataclass
class _Container:
    """An object or a list that has been opened.

    Attributes:
        is_list: Whether it is a list.
        verb: The step that it holds the names for, empty where none is known yet.
        key: What the next text stands behind.
        texts: What has been said in it.
        has_step: Whether one of these is a step.
    """

    is_list: bool
    verb: str = ""
    key: str = ""
    texts: list[str] = field(default_factory=list)
    has_step: bool = False

    def add(self, text: str) -> None:
        """Take in a text, behind its key."""
        key, self.key = self.key, ""
        if not text or text.isdigit() or _REASONS.search(key.lower()):
            return
        if text in ("true", "True"):
            text = key.replace("_", " ")
        elif count_arguments(key):
            text = f"{key}({text})"
        elif count_arguments(text) and not self.verb:
            # Names stand behind their verb; what stands before it may be a name where nothing follows.
            self.verb = text
            return
        step = is_step(text)
        if step and not self.has_step and not self.is_list:
            self.texts.clear()
        self.has_step |= step
        if step or self.is_list or not self.has_step:
            self.texts.append(text)

    def lines(self) -> list[str]:
        """Return what it says, a step or another text each."""
        if self.verb and not self.has_step:
            return [f"{self.verb}({', '.join(self.texts)})"]
        return self.texts


def json_step_lines(text: str, start: int) -> tuple[list[str], int]:
    """Read the steps of an object or a list.

    Args:
        text: Any text.
        start: Where it is opened.

    Returns:
        A line for each step, and where it is closed: the end of the text where it is not.
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
                lines += _close(opened)
            if not opened:
                return lines, token.end()
    opened[-1].add(said)
    while opened:
        lines += _close(opened)
    return lines, len(text)


def _close(opened: list[_Container]) -> list[str]:
    """Return the lines of what was opened last; its texts may be names for a step in what is around it."""
    inner = opened.pop()
    if not opened or inner.verb or inner.has_step:
        return inner.lines()
    opened[-1].texts += inner.texts
    return []
