"""Requests to a fine-tuning API: what passes by itself is waited out, and nothing is made twice."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

import openai

from housewise.core.errors import UserError
from housewise.core.urls import is_loopback, redact_passwords, redact_url, remove_secrets, secret_texts
from housewise.language.server.connection import describe_setup_problem
from housewise.language.server.responses import retry_after

MOST_TRIES = 30
"""Tries of a request that fails for a reason that passes, and looks at something that is not ready."""

_TRIES_OF_NEW = 10
"""Tries while a server does not know yet what was just made: more than a minute with the default settings."""

_TRIES_UNREACHED = 6
"""Tries of a server that has never answered, whose address may be wrong."""

_TRIES_TO_MAKE = 5
_LOOKS = 3
"""Looks for something whose making may have worked before it is made again: a list may lag behind."""

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 120.0
_PASSING = frozenset({408, 409, 425, 429})
_UNREADY = ("not ready", "being processed")


class _Listed(Protocol):
    id: str


_T = TypeVar("_T")
_L = TypeVar("_L", bound=_Listed)


class ApiClient:
    """Asks a fine-tuning API, again where the reason of a failure passes by itself.

    Args:
        base_url: of the server; by default ``$OPENAI_BASE_URL``, then OpenAI's.
        poll_seconds: the longest pause between two tries, unless the server asks for a longer one.
        wait: sleeps for so many seconds.
        report: gets a line about every failure that is waited out.

    Raises:
        UserError: when there is no key, or the address cannot be used.
    """

    def __init__(
        self, base_url: str | None, poll_seconds: float, wait: Callable[[float], None], report: Callable[[str], None]
    ) -> None:
        self.api = _open_client(base_url)
        self._poll_seconds, self._wait, self._report = poll_seconds, wait, report
        self._is_reached = False

    def ask(self, question: Callable[[], _T], *, is_new: bool = False, advice: Mapping[int, str] | None = None) -> _T:
        """Ask a question that may be asked any number of times, or that the server is known to have refused.

        Args:
            question: calls the library.
            is_new: whether it is about something that the server made lately, and may not know everywhere yet.
            advice: for each status what to do about it, where that is something special.

        Raises:
            UserError: when there is no answer; the message says what to do.
        """
        for attempt in itertools.count(1):
            try:
                answer = question()
                self._is_reached = True
                return answer
            except Exception as error:  # the library's, and those of what it makes of an answer
                self._give_up_or_wait(error, attempt, self._tries(error, is_new), advice)
        raise AssertionError("unreachable")

    def make(
        self,
        question: Callable[[], _T],
        find: Callable[[], _T | None],
        *,
        is_new: bool = False,
        advice: Mapping[int, str] | None = None,
    ) -> _T:
        """Ask for something to be made; where that may have worked though it failed, look for it before asking again.

        Args:
            question: calls the library.
            find: finds what was made; None where nothing is found.
            is_new, advice: see ask.

        Raises:
            UserError: see ask.
        """
        for attempt in itertools.count(1):
            try:
                return question()
            except Exception as error:  # see ask
                failure = error
            is_lost = not _is_refusal(failure)
            for _ in range(_LOOKS if is_lost else 0):
                self._pause(failure, self._poll_seconds)
                if (found := find()) is not None:
                    return found
            tries = min(self._tries(failure, is_new), _TRIES_TO_MAKE if is_lost else MOST_TRIES)
            self._give_up_or_wait(failure, attempt, tries, advice)
        raise AssertionError("unreachable")

    def _give_up_or_wait(self, failure: Exception, attempt: int, tries: int, advice: Mapping[int, str] | None) -> None:
        if attempt >= tries:
            raise self._problem(failure, advice or {}) from None
        self._pause(failure, min(_FIRST_PAUSE * 2.0 ** (attempt - 1), self._poll_seconds))

    def _pause(self, failure: Exception, seconds: float) -> None:
        what, _ = self._describe(failure, {})
        self._report(f"{what}; waiting")
        asked = retry_after(failure.response.headers) if isinstance(failure, openai.APIStatusError) else None
        self._wait(max(seconds, min(asked or 0.0, _LONGEST_PAUSE)))

    def _tries(self, failure: Exception, is_new: bool) -> int:
        if isinstance(failure, openai.APIStatusError):
            self._is_reached = True
            if failure.code == "insufficient_quota":
                return 1
            if failure.status_code == 404 and is_new:
                return _TRIES_OF_NEW
            is_unready = failure.status_code == 400 and any(words in str(failure) for words in _UNREADY)
            return MOST_TRIES if is_unready or _is_passing(failure) else 1
        if isinstance(failure, openai.APIConnectionError):
            return MOST_TRIES if self._is_reached else _TRIES_UNREACHED
        return 1

    def _problem(self, failure: Exception, advice: Mapping[int, str]) -> UserError:
        return UserError("; ".join(self._describe(failure, advice)))

    def _describe(self, failure: Exception, advice: Mapping[int, str]) -> tuple[str, str]:
        """What happened, and what to do about it."""
        where = urlsplit(str(self.api.base_url)).hostname
        if isinstance(failure, openai.AuthenticationError):
            return f"{where}: refuses the API key", "set OPENAI_API_KEY to a valid one"
        if isinstance(failure, openai.APIStatusError):
            said = failure.body.get("message") if isinstance(failure.body, dict) else None
            remedy = "check the model's name, the account and that the server offers fine-tuning, and run the same "
            return (
                f"{where}: answered {failure.status_code} ({self.excerpt(said or failure.body)})",
                advice.get(failure.status_code, f"{remedy}command again"),
            )
        return (
            f"{where}: {type(failure).__name__} ({self.excerpt(failure)})",
            "check the network and base_url, and run the same command again",
        )

    def excerpt(self, words: object) -> str:
        """A line of what a server or the library says, without what is secret."""
        line = remove_secrets(" ".join(str(words).split()), secret_texts(self.api.api_key, str(self.api.base_url)))
        return redact_passwords(line)[:200]


def each_once(listed: Iterable[_L]) -> Iterable[_L]:
    """What a server lists, page by page; a server that sends the same page again and again comes to an end."""
    seen: set[str] = set()
    for item in listed:
        if item.id in seen:
            return
        seen.add(item.id)
        yield item


def _is_passing(failure: openai.APIStatusError) -> bool:
    return failure.status_code in _PASSING or (failure.status_code >= 500 and failure.status_code != 501)


def _is_refusal(failure: Exception) -> bool:
    """Whether a server has certainly done nothing of what it was asked for."""
    if not isinstance(failure, openai.APIStatusError):
        return False
    return failure.status_code < 500 and failure.status_code not in (408, 409)


def _open_client(base_url: str | None) -> openai.OpenAI:
    address = base_url or os.environ.get("OPENAI_BASE_URL")
    key = os.environ.get("OPENAI_API_KEY") or ("none" if address else "")
    if not key:
        raise UserError("there is no API key; set OPENAI_API_KEY, or give base_url for a server of your own")
    try:
        direct = openai.DefaultHttpxClient(trust_env=False) if address and is_loopback(address) else None
        # The library would send a request again whose answer was lost, and so start a second job.
        return openai.OpenAI(base_url=address, api_key=key, max_retries=0, http_client=direct)
    except Exception as error:  # the HTTP library's many
        what, remedy = describe_setup_problem(error)
        raise UserError(f"base_url {redact_url(address or '')}: {what}; {remedy}, as in http://host:port/v1") from None
