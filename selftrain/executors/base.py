"""What every executor offers: episodes in, records out; and who is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from selftrain.record import ResultLine
from selftrain.tasks import Job


class Watcher(Protocol):
    """Told of how a run goes; called from several threads."""

    def began(self, job: Job) -> None: ...

    def stepped(self, job: Job, steps: int, plans: int) -> None: ...

    def ended(self, job: Job, result: ResultLine) -> None: ...


class Silent:
    """A watcher that says nothing."""

    def began(self, job: Job) -> None: ...

    def stepped(self, job: Job, steps: int, plans: int) -> None: ...

    def ended(self, job: Job, result: ResultLine) -> None: ...


class Executor(Protocol):
    """Has episodes played, as many at a time as the settings say."""

    def play(self, jobs: Sequence[Job]) -> None:
        """Play episodes, each to its record.

        Args:
            jobs: the episodes.

        Raises:
            UserError: when something outside the program is wrong; what was being played is finished first.
        """
        ...
