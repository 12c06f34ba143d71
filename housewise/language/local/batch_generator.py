"""Generates replies for many threads with one model: a reply that ends makes room for the next (continuous batching).

Only ``language.local.model`` imports this module, because it needs torch and transformers.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch

from housewise.language.base import ChatModelError, Sampling
from housewise.language.local.grammar_constraints import GrammarConstraint, allowed_tokens
from housewise.language.local.model_runner import ModelRunner
from housewise.language.local.token_sampling import sample_tokens, top_tokens
from housewise.language.thoughts import strip_thoughts

# Seconds without work after which the thread ends, so that programs can end; later requests start another.
IDLE = 0.2

T = TypeVar("T")


@dataclass(eq=False)
class PendingReply:
    """A reply being generated.

    Attributes:
        prompt: Token ids, not empty.
        sampling: How the reply is sampled.
        limit: Maximum number of tokens.
        chance: Random number generator of this reply.
        constraint: What the reply may say.
        starts_thinking: Whether the prompt ends with a mark that begins thoughts.
        tokens: Tokens so far.
        logprobs: Log-probabilities of the tokens under the model before temperature, nucleus and grammar.
        alternatives: For each token, up to ``sampling.alternatives`` pairs (token, log-probability): the token itself,
            and the likeliest others.
        new: Tokens that the model has not read yet.
        finish_reason: Empty until the reply has ended.
        wanted: False once nobody waits for the reply.
        asked: Time of the request, by the performance counter.
        seconds: Time from the request to the end.
        ended: Future that is done when the reply has ended.
    """

    prompt: list[int]
    sampling: Sampling
    limit: int
    chance: random.Random
    constraint: GrammarConstraint | None = None
    starts_thinking: bool = False
    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    alternatives: list[list[tuple[int, float]]] = field(default_factory=list)
    new: list[int] = field(default_factory=list)
    finish_reason: str = ""
    wanted: bool = True
    asked: float = field(default_factory=time.perf_counter)
    seconds: float = 0.0
    ended: Future[None] = field(default_factory=Future)


class BatchGenerator:
    """Generates as many replies at once as fit, in one thread of its own.

    A reply starts as soon as there is room, whichever thread asked for it, so that short replies do not wait for long
    ones.

    Args:
        reader: Runs the model.
        ends: Ids of tokens that end a turn.
        decode: Converts tokens to text.
        batch_size: Number of replies generated at once.
    """

    def __init__(
        self, reader: ModelRunner, ends: frozenset[int], decode: Callable[[Sequence[int]], str], batch_size: int
    ) -> None:
        self.reader = reader
        self._ends, self._decode, self._batch_size = ends, decode, batch_size
        self._news = threading.Condition()
        self._thread: threading.Thread | None = None
        self._line: list[PendingReply] = []
        self._asked: list[tuple[Callable[[ModelRunner], Any], Future[Any]]] = []
        self._active: list[PendingReply] = []
        self._logits: Any = None
        self._closed = False

    def write(self, rows: Sequence[PendingReply]) -> None:
        """Generate some replies; may be called from any thread.

        Raises:
            Exception: Whatever the model raised while generating one of them.
        """
        with self._news:
            self._line += rows
            self._wake()
        try:
            for row in rows:
                row.ended.result()
        finally:
            for row in rows:
                row.wanted = False

    def ask(self, work: Callable[[ModelRunner], T]) -> T:
        """Call a function with the model runner between two tokens; may be called from any thread."""
        future: Future[T] = Future()
        with self._news:
            self._asked.append((work, future))
            self._wake()
        return future.result()

    def close(self) -> None:
        """End the replies in progress; their callers get a ``ChatModelError``."""
        with self._news:
            self._closed = True
            self._news.notify()

    def _wake(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="writer")
            self._thread.start()
        self._news.notify()

    def _work(self) -> None:
        with torch.inference_mode():
            while self._has_work():
                try:
                    self._check_open()
                    self._answer()
                    self._admit()
                    self._write()
                except BaseException as error:
                    self._fail(error)

    def _has_work(self) -> bool:
        with self._news:
            if self._news.wait_for(lambda: self._line or self._asked or self._active, IDLE):
                return True
            self._thread = None
            return False

    def _check_open(self) -> None:
        if not self._closed:
            return
        error = ChatModelError("the model has been closed")
        with self._news:
            self._active += self._line
            asked, self._line, self._asked = self._asked, [], []
        for _, future in asked:
            future.set_exception(error)
        raise error

    def _fail(self, error: BaseException) -> None:
        """Report an error to all replies in progress; the cache may be damaged."""
        self.reader.clear_cache()
        failed, self._active = self._active, []
        for row in failed:
            row.ended.set_exception(error)

    def _answer(self) -> None:
        with self._news:
            asked, self._asked = self._asked, []
        for work, future in asked:
            try:
                future.set_result(work(self.reader))
            except BaseException as error:
                future.set_exception(error)
                self._fail(error)

    def _admit(self) -> None:
        """Read the prompts of waiting replies, as many as there is room for."""
        with self._news:
            room = self._batch_size - len(self._active)
            new, self._line = self._line[:room], self._line[room:]
        new = [row for row in new if row.wanted]
        if not new:
            return
        # Added first, so that they receive an error if this fails.
        written = len(self._active)
        self._active += new
        order, logits = self.reader.add_rows([row.prompt for row in new])
        self._active[written:] = [new[index] for index in order]
        self._logits = torch.cat([self._logits, logits]) if written else logits

    def _write(self) -> None:
        """Sample a token for every reply, remove those that end with it, and read the tokens of the others."""
        active = self._active
        if not active:
            return
        tokens, logprobs = sample_tokens(
            self._logits,
            [row.sampling.temperature for row in active],
            [row.sampling.top_p for row in active],
            [row.chance.random() for row in active],
            allowed_tokens([row.constraint for row in active], self._logits.shape[-1]),
        )
        likely = top_tokens(self._logits, [row.sampling.alternatives for row in active])
        for row, token, logprob, others in zip(active, tokens, logprobs, likely, strict=True):
            if wanted := row.sampling.alternatives:
                rest = [pair for pair in others if pair[0] != token]
                row.alternatives.append([(token, logprob), *rest[: wanted - 1]])
            self._take(row, token, logprob)
        # From the last slot on, because the last row moves into a freed slot.
        for slot in reversed(range(len(active))):
            row = active[slot]
            if row.finish_reason or not row.wanted:
                self.reader.remove_row(slot)
                active[slot] = active[-1]
                active.pop()
                row.seconds = time.perf_counter() - row.asked
                row.ended.set_result(None)
        if active:
            self._logits = self.reader.append_tokens([row.new for row in active])

    def _take(self, row: PendingReply, token: int, logprob: float) -> None:
        """Append a token to a reply, and the tokens that its grammar then forces."""
        row.tokens.append(token)
        row.logprobs.append(logprob)
        row.new = [token]
        row.finish_reason = self._finish_reason(row)
        if row.constraint is None or row.finish_reason:
            return
        row.constraint.take(token)
        if not (row.sampling.stop or row.sampling.logprobs or row.sampling.alternatives):
            forced = row.constraint.take_forced_tokens()[: row.limit - len(row.tokens)]
            row.tokens += forced
            row.new += forced
            row.finish_reason = self._finish_reason(row)

    def _finish_reason(self, row: PendingReply) -> str:
        stops = row.sampling.stop
        if row.tokens[-1] in self._ends:
            return "stop"
        if stops:
            # A token has at least one byte, so a stop text that just ended lies within this many tokens.
            reach = max(len(stop.encode()) for stop in stops) + 4
            tail = self._decode(row.tokens[-reach:])
            if any(stop in tail for stop in stops):
                # A stop text in the thoughts does not end the reply.
                spoken = strip_thoughts(self._decode(row.tokens), row.starts_thinking)
                if any(stop in spoken for stop in stops):
                    return "stop"
        return "length" if len(row.tokens) >= row.limit else ""
