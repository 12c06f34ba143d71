"""Retries of requests to a server: the pause before each, and one line per outage, not one per request."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

QUIET_SECONDS = 30.0
"""Seconds without a report for requests that were retried no more often than those before them."""
LONGEST_PAUSE = 8.0
"""Maximum seconds before an attempt, if the server names none."""


def retry_pause(backoff: float, attempt: int) -> float:
    """Return the seconds to wait after a failed attempt.

    Args:
        backoff: Seconds after the first attempt. They double with each further one.
        attempt: Number of the attempt, from 1.
    """
    # Jitter keeps requests that failed together from coming back together.
    return min(backoff * 2.0 ** (attempt - 1), LONGEST_PAUSE) * random.uniform(0.75, 1.0)


class RetryReporter:
    """Reports requests that are retried; any number of requests may use it.

    A line is written for the first of several requests that fail at the same time, and for the first that is retried
    once more often.

    Args:
        tell: Function that receives a line.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._max_tries, self._quiet_until = 0, 0.0

    def report(self, what: str, tries: int, max_tries: int, pause: float) -> None:
        """Report that a request is about to be retried.

        Args:
            what: What happened to the request.
            tries: Number of attempts including the next.
            max_tries: Maximum number of attempts.
            pause: Seconds until the next attempt.
        """
        now = time.monotonic()
        with self._lock:
            if now < self._quiet_until and tries <= self._max_tries:
                return
            self._max_tries, self._quiet_until = tries, now + max(pause, QUIET_SECONDS)
        self._tell(f"{what}; trying again in {pause:.1f} s (try {tries} of {max_tries})")
