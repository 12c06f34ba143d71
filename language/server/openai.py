"""Chat models behind any server that speaks the OpenAI protocol: OpenAI, vLLM, llama.cpp, Ollama."""

from __future__ import annotations

import asyncio
import os
import random
import re
import threading
import time
from collections.abc import Sequence
from typing import Any

import openai

from housewise.language.base import ChatModelError, ChatRequest, Reply
from housewise.language.control_tokens import break_turns
from housewise.language.gbnf import GrammarDialect, rooted
from housewise.language.server.answer import (
    MOST_ALTERNATIVES,
    Completion,
    KnownModels,
    refused,
    retry_after,
    told_by,
)
from housewise.language.server.connection import BODY_LIMIT, Connection, TooLongError, setup_problem, together
from housewise.language.server.endpoint import OPENAI_URL, Endpoint
from housewise.language.server.failure import Failure
from housewise.language.server.reading import GRAMMAR_FIELDS, OTHER_DIALECT, AnswerReader

LONGEST_PAUSE = 8.0
MOST_STOPS = 4


class OpenAIChatModel:
    """A chat model behind an OpenAI-compatible server.

    Requests go out concurrently. Rate limits (honouring ``Retry-After``), server errors, lost connections, timeouts
    and answers that are not chat completions are tried again after growing, jittered pauses; what cannot get better
    (wrong key, unknown model, refused request) is not. The whole of a request, pauses included, takes at most
    ``timeout * (max_retries + 1)`` seconds once it is its turn. Parameters that only refine an answer (``logprobs``,
    ``top_logprobs``, ``seed``, ``n``, ``stop``) are left out for servers that refuse them; missing replies are asked
    for again and stop texts are cut here.

    A request's prefix is not sent, since most servers cannot continue a given text; a reply that repeats it loses it.
    With ``continue_prefix`` it is sent as the beginning of the assistant's turn.

    A request's grammar goes into the field that the kind of server reads; a reply that does not follow it, because the
    server did not look there, is an error.

    Args:
        model: the server's name of the model.
        base_url: the server's address, usually ending in ``/v1``; by default OpenAI's.
        api_key: by default ``$OPENAI_API_KEY``; servers of one's own usually need none. It is never logged or shown.
        timeout: seconds that one attempt may take in all.
        max_retries: further attempts after the first.
        concurrency: requests under way at once.
        backoff: seconds before the second attempt; doubled for every further one, up to 8.
        continue_prefix: the server continues a final assistant message (vLLM does).
        grammar_dialect: the kind of server, where requests bring a grammar.

    Raises:
        ChatModelError: when the address or the key cannot be used.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        max_retries: int = 5,
        concurrency: int = 8,
        *,
        backoff: float = 0.5,
        continue_prefix: bool = False,
        grammar_dialect: GrammarDialect = "vllm",
    ) -> None:
        self.name = model
        self.timeout = timeout
        self.max_retries = max_retries
        self.concurrency = concurrency
        self.backoff = backoff
        self.continue_prefix = continue_prefix
        self.grammar_dialect = grammar_dialect
        self.endpoint = Endpoint.of(model, base_url, api_key)
        if timeout <= 0 or max_retries < 0 or concurrency < 1:
            what = "timeout or concurrency is not positive, or max_retries is negative"
            raise self.endpoint.error(what, "correct them")
        self._reader = AnswerReader(self.endpoint, continue_prefix)
        self._refused: set[str] = set()
        official = self.endpoint.url.startswith(OPENAI_URL.removesuffix("/v1"))
        self._length = "max_completion_tokens" if official else "max_tokens"
        self._connection: Connection | None = None
        self._closed = False
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"OpenAIChatModel({self.name!r}, base_url={self.endpoint.address!r})"

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        """Answer several conversations, ``concurrency`` at a time.

        Token counts are the server's; where it counts several replies together, they share its count evenly.

        Args:
            requests: the conversations.

        Returns:
            For each request, ``request.sampling.n`` replies.

        Raises:
            ChatModelError: when an answer cannot be had; one line names the server, the model, what happened and what
                to do.
        """
        return self._connect().run(self._complete(requests))

    def close(self) -> None:
        """Close the connections to the server."""
        with self._lock:
            connection, self._connection, self._closed = self._connection, None, True
        if connection is not None:
            connection.close()

    def _connect(self) -> Connection:
        with self._lock:
            if self._closed:
                raise self.endpoint.error("it has been closed", "open it again")
            # The loop's thread does not live on in a forked process.
            if self._connection is None or self._connection.process != os.getpid():
                at = self.endpoint
                try:
                    self._connection = Connection(at.url, at.key or "none", self.timeout, self.concurrency)
                except Exception as error:  # the HTTP library's many
                    raise self.endpoint.error(*setup_problem(error)) from None
            return self._connection

    async def _complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        return await together([self._replies(request) for request in requests])

    async def _replies(self, request: ChatRequest) -> list[Reply]:
        sampling = request.sampling
        replies = await self._ask(request, sampling.n, 0)
        # Many servers ignore n. Every answer holds a reply or more, so this ends.
        while len(replies) < sampling.n:
            size = 1 if "n" in self._refused else min(len(replies), sampling.n - len(replies))
            firsts = range(len(replies), sampling.n, size)
            for more in await together([self._ask(request, min(size, sampling.n - first), first) for first in firsts]):
                replies += more
        return replies[: sampling.n]

    async def _ask(self, request: ChatRequest, number: int, first: int) -> list[Reply]:
        """One answer of the server, tried until it comes or cannot come any more."""
        async with self._connect().gate:
            start = time.perf_counter()
            deadline = start + self.timeout * (self.max_retries + 1)
            attempt, failure = 0, None
            while True:
                attempt += 1
                parameters = self._parameters(request, number, first)
                try:
                    completion = await self._attempt(parameters, deadline - time.perf_counter())
                    return self._reader.replies(request, completion, time.perf_counter() - start)
                except Failure as caught:
                    failure = failure if failure and caught.cut_short else caught
                if failure.refused is not None:
                    self._leave_out(failure.refused)
                    continue
                pause = failure.wait if failure.wait is not None else self._pause(attempt)
                late = time.perf_counter() + pause >= deadline
                if not failure.again or attempt > self.max_retries or late:
                    break
                await asyncio.sleep(pause)
        # Raised out here without a cause: what the HTTP library knows includes the key.
        tries = f" ({attempt} attempts)" if attempt > 1 else ""
        raise self.endpoint.error(failure.what + tries, failure.remedy, failure.reason, failure.too_long)

    def _parameters(self, request: ChatRequest, count: int, first: int) -> dict[str, Any]:
        sampling = request.sampling
        messages = break_turns(message.turn for message in request.messages)
        parameters: dict[str, Any] = {
            "model": self.name,
            "messages": messages,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            self._length: sampling.max_tokens,
        }
        if count > 1:
            parameters["n"] = count
        if sampling.stop:
            parameters["stop"] = list(sampling.stop[:MOST_STOPS])
        if sampling.seed is not None:
            # Asked again with the same seed, a server that ignores n would repeat itself.
            parameters["seed"] = sampling.seed + first
        if (sampling.logprobs or sampling.alternatives) and "logprobs" not in self._refused:
            parameters["logprobs"] = True
            if sampling.alternatives:
                parameters["top_logprobs"] = min(sampling.alternatives, MOST_ALTERNATIVES)
        more: dict[str, Any] = {}
        if request.prefix and self.continue_prefix:
            messages += break_turns([{"role": "assistant", "content": request.prefix}])
            more |= {"add_generation_prompt": False, "continue_final_message": True}
        if request.grammar is not None:
            grammar = rooted(request.grammar, self._reader.unsent(request))
            field = GRAMMAR_FIELDS[self.grammar_dialect]
            more[field] = {"grammar": grammar} if self.grammar_dialect == "vllm" else grammar
        if more:
            parameters["extra_body"] = more
        return {name: value for name, value in parameters.items() if name not in self._refused}

    async def _attempt(self, parameters: dict[str, Any], left: float) -> Completion:
        seconds = min(self.timeout, left)
        create = self._connect().client.chat.completions.with_raw_response.create
        try:
            # The library's own timeout starts anew with every byte; a server that trickles would never run into it.
            raw = await asyncio.wait_for(create(**parameters), max(seconds, 0.01))
        except (asyncio.TimeoutError, openai.APITimeoutError):
            remedy, short = "check that the server runs and is not overloaded, or raise timeout", seconds < self.timeout
            raise Failure(f"no answer within {seconds:.3g} s", remedy, True, cut_short=short) from None
        except openai.APIStatusError as error:
            raise await self._status(error, parameters) from None
        except (ChatModelError, Failure):
            raise
        except Exception as error:  # the library's, and those of what it makes of an answer
            raise self._lost(error) from None
        return self._reader.parse(raw.http_response.content)

    def _lost(self, error: Exception) -> Failure:
        cause = error.__cause__ or error
        if isinstance(error, TooLongError) or isinstance(cause, TooLongError):
            return Failure(
                f"it answered with more than {BODY_LIMIT // 1_000_000} MB",
                "check that base_url is a chat server, or lower max_tokens and n",
                True,
            )
        return Failure(
            f"the connection failed: {self.endpoint.excerpt(str(cause) or type(cause).__name__)}",
            "check base_url and that the server runs",
            True,
        )

    async def _status(self, error: openai.APIStatusError, parameters: dict[str, Any]) -> Failure:
        status, told = error.status_code, told_by(error.body)
        message = self.endpoint.excerpt(told or error.response.reason_phrase)
        what = f"it answered {status}" + (f" ({message})" if message else "")
        if status == 401:
            sent = (
                "OPENAI_API_KEY or api_key is not valid there"
                if self.endpoint.key
                else "it wants a key: set OPENAI_API_KEY"
            )
            return Failure(what, sent)
        if status == 403:
            return Failure(what, "use an API key that may use this model")
        if status == 404:
            return Failure(what, await self._known_models())
        if status == 413 or (status in (400, 422) and _too_long(error, told)):
            return Failure(what, "shorten the prompt", reason=f"it answered {status}", too_long=True)
        if status in (400, 422):
            optional = refused(f"{error.param} {told}", error.param, parameters)
            field = GRAMMAR_FIELDS[self.grammar_dialect]
            about = re.search(rf"{field}|grammar|structured|guided|extra", f"{error.param} {told}", re.IGNORECASE)
            grammar = about is not None and field in parameters.get("extra_body", {})
            if grammar:
                return Failure(what, OTHER_DIALECT, refused=optional)
            remedy = "change the request or the model's options as it says"
            return Failure(what, remedy, refused=optional, reason=f"it answered {status}")
        if error.code == "insufficient_quota":
            return Failure(what, "add credit to the account of this API key")
        if status == 429:
            return Failure(what, "lower concurrency or try later", True, retry_after(error.response.headers))
        if status >= 500 or status in (408, 409):
            return Failure(what, "see the server's log or try later", True, retry_after(error.response.headers))
        return Failure(what, "check base_url (it usually ends in /v1)")

    async def _known_models(self) -> str:
        remedy = "correct the model's name or base_url (it usually ends in /v1)"
        try:
            listed = await asyncio.wait_for(
                self._connect().client.models.with_raw_response.list(), min(self.timeout, 5.0)
            )
            names = KnownModels.model_validate_json(listed.http_response.content).names
        except Exception:  # whatever comes in place of a list
            return remedy
        more = f" and {len(names) - 8} more" if len(names) > 8 else ""
        return f"{remedy}; it has {self.endpoint.excerpt(', '.join(names[:8]))}{more}" if names else remedy

    def _leave_out(self, name: str) -> None:
        if name == "max_tokens":
            self._length = "max_completion_tokens"
        else:
            self._refused.add(name)

    def _pause(self, attempt: int) -> float:
        # Jitter keeps requests that failed together from coming back together.
        return min(self.backoff * 2.0 ** (attempt - 1), LONGEST_PAUSE) * random.uniform(0.75, 1.0)


def _too_long(error: openai.APIStatusError, told: str) -> bool:
    """Whether a prompt had more tokens than the model reads, as OpenAI, llama.cpp and vLLM say it."""
    if error.code == "context_length_exceeded" or error.type == "exceed_context_size_error":
        return True
    return re.search(r"(max\w*|model's) context length|context (size|window)", told, re.IGNORECASE) is not None
