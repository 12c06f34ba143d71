"""Asks models with a history. Of a prompt that is too long, the oldest turns are left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from housewise.language.base import BlankReplyError, ChatModel, ChatRequest, PromptTooLongError, Reply

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")


def ask_with_history(history: Sequence[_Item], ask: Callable[[Sequence[_Item]], _Answer]) -> _Answer:
    """Return a model's answer to a prompt with as much of the history as the model reads.

    Args:
        history: Turns or lines, oldest first.
        ask: Asks the model with a history.

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


def complete_with_history(model: ChatModel, history: str, build: Callable[[str], ChatRequest]) -> Reply:
    """Return a model's reply; empty if it wrote nothing. See ``ask_with_history``.

    Args:
        model: The model.
        history: What has happened, a line for each action or utterance, oldest first.
        build: Builds the request with a history.

    Raises:
        PromptTooLongError: The prompt is too long without a history.
        ChatModelError: The model does not reply.
    """
    try:
        [[reply]] = ask_with_history(history.splitlines(), lambda lines: model.complete([build("\n".join(lines))]))
    except BlankReplyError:
        return Reply("")
    return reply
