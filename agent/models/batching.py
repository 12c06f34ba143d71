"""Gathers the requests of episodes that run at the same time, so that one model answers them together."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future

from agent.models.base import ChatModel, ChatRequest, Reply


class BatchingChatModel:
    """Many threads ask; one call to the model answers all that wait.

    Whoever finds the model idle leads: it waits a moment for others, then answers everything that has come in.

    Args:
        model: answers; it is only ever called from one thread at a time.
        gather: seconds that a leader waits for others; longer than what episodes do between two plans gains nothing.
    """

    def __init__(self, model: ChatModel, gather: float = 0.05) -> None:
        self.name = model.name
        self._model = model
        self._gather = gather
        self._waiting: list[tuple[ChatRequest, Future[list[Reply]]]] = []
        self._list = threading.Lock()
        self._turn = threading.Lock()

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        """See ChatModel.complete."""
        tickets: list[Future[list[Reply]]] = [Future() for _ in requests]
        with self._list:
            self._waiting.extend(zip(requests, tickets, strict=True))
        with self._turn:
            if not all(ticket.done() for ticket in tickets):
                threading.Event().wait(self._gather)
                self._answer()
        return [ticket.result() for ticket in tickets]

    def close(self) -> None:
        """See ChatModel.close."""
        self._model.close()

    def _answer(self) -> None:
        with self._list:
            batch, self._waiting = self._waiting, []
        try:
            replies = self._model.complete([request for request, _ in batch])
        except BaseException as error:
            for _, ticket in batch:
                ticket.set_exception(error)
            return
        for (_, ticket), answer in zip(batch, replies, strict=True):
            ticket.set_result(answer)
