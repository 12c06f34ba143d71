"""Conversations in the forms that models take."""

from __future__ import annotations

from collections.abc import Sequence

from housewise.language.base import Message


def fold_system(messages: Sequence[Message]) -> list[Message]:
    """Put what system messages say at the beginning of the first user turn, for models without a system role.

    Turns of one role that follow each other are joined, as such models often want roles to alternate.
    """
    told = [message.content for message in messages if message.role == "system"]
    turns: list[Message] = []
    for message in (message for message in messages if message.role != "system"):
        if turns and turns[-1].role == message.role:
            turns[-1] = Message(message.role, f"{turns[-1].content}\n\n{message.content}")
        else:
            turns.append(message)
    if not told:
        return turns
    if not turns or turns[0].role != "user":
        return [Message("user", "\n\n".join(told)), *turns]
    return [Message("user", "\n\n".join([*told, turns[0].content])), *turns[1:]]
