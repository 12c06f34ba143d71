"""Why an attempt to get an answer from a server failed, and how the next attempt differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from housewise.language.base import BlankReplyError, PromptTooLongError, RequestError


@dataclass(frozen=True)
class Adaptation:
    """How a request is changed after a server refused it.

    Attributes:
        kind: ``leave_out`` a parameter, obey the ``limit`` that the server named for it, move the system message into
            the first user turn (``fold_system``), or reduce the tokens for thinking (``think_less``).
        name: Name of the parameter.
        limit: Limit of the parameter's value; for ``think_less``, the number of tokens that was refused.
    """

    kind: Literal["leave_out", "limit", "fold_system", "think_less"]
    name: str = ""
    limit: int = 0


@dataclass
class RequestFailure(Exception):
    """A failed attempt: what happened, what to do, and whether and when to try again.

    Attributes:
        what: What happened.
        remedy: What to do about it.
        again: Whether another attempt may succeed.
        wait: Seconds until the next attempt, if the server names them.
        adaptation: What to change before the next attempt; None for nothing.
        reason: If not empty, the failure concerns this request alone; equal for all requests that fail in the same way.
        too_long: Whether the prompt has more tokens than the model can read.
        cut_short: Whether the attempt had less time than the one before, so that its failure tells less.
        loading_seconds: Seconds that the server may still need to load the model; 0 if this is not the reason.
        is_blank: Whether the reply was blank, which another seed may fix.
        is_refusal: Whether the server refused the request as it is.
        is_missing: Whether there is nothing at the address.
        is_final: Whether no other request to this server for this model can succeed.
        prompt_tokens: Number of tokens read for replies that cannot be used.
        completion_tokens: Number of tokens of these replies.
    """

    what: str
    remedy: str
    again: bool = False
    wait: float | None = None
    adaptation: Adaptation | None = None
    reason: str = ""
    too_long: bool = False
    cut_short: bool = False
    loading_seconds: float = 0.0
    is_blank: bool = False
    is_refusal: bool = False
    is_missing: bool = False
    is_final: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def kind(self) -> type[RequestError]:
        """Class of the error, if the failure concerns this request alone."""
        return PromptTooLongError if self.too_long else BlankReplyError if self.is_blank else RequestError
