"""Shortens the history of an episode for a model that cannot read all of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from housewise.language.base import PromptTooLongError

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")


def ask_with_history(history: Sequence[_Item], ask: Callable[[Sequence[_Item]], _Answer]) -> _Answer:
    """Ask a model with a history, without its older half for as long as the prompt is too long.

    Args:
        history: Turns or lines, oldest first.
        ask: Asks with a history, and returns the answer.

    Raises:
        PromptTooLongError: The prompt is too long without a history.
    """
    while True:
        try:
            return ask(history)
        except PromptTooLongError:
            if not history:
                raise
            history = history[(len(history) + 1) // 2 :]
