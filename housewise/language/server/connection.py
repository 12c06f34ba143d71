"""Connections to servers with the OpenAI protocol, and why one cannot be set up."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import openai

from housewise.core.redaction import redact_passwords
from housewise.core.urls import is_loopback

# Bytes; enough for dozens of long replies with the log-probability of every token.
BODY_LIMIT = 16_000_000

_MAX_REDIRECTS = 5
_CANCEL_SECONDS = 0.5
_SETTINGS = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")

T = TypeVar("T")


class RedirectError(openai.OpenAIError):
    """The server redirects to another host; the message is that host's address."""


class ConnectionClosedError(openai.OpenAIError):
    """The connection was closed before the work was done."""


class TooLongError(openai.OpenAIError):
    """The server sent more than any response needs."""


class _BoundedClient(openai.DefaultAsyncHttpxClient):
    """An HTTP client that reads at most ``BODY_LIMIT`` bytes of a response.

    It only follows redirects within a host: a request is never sent to a host that the user did not name.
    """

    async def send(self, request: Any, **options: Any) -> Any:
        for _ in range(_MAX_REDIRECTS):
            response = await super().send(request, **{**options, "stream": True, "follow_redirects": False})
            if response.next_request is None:
                return await self._read(response)
            await response.aclose()
            if not _is_same_server(request.url, response.next_request.url):
                raise RedirectError(str(response.next_request.url.copy_with(query=None, userinfo=b"")))
            request = response.next_request
        raise RedirectError(f"{request.url.host} again and again")

    async def _read(self, response: Any) -> Any:
        body = bytearray()
        try:
            announced = response.headers.get("content-length", "")
            if announced.isdecimal() and (len(announced) > 18 or int(announced) > BODY_LIMIT):
                raise TooLongError
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > BODY_LIMIT:
                    raise TooLongError
        finally:
            await response.aclose()
        # The body is already decompressed, so these headers no longer apply. JSON is UTF-8 whatever the type claims,
        # and not all of Python's codecs are text encodings.
        stale = {"content-encoding", "content-length", "transfer-encoding", "content-type"}
        headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in stale]
        return type(response)(response.status_code, headers=headers, content=bytes(body), request=response.request)


def _is_same_server(here: Any, there: Any) -> bool:
    """Whether an address has the same host and port, or the encrypted default port of the same host."""
    if here.host != there.host:
        return False
    is_upgraded = (here.scheme, there.scheme) == ("http", "https") and here.port is None and there.port is None
    return is_upgraded or (here.scheme, here.port) == (there.scheme, there.port)


class Connection:
    """A client on its own event loop, so that calls also work where a loop already runs (notebooks)."""

    def __init__(self, base_url: str, key: str, timeout: float, concurrency: int) -> None:
        self.process = os.getpid()
        self.gate = asyncio.Semaphore(concurrency)
        address = urlsplit(base_url)
        # A proxy cannot reach this machine's own loopback address.
        self.client = openai.AsyncOpenAI(
            base_url=urlunsplit(address._replace(query="", fragment="")),
            default_query=dict(parse_qsl(address.query, keep_blank_values=True)),
            api_key=key,
            timeout=timeout,
            max_retries=0,
            http_client=_BoundedClient(trust_env=not is_loopback(base_url), timeout=timeout),
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="chat-model", daemon=True)
        self._thread.start()
        self._is_closed = False
        self._lock = threading.Lock()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of a coroutine on the event loop; an interrupt of the caller cancels it.

        Raises:
            ConnectionClosedError: If the connection is closed, possibly while the coroutine runs.
        """
        with self._lock:
            if self._is_closed:
                work.close()
                raise ConnectionClosedError("the connection has been closed")
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise ConnectionClosedError("the connection has been closed") from None
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Close the client and end the loop's thread; work in progress ends with a ``ConnectionClosedError``.

        In a forked process, which has no such thread, do nothing.
        """
        if self.process != os.getpid():
            return
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            ended = asyncio.run_coroutine_threadsafe(self._end(), self._loop)
        ended.result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        """Cancel all work, so that no thread waits for it any longer, and close the client."""
        this = asyncio.current_task()
        while work := {task for task in asyncio.all_tasks() if task is not this}:
            # Before Python 3.12, a task that just got a response misses its cancellation.
            for task in work:
                task.cancel()
            await asyncio.wait(work, timeout=_CANCEL_SECONDS)
        await self.client.close()


def describe_setup_problem(error: Exception) -> tuple[str, str]:
    """Return why a connection cannot be set up, and what to do; proxies and certificates come from the environment."""
    names = [name for name in (*_SETTINGS, *map(str.lower, _SETTINGS)) if os.environ.get(name)]
    found = f" and {', '.join(names)} in the environment" if names else ""
    socks = ", or run pip install socksio" if isinstance(error, ImportError) and "socks" in str(error).lower() else ""
    what = redact_passwords(" ".join(str(error).split()))[:200]
    return f"no connection can be set up ({type(error).__name__}: {what})", f"check base_url{found}{socks}"


async def gather_or_cancel(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run coroutines concurrently; if one fails, cancel the others."""
    tasks = [asyncio.create_task(part) for part in work]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
