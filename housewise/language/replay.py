"""A chat model that plays recorded replies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from housewise.language.base import ChatRequest, Reply
from housewise.language.replies import RawReply, read_reply

LAST_WORDS = "mission complete"
_AS_RECORDED = ChatRequest(())


class ReplayChatModel:
    """Answers with recorded replies in their order, whatever it is asked.

    Args:
        replies: texts to answer with; once they are used up every answer is ``"mission complete"``.
        name: what records call the model.
    """

    def __init__(self, replies: Sequence[str], name: str = "replay") -> None:
        self.name = name
        self._replies: Iterator[str] = iter(tuple(replies))

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        """Answer each request with as many of the next recorded replies as it asks for.

        Args:
            requests: the conversations; only their number of replies matters.

        Returns:
            For each request, ``request.sampling.n`` replies.
        """
        return [
            # Records of before thoughts were kept apart hold them as well.
            [read_reply(RawReply(next(self._replies, LAST_WORDS)), _AS_RECORDED) for _ in range(request.sampling.n)]
            for request in requests
        ]

    def close(self) -> None:
        """Nothing to release."""
