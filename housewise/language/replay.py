"""A chat model that replays recorded replies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from housewise.language.base import ChatRequest, Reply
from housewise.language.replies import RawReply, read_reply

LAST_WORDS = "mission complete"
_AS_RECORDED = ChatRequest(())


class ReplayChatModel:
    """Answers with recorded replies in their order, whatever it is asked.

    Args:
        replies: Texts to answer with. When they are used up, every answer is ``"mission complete"``.
    """

    name = "replay"

    def __init__(self, replies: Sequence[str]) -> None:
        self._replies: Iterator[str] = iter(tuple(replies))

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        """Answer each request with as many of the next replies as it asks for.

        Args:
            requests: The conversations; only the number of replies matters.

        Returns:
            For each request, ``request.sampling.n`` replies.
        """
        return [
            # The replies in old records include thoughts.
            [read_reply(RawReply(next(self._replies, LAST_WORDS)), _AS_RECORDED) for _ in range(request.sampling.n)]
            for request in requests
        ]

    def close(self) -> None:
        """Nothing to release."""
