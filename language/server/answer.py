"""What servers that speak the OpenAI protocol answer: read with care, since anything may come."""

from __future__ import annotations

import email.utils
import math
import re
import time
from typing import Any

from pydantic import BaseModel

# What a server may refuse although the reply can be had without it.
OPTIONAL = ("logprobs", "seed", "n", "stop", "top_p", "temperature")

MOST_TOKENS = 1_000_000_000
"""No model reads or writes as many; a count beyond says nothing."""

_ROUNDING = 0.01


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
