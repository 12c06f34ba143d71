"""What became of an attempt to have a server answer, where it failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Adaptation:
    """How a request is changed after a server refused it.

    Attributes:
        kind: ``leave_out`` a parameter, obey the ``limit`` that the server named for it, put the system message into
            the first user turn (``fold_system``), or let the model think for fewer tokens (``think_less``).
        name: Of the parameter.
        limit: Of the parameter's value; of ``think_less``, the tokens for thoughts that were refused.
    """

    kind: Literal["leave_out", "limit", "fold_system", "think_less"]
    name: str = ""
    limit: int = 0


@dataclass
class RequestFailure(Exception):
    """One attempt that failed: what happened, what to do, and whether and when to try again.

    Attributes:
        what: What happened.
        remedy: What to do about it.
        again: Whether it may get better by itself.
        wait: Seconds until the next attempt, where the server says so.
        adaptation: What to change before the next attempt; None for nothing.
        reason: With a reason it concerns this request alone; the same words for all requests that fail alike.
        too_long: Whether the prompt has more tokens than the model reads.
        cut_short: Whether it tells less than the attempt before it, as there was less time.
        loading_seconds: How long the server may still take until it has the model; 0 where that is not the reason.
        is_silent: Whether the server replied without saying anything, which another seed may mend.
        is_refusal: Whether the server refused the request as it is.
        is_missing: Whether there is nothing at the address that was asked.
        is_final: Whether no other request to this server for this model can be answered either.
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
    is_silent: bool = False
    is_refusal: bool = False
    is_missing: bool = False
    is_final: bool = False
