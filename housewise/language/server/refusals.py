"""Interprets why a server refused a request, and whether a changed request may succeed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from housewise.language.server.request_failure import Adaptation

SAMPLING = ("temperature", "top_p")
"""Sampling parameters that some models refuse. If they are left out, these models use 1."""

# Parameters that a request can do without.
_OPTIONAL = ("response_format", "top_logprobs", "logprobs", "seed", "n", "stop", *SAMPLING)
_LIMITED = ("top_logprobs", "n", "stop")
_SMALL_SEEDS = 1 << 31
"""Seeds are sent modulo this number to servers that refuse larger ones, such as Gemini's."""

_BOUND = re.compile(r"max|most|up to|between|less|fewer|exceed|range|large|greater|higher|limit|[\[<≤]", re.I)
_NUMBER = re.compile(r"(?<![\w.-])\d{1,6}(?!\w|\.\d)")
_ROLES = re.compile(
    r"\bsystem\W{0,3}(role|message|prompt|instruction)|developer (role|message|instruction)"
    r"|roles?\b.{0,40}\b(system|user)|roles must alternate|alternate between user"
    r"|\bonly\W{0,3}user\b.{0,20}assistant|\buser'? (or|and) '?assistant",
    re.IGNORECASE | re.DOTALL,
)
_TOO_LONG = re.compile(
    r"context (length|size|window)|prompt is too long|input (token count|length|tokens).{0,60}exceed|too many tokens"
    r"|inputs` must have less|maximum (model|input) length|token count exceeds",
    re.IGNORECASE | re.DOTALL,
)
_TOO_MANY_NEW = re.compile(
    r"max_(completion_|new_|output_)?tokens.{0,80}\d|\d+ (tokens )?(in|for) the completion", re.IGNORECASE | re.DOTALL
)
_REFUSES = r"unsupported|unknown|unrecognized|unexpected|extra|invalid|not (?:supported|permitted|allowed)|not support"
_REFUSED = (
    r"is not|not supported|unsupported|not permitted|not allowed|must|is invalid|unknown|cannot|can't|only|should"
    r"|exceed|greater|range|is too|supports"
)


def is_too_long(code: Any, kind: Any, message: str) -> bool:
    """Whether a prompt had more tokens than the model can read, in the words of OpenAI, llama.cpp and vLLM.

    Args:
        code: Code of the error, as the server sent it.
        kind: Type of the error, as the server sent it.
        message: Message of the server.
    """
    if code == "context_length_exceeded" or kind == "exceed_context_size_error":
        return True
    return _TOO_LONG.search(message) is not None


def find_adaptation(
    message: str, parameter: str | None, sent: Mapping[str, Any], chosen: Mapping[str, float]
) -> Adaptation | None:
    """Return how to change a refused request; None if nothing can be changed.

    Args:
        message: Message of the server.
        parameter: Parameter that the server blames, if it names one.
        sent: Parameters of the request.
        chosen: Sampling parameters that the user set; these are only left out if they are 1.
    """
    if "max_tokens" in sent and "max_completion_tokens" in f"{parameter} {message}":
        return Adaptation("leave_out", "max_tokens")
    if names_roles(message) and _can_be_folded(sent["messages"]):
        return Adaptation("fold_system")
    for name in _refused_names(message, parameter, sent):
        if name == "seed" and sent["seed"] >= _SMALL_SEEDS:
            return Adaptation("limit", "seed", _SMALL_SEEDS)
        limited = "top_logprobs" if name == "logprobs" and "top_logprobs" in sent else name
        if limited in _LIMITED and (limit := _limit(message, sent[limited])):
            return Adaptation("limit", limited, limit)
        if not _is_set_by_user(name, sent, chosen):
            return Adaptation("leave_out", name)
    return None


def names_roles(message: str) -> bool:
    """Whether a server refuses the roles of a conversation."""
    return _ROLES.search(message) is not None


def _can_be_folded(messages: Sequence[Mapping[str, str]]) -> bool:
    """Whether there is a system turn, or two consecutive turns have the same role."""
    roles = [turn["role"] for turn in messages]
    return "system" in roles or any(one == other for one, other in pairwise(roles))


def refused_setting(message: str, parameter: str | None, sent: Mapping[str, Any]) -> str | None:
    """Return the sampling parameter that a server refuses, if it names one."""
    return next((name for name in _refused_names(message, parameter, sent) if name in SAMPLING), None)


def has_no_room_to_think(message: str) -> bool:
    """Whether a server refused the token limit of the reply rather than the length of the prompt."""
    return _TOO_MANY_NEW.search(message) is not None


def _refused_names(message: str, parameter: str | None, sent: Mapping[str, Any]) -> list[str]:
    """Return the optional parameters that a server blames, or else those that its message names."""
    if parameter in _OPTIONAL:
        return [parameter] if parameter in sent else []
    return [name for name in _OPTIONAL if name in sent and _is_refused(name, message)]


def _is_refused(name: str, message: str) -> bool:
    """Whether a message says that a parameter is refused; names such as stop and seed may also occur as plain words."""
    if name == "response_format" and re.search(
        r"json.?schema|structured.?output|guided|grammar", message, re.IGNORECASE
    ):
        return True
    if name == "n" and re.search(r"completion choice|\bn must\b|\bn is not\b", message, re.IGNORECASE):
        return True
    # A quoted name may have a path before it, such as 'generation_config.seed'.
    if re.search(rf"['\"`](?:\w+\.)*{name}['\"`]", message) or ("_" in name and re.search(rf"\b{name}\b", message)):
        return True
    if len(name) == 1:
        return False
    near = rf"(?:{_REFUSES})\b[^.]{{0,60}}\b{name}\b|\b{name}\b[^.]{{0,60}}\b(?:{_REFUSED})"
    return re.search(near, message, re.IGNORECASE) is not None


def _is_set_by_user(name: str, sent: Mapping[str, Any], chosen: Mapping[str, float]) -> bool:
    """Whether the user set a sampling parameter to the value that was sent, other than 1."""
    return name in SAMPLING and sent[name] != 1 and chosen.get(name) == sent[name]


def _limit(words: str, asked: Any) -> int:
    """Return the largest number below the requested one that a message names as a bound; 0 if there is none."""
    most = len(asked) if isinstance(asked, list) else int(asked)
    if not _BOUND.search(words):
        return 0
    return max((int(found) for found in _NUMBER.findall(words) if int(found) < most), default=0)
