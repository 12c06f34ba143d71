"""Interprets errors of a server: HTTP statuses, and errors of the HTTP library."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import openai

from housewise.language.server.connection import BODY_LIMIT, RedirectError, TooLongError
from housewise.language.server.endpoint import Endpoint
from housewise.language.server.refusals import (
    find_adaptation,
    has_no_room_to_think,
    is_too_long,
    names_roles,
    refused_setting,
)
from housewise.language.server.request_failure import Adaptation, RequestFailure
from housewise.language.server.request_parameters import DIALECT_REMEDY, GRAMMAR_FIELDS, ServerOptions
from housewise.language.server.responses import error_message, retry_after

LOADING_SECONDS = 360.0
"""Seconds that a server may take to load a model."""

DEPLOYING_SECONDS = 120.0
"""Seconds that a server may take to know a model that it has just fine-tuned."""

_IS_LOADING = re.compile(
    r"load(?:ing|ed)\b.{0,80}model|model\b.{0,120}(?:load|warm|start|initiali[sz])|(?:warming|starting) up",
    re.IGNORECASE | re.DOTALL,
)


def is_fine_tuned(model: str) -> bool:
    """Whether a model's name is one that OpenAI's fine-tuning gives."""
    return model.startswith("ft:")


@dataclass(frozen=True)
class StatusErrorReader:
    """Converts errors of a server into failures.

    Attributes:
        endpoint: The server.
        options: Options of requests.
    """

    endpoint: Endpoint
    options: ServerOptions

    def status_failure(
        self, error: openai.APIStatusError, sent: dict[str, Any], thinking_tokens: int
    ) -> RequestFailure:
        """Return the failure for a status other than 200.

        Args:
            error: Error with the status and the body.
            sent: Parameters of the request.
            thinking_tokens: Number of tokens that were added to its limit.
        """
        status, message = error.status_code, error_message(error.body)
        excerpt = self.endpoint.excerpt(message or error.response.reason_phrase)
        what = f"it answered {status}" + (f" ({excerpt})" if excerpt else "")
        wait = retry_after(error.response.headers)
        if status == 401:
            is_wrong = "OPENAI_API_KEY or api_key is not valid there"
            return RequestFailure(what, is_wrong if self.endpoint.key else "it wants a key: set OPENAI_API_KEY")
        if status == 403:
            return RequestFailure(what, "use an API key that may use this model")
        # Some servers refuse a request with status 500.
        is_refused = status == 500 and (is_too_long(error.code, error.type, message) or names_roles(message))
        if status in (400, 413, 422) or is_refused:
            return self._refusal(error, message, what, sent, thinking_tokens)
        if status == 402 or error.code == "insufficient_quota":
            return RequestFailure(what, "add credit to the account of this API key")
        if status == 429:
            return RequestFailure(what, "lower concurrency or try later", True, wait)
        if status >= 500 or status in (408, 409):
            is_loading = status == 503 and _IS_LOADING.search(message) is not None
            seconds = LOADING_SECONDS if is_loading else 0.0
            return RequestFailure(what, "see the server's log or try later", True, wait, loading_seconds=seconds)
        if status == 404 and is_fine_tuned(self.endpoint.model) and "model" in f"{error.code} {message}".lower():
            return RequestFailure(what, "correct the model's name", True, wait, loading_seconds=DEPLOYING_SECONDS)
        return RequestFailure(what, "check base_url (it usually ends in /v1)")

    def _refusal(
        self, error: openai.APIStatusError, message: str, what: str, sent: dict[str, Any], thinking_tokens: int
    ) -> RequestFailure:
        reason = f"it answered {error.status_code}"
        # Failures are counted by their reasons, in which numbers must not differ between requests.
        alike = re.sub(r"\d+", "N", what.removeprefix(reason))
        adaptation = find_adaptation(message, error.param, sent, self.options.sampling)
        too_long = is_too_long(error.code, error.type, message)
        if adaptation is None and thinking_tokens and (too_long or has_no_room_to_think(message)):
            # The tokens that were added to the limit may be the cause.
            adaptation = Adaptation("think_less", limit=thinking_tokens)
            return RequestFailure(what, "lower thinking_tokens", reason=reason, adaptation=adaptation)
        if error.status_code == 413 or too_long:
            return RequestFailure(what, "shorten the prompt", reason=reason, too_long=True)
        field, words = GRAMMAR_FIELDS[self.options.grammar_dialect], f"{error.param} {message}"
        about = re.search(rf"{field}|grammar|structured|guided|extra", words, re.IGNORECASE)
        if about is not None and field in sent.get("extra_body", {}):
            return RequestFailure(what, DIALECT_REMEDY, adaptation=adaptation, is_refusal=True)
        remedy = self._remedy(message, error.param, sent)
        return RequestFailure(what, remedy, reason=f"{reason}{alike}", adaptation=adaptation, is_refusal=True)

    def _remedy(self, message: str, parameter: str | None, sent: dict[str, Any]) -> str:
        setting = refused_setting(message, parameter, sent)
        if setting is not None:
            return f"change {setting}; set {setting}=1 to leave it to the server"
        added = next((name for name in self.options.fields if re.search(rf"\b{re.escape(name)}\b", message)), None)
        if added is None:
            return "change the request or the model's options as it says"
        is_own = added in ("chat_template_kwargs", "reasoning_effort")
        return f"leave out or change the setting {added if is_own else f'extra_body.{added}'}"

    def connection_failure(self, error: Exception) -> RequestFailure:
        """Return the failure for a request without any response."""
        cause = error.__cause__ or error
        for each in (error, cause):
            if isinstance(each, TooLongError):
                remedy = "check that base_url is a chat server, or lower max_tokens and n"
                return RequestFailure(f"it answered with more than {BODY_LIMIT // 1_000_000} MB", remedy, True)
            if isinstance(each, RedirectError):
                where = self.endpoint.excerpt(str(each))
                return RequestFailure(
                    f"it sends requests on to {where}, which nobody named", "set base_url to where it runs"
                )
        reason = self.endpoint.excerpt(str(cause) or type(cause).__name__)
        return RequestFailure(f"the connection failed: {reason}", "check base_url and that the server runs", True)
