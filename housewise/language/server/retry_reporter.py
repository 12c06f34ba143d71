"""Tells that requests to a server are being tried again: a line for an outage, not one for each of its requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

QUIET_SECONDS = 30.0
"""How long nothing is said of requests that have been tried no more often than those before them."""


class RetryReporter:
    """Tells of requests that are tried again; any number of requests may report.

    A line is told for the first request of several that fail at the same time, and for the first of them that is tried
    once more often.

    Args:
        tell: takes a line.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._most_tries, self._quiet_until = 0, 0.0

    def report(self, what: str, tries: int, most_tries: int, pause: float) -> None:
        """Report that a request is about to be tried again.

        Args:
            what: happened to it.
            tries: how often it has been tried then, the next time included.
            most_tries: how often it is tried at most.
            pause: seconds until then.
        """
        now = time.monotonic()
        with self._lock:
            if now < self._quiet_until and tries <= self._most_tries:
                return
            self._most_tries, self._quiet_until = tries, now + max(pause, QUIET_SECONDS)
        self._tell(f"{what}; trying again in {pause:.1f} s (try {tries} of {most_tries})")
