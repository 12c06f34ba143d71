"""Asks models that play a role. Of a prompt that is too long, the oldest turns are left out."""

from __future__ import annotations

from collections.abc import Callable

from housewise.language.base import BlankReplyError, ChatModel, ChatRequest, PromptTooLongError, Reply


def complete_with_history(model: ChatModel, history: str, build: Callable[[str], ChatRequest]) -> Reply:
    """Return a model's reply to a prompt with as much of the history as the model reads; empty if it wrote nothing.

    Args:
        model: The model.
        history: What has happened, a line for each action or utterance, oldest first.
        build: Builds the request with a history.

    Raises:
        PromptTooLongError: The prompt is too long without a history.
        ChatModelError: The model does not reply.
    """
    lines = history.splitlines()
    while True:
        try:
            [[reply]] = model.complete([build("\n".join(lines))])
            return reply
        except BlankReplyError:
            return Reply("")
        except PromptTooLongError:
            if not lines:
                raise
            lines = lines[(len(lines) + 1) // 2 :]
