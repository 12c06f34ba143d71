"""Chat models behind a server with the OpenAI protocol: OpenAI, vLLM, llama.cpp, Ollama."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import openai
from pydantic import ValidationError

from housewise.core.console import print_event, print_note
from housewise.language.base import ChatModelError, ChatRequest, Reply, RequestError
from housewise.language.gbnf import GrammarDialect
from housewise.language.replies import DEFAULT_THINKING_TOKENS, NEXT_SEED, ThinkingBudget
from housewise.language.server.connection import (
    Connection,
    ConnectionClosedError,
    describe_setup_problem,
    gather_or_cancel,
)
from housewise.language.server.endpoint import OPENAI_URL, Endpoint
from housewise.language.server.refusals import SAMPLING
from housewise.language.server.request_failure import Adaptation, RequestFailure
from housewise.language.server.request_parameters import RequestParameters, ServerOptions
from housewise.language.server.response_reader import ResponseReader
from housewise.language.server.responses import ChatCompletion, ModelList
from housewise.language.server.retries import RetryReporter, retry_pause
from housewise.language.server.status_errors import StatusErrorReader, is_fine_tuned

CHECK_SECONDS = 10.0
"""Seconds that a server may take to list its models. A server that does not answer in time may still work."""
CONNECT_SECONDS = 5.0

T = TypeVar("T")


class OpenAIChatModel:
    """A chat model behind an OpenAI-compatible server.

    Requests are sent concurrently. Rate limits (with ``Retry-After``), server errors, lost connections, timeouts and
    invalid answers are retried after growing, jittered pauses; permanent errors (wrong key, unknown model, refused
    request) are not. A request takes at most ``timeout * (max_retries + 1)`` seconds in total; six minutes while a
    server loads the model, and two while it does not yet know a model that it has fine-tuned (``ft:...``).

    Optional parameters that a server refuses are left out: ``response_format``, ``logprobs``, ``top_logprobs``,
    ``seed``, ``n``, ``stop``, and sampling parameters that the user did not set. A limit that a server names is obeyed.
    Missing replies are requested again, and stop texts are cut here. If a model has no system role, the system message
    becomes part of the first user turn. A blank reply is requested once more, with another seed.

    A request's prefix is not sent, since most servers cannot continue a given text; a reply that repeats it loses it.
    With ``continue_prefix`` it is sent as the beginning of the assistant's turn.

    A request's grammar is sent in the field that the kind of server reads. A reply that does not follow the grammar,
    because the server ignored it, is an error.

    Args:
        model: The server's name of the model.
        base_url: Address of the server, usually ending in ``/v1``; defaults to OpenAI's.
        api_key: Defaults to ``$OPENAI_API_KEY``; local servers usually need none. It is never logged or shown.
        timeout: Maximum seconds of one attempt.
        max_retries: Maximum number of attempts after the first.
        concurrency: Maximum number of concurrent requests.
        backoff: Seconds before the second attempt; doubled for each further one, up to 8.
        continue_prefix, grammar_dialect, extra_body, chat_template_kwargs, reasoning_effort: See ``ServerOptions``.
        chosen_sampling: Sampling parameters that the user set. Others are left out if a server refuses them.
        thinking: Whether the model thinks before it answers; otherwise detected by its first reply.
        thinking_tokens: Added to the limit of replies of a model that thinks.
        fold_system: See ``ServerOptions``. A model whose template silently drops system messages needs it.

    Raises:
        ChatModelError: If the address or the key cannot be used.
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
        extra_body: Mapping[str, Any] | None = None,
        chat_template_kwargs: Mapping[str, Any] | None = None,
        reasoning_effort: str | None = None,
        chosen_sampling: Mapping[str, float] | None = None,
        thinking: bool = False,
        thinking_tokens: int = DEFAULT_THINKING_TOKENS,
        fold_system: bool = False,
    ) -> None:
        self.name = model
        self.timeout = timeout
        self.max_retries = max_retries
        self.concurrency = concurrency
        self.backoff = backoff
        self.options = ServerOptions(
            grammar_dialect,
            continue_prefix,
            extra_body or {},
            chat_template_kwargs or {},
            reasoning_effort,
            chosen_sampling or {},
            fold_system,
        )
        self.endpoint = Endpoint.from_settings(model, base_url, api_key)
        if timeout <= 0 or max_retries < 0 or concurrency < 1:
            what = "timeout or concurrency is not positive, or max_retries is negative"
            raise self.endpoint.error(what, "correct them")
        self._budget = ThinkingBudget(thinking_tokens, thinking)
        self._reader = ResponseReader(self.endpoint, self.options.continue_prefix, self._budget)
        self._statuses = StatusErrorReader(self.endpoint, self.options)
        is_openai = self.endpoint.url.startswith(OPENAI_URL.removesuffix("/v1"))
        self._parameters = RequestParameters(model, self.options, self._budget, is_openai)
        self._retries = RetryReporter(lambda line: print_event(f"model {self.name} at {self.endpoint.address}: {line}"))
        self._connection: Connection | None = None
        self._closed = False
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"OpenAIChatModel({self.name!r}, base_url={self.endpoint.address!r})"

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        """Answer several conversations, ``concurrency`` at a time.

        Token counts are the server's. If it counts several replies together, they share the count evenly.

        Args:
            requests: The conversations.

        Returns:
            For each request, ``request.sampling.n`` replies.

        Raises:
            ChatModelError: If an answer cannot be had. The message names the server, the model, what happened and what
                to do.
        """
        return self._run(lambda: gather_or_cancel(self._replies(request) for request in requests))

    def check(self) -> None:
        """See ``ServedModel.check``; this takes one short request, or two if the server does not list the model."""
        self._run(self._check)

    def served_models(self, seconds: float = CHECK_SECONDS) -> list[str]:
        """Return the names of the models that the server lists; it may accept others as well.

        Raises:
            ChatModelError: If the server does not list its models.
        """
        return self._run(lambda: self._raise_as_model_error(self._served_models(seconds)))

    def send(self, parameters: Mapping[str, Any], seconds: float) -> ChatCompletion:
        """Send a request once, without adapting or retrying it.

        Args:
            parameters: Parameters of the client library, without the model's name.
            seconds: Maximum seconds.

        Raises:
            ChatModelError: If no chat completion is returned.
        """
        sent = {"model": self.name, **parameters}
        return self._run(lambda: self._raise_as_model_error(self._attempt(sent, 0, seconds)))

    def close(self) -> None:
        """Close the connections to the server; requests in progress end with a ``ChatModelError``."""
        with self._lock:
            connection, self._connection, self._closed = self._connection, None, True
        if connection is not None:
            connection.close()

    def _run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return the result of a coroutine, given as a function, on the event loop of the connection."""
        connection = self._connect()
        try:
            return connection.run(work())
        except ConnectionClosedError:
            raise self._closed_error() from None

    def _closed_error(self) -> ChatModelError:
        return self.endpoint.error("it has been closed", "open it again")

    def _connect(self) -> Connection:
        with self._lock:
            if self._closed:
                raise self._closed_error()
            # The thread of the event loop does not exist in a forked process.
            if self._connection is None or self._connection.process != os.getpid():
                at = self.endpoint
                try:
                    self._connection = Connection(at.url, at.key or "none", self.timeout, self.concurrency)
                except Exception as error:  # the HTTP library's many
                    raise self.endpoint.error(*describe_setup_problem(error)) from None
            return self._connection

    async def _replies(self, request: ChatRequest) -> list[Reply]:
        sampling = request.sampling
        replies, drawn = await self._ask(request, sampling.n, 0)
        # Many servers ignore n. Every answer has at least one reply, so this ends.
        while (missing := sampling.n - len(replies)) > 0:
            size = 1 if self._parameters.refuses("n") else min(len(replies), missing)
            # A server such as vLLM draws each of n replies with the next seed, blank ones too.
            end = drawn + missing
            firsts = range(drawn, end, size)
            for more, _ in await gather_or_cancel(
                [self._ask(request, min(size, end - first), first) for first in firsts]
            ):
                replies += more
            drawn = end
        return replies[: sampling.n]

    async def _ask(self, request: ChatRequest, number: int, first: int) -> tuple[list[Reply], int]:
        """Request one answer until it is received or cannot be had.

        Args:
            request: What is asked.
            number: Number of replies that are requested.
            first: Added to the seed.

        Returns:
            The replies that are not blank, at least one, and the number of all replies of the answer.
        """
        async with self._connect().gate:
            start = time.perf_counter()
            deadline = start + self.timeout * (self.max_retries + 1)
            attempt, retries, seed_offset = 0, 0, first
            spent = [0, 0]
            failure: RequestFailure | None = None
            unfolded: RequestFailure | None = None
            while True:
                attempt += 1
                thinking_tokens = self._budget.tokens
                try:
                    replies, drawn = await self._replies_to(request, number, seed_offset, start, deadline)
                    return [replies[0].plus_tokens(*spent), *replies[1:]], drawn
                except RequestFailure as caught:
                    spent = [spent[0] + caught.prompt_tokens, spent[1] + caught.completion_tokens]
                    is_known_better = failure is not None and failure.adaptation is None and caught.cut_short
                    failure = failure if failure is not None and is_known_better else caught
                if failure.adaptation is not None and time.perf_counter() < deadline:
                    unfolded = failure if failure.adaptation.kind == "fold_system" else unfolded
                    self._adapt(failure.adaptation)
                    continue
                end = deadline
                if failure.loading_seconds:
                    end = start + failure.loading_seconds
                    deadline = max(deadline, end)
                    self._notify(f"{failure.what}; waiting up to {failure.loading_seconds / 60:.0f} minutes for it")
                may_differ = request.sampling.temperature > 0 or self._budget.tokens > thinking_tokens
                if failure.is_blank and may_differ and seed_offset == first:
                    seed_offset += NEXT_SEED
                    continue
                retries += not failure.loading_seconds
                # A server that asks to come back at once may do so again and again.
                pause = failure.wait or retry_pause(self.backoff, attempt)
                late = time.perf_counter() + pause >= end
                if not failure.again or retries > self.max_retries or late:
                    break
                if not failure.loading_seconds:
                    self._retries.report(failure.what, retries + 1, self.max_retries + 1, pause)
                await asyncio.sleep(pause)
        if unfolded is not None and failure.is_refusal:
            # The system role was not the cause: the request is refused with and without it.
            self._parameters.unfold_system()
            failure = unfolded
        # Raised here without a cause: the errors of the HTTP library include the key.
        tries = f" ({attempt} attempts)" if attempt > 1 else ""
        error = self.endpoint.error(failure.what + tries, failure.remedy, failure.reason, failure.kind)
        if isinstance(error, RequestError):
            error.prompt_tokens, error.completion_tokens = spent
        raise error

    def _adapt(self, adaptation: Adaptation) -> None:
        self._parameters.adapt(adaptation)
        if adaptation.kind == "leave_out" and adaptation.name in SAMPLING:
            self._notify(f"{adaptation.name} is left out, as the server refuses it")

    def _notify(self, what: str) -> None:
        print_note(f"model {self.name} at {self.endpoint.address}: {what}")

    async def _replies_to(
        self, request: ChatRequest, number: int, seed_offset: int, start: float, deadline: float
    ) -> tuple[list[Reply], int]:
        """Make one attempt to get a request answered; see ``_ask``."""
        parameters = self._parameters.write(request, number, seed_offset)
        thinking_tokens, most = self._budget.tokens, self._parameters.max_alternatives
        completion = await self._attempt(parameters, thinking_tokens, deadline - time.perf_counter())
        seconds = time.perf_counter() - start
        try:
            replies, blank_replies = self._reader.replies(request, completion, seconds, most)
            if not replies:
                raise self._reader.blank_reply_failure(request, blank_replies[0], thinking_tokens)
        except RequestFailure as failure:
            failure.prompt_tokens, failure.completion_tokens = completion.prompt_tokens, completion.completion_tokens
            raise
        return replies, len(completion.choices or ())

    async def _attempt(self, parameters: dict[str, Any], thinking_tokens: int, left: float) -> ChatCompletion:
        seconds = min(self.timeout, left)
        create = self._connect().client.chat.completions.with_raw_response.create
        try:
            # The library's own timeout restarts with every byte, so a slow stream would never reach it.
            raw = await asyncio.wait_for(create(**parameters), max(seconds, 0.01))
        except (asyncio.TimeoutError, openai.APITimeoutError):
            remedy, short = "check that the server runs and is not overloaded, or raise timeout", seconds < self.timeout
            raise RequestFailure(f"no answer within {seconds:.3g} s", remedy, True, cut_short=short) from None
        except openai.APIStatusError as error:
            failure = self._statuses.status_failure(error, parameters, thinking_tokens)
            if error.status_code == 404:
                failure.remedy, failure.is_final = await self._known_models(), True
            raise failure from None
        except (ChatModelError, RequestFailure):
            raise
        except Exception as error:  # of the library, and of its parsing
            raise self._statuses.connection_failure(error) from None
        return self._reader.parse(raw.http_response.content)

    async def _raise_as_model_error(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return await work
        except RequestFailure as failure:
            error = self.endpoint.error(failure.what, failure.remedy)
        # Raised here without a cause: the errors of the HTTP library include the key.
        raise error

    async def _check(self) -> None:
        seconds = min(self.timeout, CHECK_SECONDS)
        failure: RequestFailure | None = None
        try:
            names = await self._served_models(seconds)
            is_doubtful = bool(names) and self.name not in names
        except RequestFailure as caught:
            failure, is_doubtful = caught, caught.is_missing
        # A model that was just fine-tuned is waited for by the first request.
        if is_doubtful and not is_fine_tuned(self.name):
            # Some servers list no models, and some accept names that they do not list; only a request can tell.
            try:
                await self._attempt(
                    {"model": self.name, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}, 0, seconds
                )
            except RequestFailure as caught:
                failure = caught
        # Other failures may be peculiar to this check; the first request of the work decides.
        if failure is not None and failure.is_final:
            raise self.endpoint.error(failure.what, failure.remedy)

    async def _served_models(self, seconds: float) -> list[str]:
        """Return the models that the server lists; a failure is final if no request can be answered either."""
        limit = openai.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))
        remedy = "check that the server runs and is not overloaded, or raise timeout"
        try:
            listed = await asyncio.wait_for(
                self._connect().client.models.with_raw_response.list(timeout=limit), seconds + 1.0
            )
        except (asyncio.TimeoutError, openai.APITimeoutError) as error:
            is_unconnected = type(error.__cause__).__name__ == "ConnectTimeout"
            what = "no connection" if is_unconnected else "no list of its models"
            waited = limit.connect if is_unconnected else seconds
            raise RequestFailure(f"{what} within {waited:.3g} s", remedy, is_final=is_unconnected) from None
        except openai.APIStatusError as error:
            failure = self._statuses.status_failure(error, {}, 0)
            failure.is_final, failure.is_missing = error.status_code == 401, error.status_code == 404
            raise failure from None
        except Exception as error:  # of the library, and of its parsing
            failure = self._statuses.connection_failure(error)
            failure.is_final = type(error.__cause__).__name__ == "ConnectError"
            raise failure from None
        try:
            return ModelList.model_validate_json(listed.http_response.content).names
        except ValidationError:
            raise RequestFailure(
                "it answered with no list of models", "check base_url (it usually ends in /v1)"
            ) from None

    async def _known_models(self) -> str:
        remedy = "correct the model's name or base_url (it usually ends in /v1)"
        try:
            names = await self._served_models(min(self.timeout, 5.0))
        except RequestFailure:
            return remedy
        more = f" and {len(names) - 8} more" if len(names) > 8 else ""
        return f"{remedy}; it has {self.endpoint.excerpt(', '.join(names[:8]))}{more}" if names else remedy
