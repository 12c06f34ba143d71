"""Several servers that hold the same model, as one chat model."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from housewise.language.base import ChatRequest, Reply
from housewise.language.server.openai import OpenAIChatModel


class ChatModelPool:
    """Servers that answer requests in turn.

    Args:
        models: The model at each server.
    """

    def __init__(self, models: Sequence[OpenAIChatModel]) -> None:
        self.name = models[0].name
        self._models = models
        self._turns = itertools.count()

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        """See ``ChatModel.complete``; every server answers its share at the same time."""
        shares: dict[int, list[int]] = {}
        for position in range(len(requests)):
            shares.setdefault(next(self._turns) % len(self._models), []).append(position)
        if len(shares) == 1:
            (server,) = shares
            return self._models[server].complete(requests)
        replies: dict[int, list[Reply]] = {}
        with ThreadPoolExecutor(len(shares)) as threads:
            answers = {
                server: threads.submit(self._models[server].complete, [requests[position] for position in positions])
                for server, positions in shares.items()
            }
            for server, positions in shares.items():
                replies |= dict(zip(positions, answers[server].result(), strict=True))
        return [replies[position] for position in range(len(requests))]

    def check(self) -> None:
        """See ``ServedModel.check``."""
        for model in self._models:
            model.check()

    def close(self) -> None:
        """Close the connections to all servers."""
        for model in self._models:
            model.close()
