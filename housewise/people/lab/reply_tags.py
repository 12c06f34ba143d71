"""Reads and constrains replies of models that play people or assistants: a thought and an answer, each in a tag."""

from __future__ import annotations

import re

from housewise.language.base import Reply
from housewise.language.markup import strip_markup
from housewise.worlds.lab.history import MAX_SPEECH

_INDEX = re.compile(r"\s*\[\d+\]")
_UNDERSCORE = re.compile(r"(?<=[^\W_])_(?=[^\W_])")
_ID = re.compile(
    r"(?P<before>[\[(<]*)\b(?P<words>[a-z][a-z0-9]*(?:_[a-z0-9]+)*)_\d+\b(?P<after>[\])>]*)", re.IGNORECASE
)
_THOUGHT_CHARACTERS = 1500


def tagged_rule(tag: str, content: str, allows_thought: bool = True) -> str:
    """Return a rule of a grammar for a content in a tag, optionally after a thought.

    Args:
        tag: The tag of the content.
        content: Rule of the content.
        allows_thought: Whether there may be a thought.
    """
    thought = f"({_tag('Think', f'[^<]{{0,{_THOUGHT_CHARACTERS}}}')} [\\n ]{{0,2}})? " if allows_thought else ""
    return f"{thought}{_tag(tag, content)}"


def write_tag(tag: str, text: str) -> str:
    """Return a text in a tag, as ``read_tag`` reads it."""
    return f"<{tag}>{text}</{tag}>"


def _tag(name: str, content: str) -> str:
    return f'"<{name}>" {content} "</{name}>"'


def read_tag(reply: Reply, tag: str) -> str | None:
    """Return what stands in the first tag of a reply, unless the limit of tokens cut it.

    Returns:
        The text; None if the tag is missing.
    """
    text = strip_markup(reply.text[: 4 * MAX_SPEECH])
    found = re.search(rf"<{tag}>(.*?)(</{tag}>|\Z)", text, re.IGNORECASE | re.DOTALL)
    if found is None or (reply.is_cut and not found[2]):
        return None
    return " ".join(found[1].split())


def unquote(text: str) -> str:
    """Return a text without the quotation marks around it."""
    return text.strip().strip("\"'“”„«»").strip()


def remove_ids(text: str) -> str:
    """Return speech with the words of ids in place of ids, since nobody says them: "the laser monitor"."""
    return _UNDERSCORE.sub(" ", _ID.sub(_words_of_id, _INDEX.sub("", text)))


def _words_of_id(match: re.Match[str]) -> str:
    """Return the words of an id without the brackets around it. Other brackets belong to the sentence."""
    before, after = match["before"], match["after"]
    while before and after and f"{before[-1]}{after[0]}" in ("[]", "()", "<>"):
        before, after = before[:-1], after[1:]
    return f"{before}{match['words']}{after}"
