"""Parses responses of servers with the OpenAI protocol; they are untrusted and differ between servers."""

from __future__ import annotations

import email.utils
import math
import time
from typing import Any

from pydantic import BaseModel

from housewise.language.base import TokenLogprob

MAX_TOKENS = 1_000_000_000
"""Largest plausible number of tokens; a larger count is ignored."""

_THOUGHT_PARTS = ("thinking", "reasoning", "reasoning_content")
_ROUNDING = 0.01
_LONGEST_TOKEN = 1000  # characters, more than in any vocabulary


class _Message(BaseModel):
    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    refusal: Any = None


class CompletionChoice(BaseModel):
    """The fields of one reply in a chat completion that are used."""

    message: _Message
    finish_reason: str | None = None
    logprobs: Any = None
    error: Any = None

    @property
    def content(self) -> tuple[str | None, str]:
        """Text and thoughts; the text is None if the server sends none.

        Raises:
            ValueError: If the content is neither a text nor a list of parts.
        """
        text, thoughts = _parts(self.message.content)
        apart = self.message.reasoning_content or self.message.reasoning
        return text, apart if isinstance(apart, str) else thoughts

    @property
    def complaint(self) -> str:
        """Why there is no reply, in the server's words; empty if unknown."""
        return error_message(self.error or self.message.refusal)


class ChatCompletion(BaseModel):
    """The fields of a chat completion that are used; servers differ in the others."""

    choices: list[CompletionChoice] | None = None
    usage: Any = None
    error: Any = None

    @property
    def prompt_tokens(self) -> int:
        """Number of tokens read; 0 if unknown."""
        return self._count("prompt_tokens")

    @property
    def completion_tokens(self) -> int:
        """Number of tokens of all replies; 0 if unknown."""
        return self._count("completion_tokens")

    def _count(self, name: str) -> int:
        return token_count(self.usage.get(name)) if isinstance(self.usage, dict) else 0


class ListedModel(BaseModel):
    """A model that a server lists.

    Attributes:
        id: Name in requests.
        parent: Name of the base model of an adapter, or None for a base model.
        max_model_len: Maximum number of tokens of a prompt with its reply, where the server tells.
    """

    id: str
    parent: str | None = None
    max_model_len: int | None = None


class ModelList(BaseModel):
    """The fields of a list of models that are used."""

    data: list[ListedModel]

    @property
    def names(self) -> list[str]:
        """Sorted names of the models."""
        return sorted(model.id for model in self.data)


def _parts(content: Any) -> tuple[str | None, str]:
    """Return text and thoughts of a content, which may be a list of parts."""
    if content is None or isinstance(content, str):
        return content, ""
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise ValueError("neither a text nor a list of parts")
    texts = [_part_text(part, "text") for part in content if part.get("type") in ("text", "output_text")]
    thoughts = [_part_text(part, str(part.get("type"))) for part in content if part.get("type") in _THOUGHT_PARTS]
    return ("".join(texts) if texts else None), "\n".join(thoughts)


def _part_text(part: dict[str, Any], field: str) -> str:
    """Return the text of a part, which may consist of parts itself."""
    inner = part.get(field, part.get("text"))
    if isinstance(inner, list):
        return "".join(_part_text(each, "text") for each in inner if isinstance(each, dict))
    return inner if isinstance(inner, str) else ""


def retry_after(headers: Any) -> float | None:
    """Return the seconds that a server asks to wait, given as a number or as a date; None if it does not."""
    value = headers.get("retry-after") or ""
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def error_message(body: Any) -> str:
    """Return the message in the body of an error."""
    if isinstance(body, dict):
        body = body.get("message") or _validation_message(body.get("detail")) or body
    return str(body or "")


def _validation_message(listed: Any) -> str:
    """Return FastAPI's validation errors (place and problem), without the request that they repeat."""
    if not isinstance(listed, list):
        return str(listed or "")
    return "; ".join(
        f"{'.'.join(map(str, each.get('loc') or ()))}: {each.get('msg')}" for each in listed if isinstance(each, dict)
    )


def token_count(value: Any) -> int:
    """Return a number of tokens, or 0 if the value is not one."""
    return value if type(value) is int and 0 < value <= MAX_TOKENS else 0


def split_evenly(total: int, parts: int) -> list[int]:
    """Split a whole number into whole parts that are as equal as possible."""
    return [total * (index + 1) // parts - total * index // parts for index in range(parts)]


def log_probabilities(offered: Any) -> tuple[float, ...] | None:
    """Return the log-probabilities of a choice; None if the server returns none or something else."""
    try:
        found = tuple(float(token["logprob"]) for token in offered["content"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    # A log-probability may be minus infinity, and exceeds 0 only by rounding.
    return found if all(each <= _ROUNDING for each in found) else None


def token_alternatives(offered: Any, most: int) -> tuple[tuple[TokenLogprob, ...], ...] | None:
    """Return the likely tokens at every position of a choice.

    Args:
        offered: Log-probabilities of a choice, as the server returns them.
        most: Maximum number of tokens per position, including the token that was written.

    Returns:
        For each token of the reply the token itself and the likeliest others. None if the server returns no others
        although they were requested, or something else.
    """
    try:
        return tuple(_alternatives_at(token, most) for token in offered["content"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _alternatives_at(token: Any, most: int) -> tuple[TokenLogprob, ...]:
    chosen = _token(token)
    if most < 2:
        return (chosen,)
    # Read at most twice as many as requested: servers may add the written token, and the response is untrusted.
    offered = [other for other in token["top_logprobs"][: 2 * most] if other["token"] != chosen.text]
    if not offered:
        raise ValueError("nothing else is told")
    # JSON has no minus infinity; impossible tokens have null.
    others = [_token(other) for other in offered if other["logprob"] is not None]
    return (chosen, *sorted(others, key=lambda other: -other.logprob)[: most - 1])


def _token(offered: Any) -> TokenLogprob:
    text, logprob = offered["token"], _logprob(offered)
    if not isinstance(text, str) or len(text) > _LONGEST_TOKEN or not logprob <= _ROUNDING:
        raise ValueError("no token with a log-probability")
    return TokenLogprob(text, logprob)


def _logprob(offered: Any) -> float:
    return -math.inf if offered["logprob"] is None else float(offered["logprob"])
