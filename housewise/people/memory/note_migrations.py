"""Former form of subjects of notes, in which the situation also held a question, or a subtask before a colon.

Ids of notes are hashes of the former form, so that a note has one id in old and in new memories.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SEPARATOR = ": "


def split_situation(kind: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stated fields of a subject in the current form.

    The situation of an answer in a task is the question. That of a goal in a task may begin with the subtask.

    Args:
        kind: Kind of the note.
        about: Stated fields of its subject, in either form.
    """
    found = dict(about)
    if "task" not in found or "situation" not in found:
        return found
    if kind == "answer" and "question" not in found:
        found["question"] = found.pop("situation")
    elif kind == "goal" and "subtask" not in found:
        subtask, separator, rest = found["situation"].partition(_SEPARATOR)
        if separator and subtask and subtask.strip() == subtask and rest.strip() == rest:
            found |= {"subtask": subtask, "situation": rest}
    return found


def join_situation(kind: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stated fields of a subject in the former form, as far as that can hold them; see `split_situation`."""
    found = dict(about)
    if kind == "answer" and {"task", "question"} <= found.keys() and "situation" not in found:
        found["situation"] = found.pop("question")
    elif kind == "goal" and {"task", "subtask", "situation"} <= found.keys():
        found["situation"] = f"{found.pop('subtask')}{_SEPARATOR}{found['situation']}"
    return found
