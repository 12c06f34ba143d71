"""Reads why a server refused a request, and whether the reply can be had with another one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from housewise.language.server.failure import Adaptation

# What a server may refuse although the reply can be had without it.
_OPTIONAL = ("top_logprobs", "logprobs", "seed", "n", "stop", "top_p", "temperature")
# Left out, these mean 1 wherever they can be refused at all.
_SAMPLING = ("temperature", "top_p")
_LIMITED = ("top_logprobs", "n", "stop")

_BOUND = re.compile(r"max|most|up to|between|less|fewer|exceed|range|large|greater|higher|limit|[\[<≤]", re.I)
_NUMBER = re.compile(r"(?<![\w.-])\d{1,6}(?!\w|\.\d)")
_NO_SYSTEM_ROLE = re.compile(
    r"system.{0,20}(role|message|prompt|instruction)|roles?\W.{0,20}system|roles must alternate|alternate user"
    r"|only (user|'user'|\"user\").{0,20}assistant",
    re.IGNORECASE | re.DOTALL,
)
_TOO_LONG = re.compile(r"(max\w*|model's) context length|context (size|window)", re.IGNORECASE)
_TOO_MANY_NEW = re.compile(r"max_(completion_|new_|output_)?tokens", re.IGNORECASE)


def is_too_long(code: Any, kind: Any, message: str) -> bool:
    """Whether a prompt had more tokens than the model reads, as OpenAI, llama.cpp and vLLM say it.

    Args:
        code, kind: Of the error.
        message: What the server says.
    """
    if code == "context_length_exceeded" or kind == "exceed_context_size_error":
        return True
    return _TOO_LONG.search(message) is not None


def adaptation_to(
    message: str, parameter: str | None, sent: Mapping[str, Any], chosen: Mapping[str, float]
) -> Adaptation | None:
    """How to change a request that a server refused; None where nothing can be changed.

    Args:
        message: What the server says.
        parameter: The parameter that it blames, if it names one.
        sent: Parameters of the request.
        chosen: Sampling parameters that the user set; these are not left out unless they are 1.
    """
    words = f"{parameter} {message}"
    if "max_tokens" in sent and "max_completion_tokens" in words:
        return Adaptation("leave_out", "max_tokens")
    if _NO_SYSTEM_ROLE.search(words) and any(turn["role"] == "system" for turn in sent["messages"]):
        return Adaptation("fold_system")
    named = next((name for name in _OPTIONAL if name in sent and _is_named(name, words, parameter)), None)
    if named is None:
        return None
    limited = "top_logprobs" if named == "logprobs" and "top_logprobs" in sent else named
    if limited in _LIMITED and (limit := _limit(words, sent[limited])):
        return Adaptation("limit", limited, limit)
    return None if _is_chosen(named, sent, chosen) else Adaptation("leave_out", named)


def refused_setting(message: str, parameter: str | None, sent: Mapping[str, Any]) -> str | None:
    """The sampling parameter that a server refuses, if it names one."""
    words = f"{parameter} {message}"
    return next((name for name in _SAMPLING if name in sent and _is_named(name, words, parameter)), None)


def has_no_room_to_think(message: str, sent: Mapping[str, Any]) -> bool:
    """Whether a server refused the limit of a reply, rather than the length of the prompt."""
    return _TOO_MANY_NEW.search(message) is not None and any(
        name in sent for name in ("max_tokens", "max_completion_tokens")
    )


def _is_named(name: str, words: str, parameter: str | None) -> bool:
    pattern = rf"['\"`]{name}['\"`]" if len(name) == 1 else rf"\b{name}\b"
    return parameter == name or re.search(pattern, words) is not None


def _is_chosen(name: str, sent: Mapping[str, Any], chosen: Mapping[str, float]) -> bool:
    """Whether the user set a sampling parameter to what was sent, and it means something."""
    return name in _SAMPLING and sent[name] != 1 and chosen.get(name) == sent[name]


def _limit(words: str, asked: Any) -> int:
    """The largest number below what was asked for that a message names as a bound; 0 for none."""
    most = len(asked) if isinstance(asked, list) else int(asked)
    if not _BOUND.search(words):
        return 0
    return max((int(found) for found in _NUMBER.findall(words) if int(found) < most), default=0)
