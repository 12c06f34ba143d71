"""Reads replies of the form ``<Think>...</Think> <Action>...</Action>`` of models that play people or assistants."""

from __future__ import annotations

import re

from housewise.language.base import Reply
from housewise.language.markup import strip_markup
from housewise.worlds.lab.history import MAX_SPEECH

_THINK = re.compile(r"<think>(.*?)(?:</think>|\Z)", re.IGNORECASE | re.DOTALL)
_ID = re.compile(r"[\[(<]*\b([a-z][a-z0-9]*(?:_[a-z0-9]+)*)_\d+\b[\])>]*", re.IGNORECASE)


def read_thought(reply: Reply) -> str:
    """Return what a model thought, whether or not its thoughts were separated from its text."""
    found = _THINK.search(reply.text)
    return (reply.thoughts or (found[1] if found else "")).strip()


def read_tag(reply: Reply, tag: str) -> str | None:
    """Return what stands in the first tag of a reply, unless the limit of tokens cut it.

    Returns:
        The text; None if the tag is missing.
    """
    text = strip_markup(_THINK.sub("", reply.text[: 4 * MAX_SPEECH]))
    found = re.search(rf"<{tag}>(.*?)(</{tag}>|\Z)", text, re.IGNORECASE | re.DOTALL)
    if found is None or (reply.is_cut and not found[2]):
        return None
    return " ".join(found[1].split())


def unquote(text: str) -> str:
    """Return a text without the quotation marks around it."""
    return text.strip().strip("\"'“”„«»").strip()


def remove_ids(text: str) -> str:
    """Return speech with the words of ids in place of ids, since nobody says them: "the laser monitor"."""
    return _ID.sub(lambda match: match[1].replace("_", " "), text)
