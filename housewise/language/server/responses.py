"""What servers that speak the OpenAI protocol answer: read with care, since anything may come."""

from __future__ import annotations

import email.utils
import math
import time
from typing import Any

from pydantic import BaseModel

from housewise.language.base import TokenLogprob

MOST_TOKENS = 1_000_000_000
"""No model reads or writes as many; a count beyond says nothing."""

_THOUGHT_PARTS = ("thinking", "reasoning", "reasoning_content")
_ROUNDING = 0.01
_LONGEST_TOKEN = 1000  # characters; no vocabulary has as long ones


class _Message(BaseModel):
    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    refusal: Any = None


class CompletionChoice(BaseModel):
    message: _Message
    finish_reason: str | None = None
    logprobs: Any = None
    error: Any = None

    @property
    def content(self) -> tuple[str | None, str]:
        """Text and thoughts; no text where the server sends none.

        Raises:
            ValueError: The content is neither a text nor a list of parts.
        """
        text, thoughts = _parts(self.message.content)
        apart = self.message.reasoning_content or self.message.reasoning
        return text, apart if isinstance(apart, str) else thoughts

    @property
    def complaint(self) -> str:
        """Why there is no reply, in the words of the server; empty where it does not say."""
        return error_message(self.error or self.message.refusal)


class ChatCompletion(BaseModel):
    """The part of a chat completion that is used; servers differ in the rest."""

    choices: list[CompletionChoice] | None = None
    usage: Any = None
    error: Any = None


class _Model(BaseModel):
    id: str


class ModelList(BaseModel):
    """The part of a list of models that is used."""

    data: list[_Model]

    @property
    def names(self) -> list[str]:
        """What the models are called."""
        return sorted(model.id for model in self.data)


def _parts(content: Any) -> tuple[str | None, str]:
    """Text and thoughts of a content, which may be a list of parts."""
    if content is None or isinstance(content, str):
        return content, ""
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise ValueError("neither a text nor a list of parts")
    texts = [_part_text(part, "text") for part in content if part.get("type") in ("text", "output_text")]
    thoughts = [_part_text(part, str(part.get("type"))) for part in content if part.get("type") in _THOUGHT_PARTS]
    return ("".join(texts) if texts else None), "\n".join(thoughts)


def _part_text(part: dict[str, Any], field: str) -> str:
    """The text of a part, which may consist of parts itself."""
    inner = part.get(field, part.get("text"))
    if isinstance(inner, list):
        return "".join(_part_text(each, "text") for each in inner if isinstance(each, dict))
    return inner if isinstance(inner, str) else ""


def retry_after(headers: Any) -> float | None:
    """Seconds a server asks to wait, given as a number or as a date."""
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
    """What the body of an error says."""
    if isinstance(body, dict):
        body = body.get("message") or _validation_message(body.get("detail")) or body
    return str(body or "")


def _validation_message(listed: Any) -> str:
    """What FastAPI says of a request: where and what is wrong, without the request that it repeats."""
    if not isinstance(listed, list):
        return str(listed or "")
    return "; ".join(
        f"{'.'.join(map(str, each.get('loc') or ()))}: {each.get('msg')}" for each in listed if isinstance(each, dict)
    )


def token_count(value: Any) -> int:
    """A number of tokens, 0 for what is none."""
    return value if type(value) is int and 0 < value <= MOST_TOKENS else 0


def split_evenly(total: int, parts: int) -> list[int]:
    """A whole number in whole parts as equal as can be."""
    return [total * (index + 1) // parts - total * index // parts for index in range(parts)]


def log_probabilities(offered: Any) -> tuple[float, ...] | None:
    """Log-probabilities in a choice, or None where the server gives none or gives something else."""
    try:
        found = tuple(float(token["logprob"]) for token in offered["content"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    # An unlikely token may well be minus infinity; the logarithm of a probability is no more than 0 but for rounding.
    return found if all(each <= _ROUNDING for each in found) else None


def token_alternatives(offered: Any, most: int) -> tuple[tuple[TokenLogprob, ...], ...] | None:
    """What else was likely at every place of a choice.

    Args:
        offered: log-probabilities as the server has them in a choice.
        most: how many are told for each place, the written token among them.

    Returns:
        For each token of the reply the token itself and the likeliest others, or None where the server gives no
        others though they are wanted, or gives something else.
    """
    try:
        return tuple(_alternatives_at(token, most) for token in offered["content"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _alternatives_at(token: Any, most: int) -> tuple[TokenLogprob, ...]:
    chosen = _token(token)
    if most < 2:
        return (chosen,)
    # Twice as many as are asked for at most: servers may add the written token, and anything may come.
    offered = [other for other in token["top_logprobs"][: 2 * most] if other["token"] != chosen.text]
    if not offered:
        raise ValueError("nothing else is told")
    # JSON has no minus infinity: what is impossible comes as null.
    others = [_token(other) for other in offered if other["logprob"] is not None]
    return (chosen, *sorted(others, key=lambda other: -other.logprob)[: most - 1])


def _token(offered: Any) -> TokenLogprob:
    text, logprob = offered["token"], _logprob(offered)
    if not isinstance(text, str) or len(text) > _LONGEST_TOKEN or not logprob <= _ROUNDING:
        raise ValueError("no token with a log-probability")
    return TokenLogprob(text, logprob)


def _logprob(offered: Any) -> float:
    return -math.inf if offered["logprob"] is None else float(offered["logprob"])
