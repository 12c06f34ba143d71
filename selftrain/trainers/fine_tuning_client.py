"""Requests to a fine-tuning API: temporary failures are retried, and nothing is created twice."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

import openai

from housewise.core.errors import UserError
from housewise.core.urls import is_loopback
from housewise.language.server.connection import describe_setup_problem
from housewise.language.server.endpoint import Endpoint
from housewise.language.server.responses import retry_after

MAX_TRIES = 30
"""Tries of a request that fails temporarily, and checks of something that is not ready yet."""

_MAX_TRIES_NEW = 10
"""Tries while a server does not know yet what was just created: more than a minute with the default settings."""

_MAX_TRIES_UNREACHED = 6
"""Tries of a server that has never answered; its address may be wrong."""

_MAX_TRIES_CREATE = 5
_SEARCHES = 3
"""Searches for something that may have been created despite an error; a server's list may lag behind."""

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 120.0
_TEMPORARY_STATUSES = frozenset({408, 409, 425, 429})
_UNREADY_PHRASES = ("not ready", "being processed")


class _HasId(Protocol):
    id: str


_T = TypeVar("_T")
_HasIdT = TypeVar("_HasIdT", bound=_HasId)


class ApiClient:
    """Sends requests to a fine-tuning API, and repeats those that fail temporarily.

    Args:
        base_url: Address of the server; ``$OPENAI_BASE_URL`` by default, or else OpenAI's.
        poll_seconds: Longest pause between two tries, unless the server asks for a longer one.
        wait: Sleeps for a number of seconds.
        report: Called with a line about every temporary failure.

    Raises:
        UserError: There is no key, or the address cannot be used.
    """

    def __init__(
        self, base_url: str | None, poll_seconds: float, wait: Callable[[float], None], report: Callable[[str], None]
    ) -> None:
        address = base_url or os.environ.get("OPENAI_BASE_URL")
        self._endpoint = Endpoint.from_settings("to fine-tune", address, None)
        self.api = _open_client(self._endpoint)
        self._poll_seconds, self._wait, self._report = poll_seconds, wait, report
        self._is_reached = False

    def read(self, request: Callable[[], _T], *, is_new: bool = False) -> _T:
        """Send a request that may be repeated any number of times.

        Args:
            request: Calls the library.
            is_new: Whether it is about something created recently, which the server may not know everywhere yet.

        Raises:
            UserError: There is no answer; the message says what to do.
        """
        for attempt in itertools.count(1):
            try:
                answer = request()
                self._is_reached = True
                return answer
            except Exception as error:  # of the library, or of parsing an answer
                self._raise_or_wait(error, attempt, self._max_tries(error, is_new))
        raise AssertionError("unreachable")

    def create(
        self,
        request: Callable[[], _T],
        find: Callable[[], _T | None],
        *,
        is_new: bool = False,
        advice: Mapping[int, str] = MappingProxyType({}),
    ) -> _T:
        """Send a request that creates something. After an unclear failure, search for it before trying again.

        Args:
            request: Calls the library.
            find: Returns what was created, or None.
            is_new: See read.
            advice: Remedy for the error message, by status, where there is a special one.

        Raises:
            UserError: See read.
        """
        for attempt in itertools.count(1):
            try:
                return request()
            except Exception as error:  # see read
                failure = error
            is_lost = not _is_refusal(failure)
            for _ in range(_SEARCHES if is_lost else 0):
                self._pause(failure, self._poll_seconds)
                if (found := find()) is not None:
                    return found
            tries = min(self._max_tries(failure, is_new), _MAX_TRIES_CREATE if is_lost else MAX_TRIES)
            self._raise_or_wait(failure, attempt, tries, advice)
        raise AssertionError("unreachable")

    def _raise_or_wait(
        self, failure: Exception, attempt: int, tries: int, advice: Mapping[int, str] = MappingProxyType({})
    ) -> None:
        if attempt >= tries:
            raise UserError("; ".join(self._describe(failure, advice))) from None
        self._pause(failure, min(_FIRST_PAUSE * 2.0 ** (attempt - 1), self._poll_seconds))

    def _pause(self, failure: Exception, seconds: float) -> None:
        what, _ = self._describe(failure, {})
        self._report(f"{what}; waiting")
        asked = retry_after(failure.response.headers) if isinstance(failure, openai.APIStatusError) else None
        self._wait(max(seconds, min(asked or 0.0, _LONGEST_PAUSE)))

    def _max_tries(self, failure: Exception, is_new: bool) -> int:
        if isinstance(failure, openai.APIStatusError):
            self._is_reached = True
            if failure.code == "insufficient_quota":
                return 1
            if failure.status_code == 404 and is_new:
                return _MAX_TRIES_NEW
            is_unready = failure.status_code == 400 and any(words in str(failure) for words in _UNREADY_PHRASES)
            return MAX_TRIES if is_unready or _is_temporary(failure) else 1
        if isinstance(failure, openai.APIConnectionError):
            return MAX_TRIES if self._is_reached else _MAX_TRIES_UNREACHED
        return 1

    def _describe(self, failure: Exception, advice: Mapping[int, str]) -> tuple[str, str]:
        """Return what happened, and what to do about it."""
        where = urlsplit(str(self.api.base_url)).hostname
        if isinstance(failure, openai.AuthenticationError):
            return f"{where}: refuses the API key", "set OPENAI_API_KEY to a valid one"
        if isinstance(failure, openai.APIStatusError):
            message = failure.body.get("message") if isinstance(failure.body, dict) else None
            remedy = "check the model's name, the account and that the server offers fine-tuning, and run the same "
            return (
                f"{where}: answered {failure.status_code} ({self.excerpt(message or failure.body)})",
                advice.get(failure.status_code, f"{remedy}command again"),
            )
        return (
            f"{where}: {type(failure).__name__} ({self.excerpt(failure)})",
            "check the network and base_url, and run the same command again",
        )

    def excerpt(self, words: object) -> str:
        """Return a line of a message from a server or the library, without secrets."""
        return self._endpoint.excerpt(str(words))


def iterate_unique(listed: Iterable[_HasIdT]) -> Iterable[_HasIdT]:
    """Iterate over a paginated list, and stop where a server sends an item again."""
    seen: set[str] = set()
    for item in listed:
        if item.id in seen:
            return
        seen.add(item.id)
        yield item


def _is_temporary(failure: openai.APIStatusError) -> bool:
    return failure.status_code in _TEMPORARY_STATUSES or (failure.status_code >= 500 and failure.status_code != 501)


def _is_refusal(failure: Exception) -> bool:
    """Return whether a server has certainly not done what it was asked to."""
    if not isinstance(failure, openai.APIStatusError):
        return False
    return failure.status_code < 500 and failure.status_code not in (408, 409)


def _open_client(endpoint: Endpoint) -> openai.OpenAI:
    try:
        direct = openai.DefaultHttpxClient(trust_env=False) if is_loopback(endpoint.url) else None
        # The library would repeat a request whose answer was lost, and so start a second job.
        return openai.OpenAI(base_url=endpoint.url, api_key=endpoint.key or "none", max_retries=0, http_client=direct)
    except Exception as error:  # the HTTP library's many
        raise endpoint.error(*describe_setup_problem(error)) from None
