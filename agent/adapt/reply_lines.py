"""Finds the action in the reply of a model without a grammar, which may write markup, labels or thoughts around it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from housewise.agent.adapt.planner_prompt import PREFIX, THOUGHT
from housewise.language.base import Reply
from housewise.language.markup import strip_markup
from housewise.language.words import one_line

MAX_REPLY_CHARACTERS = 1000

_EMPHASIS = "*_` "
_MARKS = rf"[>#+•{_EMPHASIS}-]*(?:\d{{1,3}}[.):]\s+)?[{_EMPHASIS}]*"
_BEFORE_ACTION = re.compile(rf"{_MARKS}(?:{PREFIX[:-1]}[{_EMPHASIS}]*:[{_EMPHASIS}]*)?", re.I)
_THOUGHT = re.compile(rf"{_MARKS}{THOUGHT[:-1]}[{_EMPHASIS}]*:", re.I)


def first_line(text: str) -> str:
    """Return the first line of a reply, without markup."""
    return next(_lines(text), "")


def first_action(reply: Reply) -> str:
    """Return the first line of a reply that is not a thought, without markup and the label in front of it."""
    # A truncated action could be read as a different one, so that incomplete lines are dropped.
    line = next((line for line in _lines(reply.complete_lines) if not _THOUGHT.match(line)), "")
    bare = _BEFORE_ACTION.sub("", line, count=1)
    return bare if bare == line else bare.rstrip(_EMPHASIS)


def _lines(text: str) -> Iterator[str]:
    return filter(None, map(one_line, strip_markup(text[:MAX_REPLY_CHARACTERS]).splitlines()))
