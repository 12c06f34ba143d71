"""What became of an attempt to have a server answer, where it failed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Failure(Exception):
    """One attempt that failed: what happened, what to do, and whether and when to try again.

    With a reason it concerns this request alone; too long is a prompt of more tokens than the model reads; cut short,
    it tells less than the attempt before it.
    """

    what: str
    remedy: str
    again: bool = False
    wait: float | None = None
    refused: str | None = None
    reason: str = ""
    too_long: bool = False
    cut_short: bool = False
