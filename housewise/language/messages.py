"""Converts conversations for models without a system role."""

from __future__ import annotations

from collections.abc import Sequence

from housewise.language.base import Message


def fold_system(messages: Sequence[Message]) -> list[Message]:
    """Move the system messages to the beginning of the first user turn.

    Consecutive turns of the same role are joined, since models without a system role often require alternating roles.
    """
    system = [message.content for message in messages if message.role == "system"]
    turns: list[Message] = []
    for message in (message for message in messages if message.role != "system"):
        if turns and turns[-1].role == message.role:
            turns[-1] = Message(message.role, f"{turns[-1].content}\n\n{message.content}")
        else:
            turns.append(message)
    if not system:
        return turns
    if not turns or turns[0].role != "user":
        return [Message("user", "\n\n".join(system)), *turns]
    return [Message("user", "\n\n".join([*system, turns[0].content])), *turns[1:]]
