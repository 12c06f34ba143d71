"""What servers that speak the OpenAI protocol answer: read with care, since anything may come."""

from __future__ import annotations

import email.utils
import math
import re
import time
from typing import Any

from pydantic import BaseModel

from housewise.language.base import TokenLogprob

# What a server may refuse although the reply can be had without it.
OPTIONAL = ("top_logprobs", "logprobs", "seed", "n", "stop", "top_p", "temperature")

MOST_TOKENS = 1_000_000_000
"""No model reads or writes as many; a count beyond says nothing."""

MOST_ALTERNATIVES = 20
"""More are asked of no server: OpenAI's refuses them."""

_ROUNDING = 0.01
_LONGEST_TOKEN = 1000  # characters; no vocabulary has as long ones


class _Message(BaseModel):
    content: str | None = None


class Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None
    logprobs: Any = None


class Completion(BaseModel):
    """The part of a chat completion that is used; servers differ in the rest."""

    choices: list[Choice] | None = None
    usage: Any = None
    error: Any = None


class _Model(BaseModel):
    id: str


class KnownModels(BaseModel):
    """The part of a list of models that is used."""

    data: list[_Model]

    @property
    def names(self) -> list[str]:
        """What the models are called."""
        return sorted(model.id for model in self.data)


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


def told_by(body: Any) -> str:
    """What the body of an error says."""
    return str((body.get("message") or body if isinstance(body, dict) else body) or "")


def refused(told: str, parameter: str | None, sent: dict[str, Any]) -> str | None:
    """The optional parameter that a server refuses, if it names one."""
    if "max_tokens" in sent and "max_completion_tokens" in told:
        return "max_tokens"
    for name in OPTIONAL:
        # Left out, these two mean 1 wherever they can be refused at all.
        needed = name in ("temperature", "top_p") and sent.get(name) != 1
        pattern = rf"['\"`]{name}['\"`]" if len(name) == 1 else rf"\b{name}\b"
        if name in sent and not needed and (parameter == name or re.search(pattern, told)):
            return name
    return None


def without(text: str, prefix: str) -> str:
    """A reply without the prefix that the model repeated, if it did."""
    body, wanted = text.lstrip(), prefix.strip()
    return body[len(wanted) :] if wanted and body[: len(wanted)].lower() == wanted.lower() else text


def count(value: Any) -> int:
    """A number of tokens, 0 for what is none."""
    return value if type(value) is int and 0 < value <= MOST_TOKENS else 0


def shares(total: int, parts: int) -> list[int]:
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


def alternatives(offered: Any, most: int) -> tuple[tuple[TokenLogprob, ...], ...] | None:
    """What else was likely at every place of a choice.

    Args:
        offered: log-probabilities as the server has them in a choice.
        most: how many are told for each place, the written token among them.

    Returns:
        For each token of the reply the token itself and the likeliest others, or None where the server gives no
        others though they are wanted, or gives something else.
    """
    try:
        return tuple(_place(token, most) for token in offered["content"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _place(token: Any, most: int) -> tuple[TokenLogprob, ...]:
    chosen = _token(token)
    if most < 2:
        return (chosen,)
    # Twice as many as are asked for at most: servers may add the written token, and anything may come.
    others = [_token(other) for other in token["top_logprobs"][: 2 * most]]
    same = next((place for place, other in enumerate(others) if other.text == chosen.text), None)
    if same is not None:
        del others[same]
    if not others:
        raise ValueError("nothing else is told")
    return (chosen, *sorted(others, key=lambda other: -other.logprob)[: most - 1])


def _token(offered: Any) -> TokenLogprob:
    text, logprob = offered["token"], float(offered["logprob"])
    if not isinstance(text, str) or len(text) > _LONGEST_TOKEN or not logprob <= _ROUNDING:
        raise ValueError("no token with a log-probability")
    return TokenLogprob(text, logprob)
