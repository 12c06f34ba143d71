"""The phases of long work as they go by, and roughly how long those ahead take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import mean

from housewise.core.durations import format_duration
from housewise.core.plurals import plural
from housewise.selftrain.personalize.phases import PlannedPhase

_PRIOR_SECONDS = 60.0
"""Played as fast as expected, for a start: a few episodes, with all that is loaded for the first, tell little."""


class Phases:
    """The phases of a self-training.

    What is expected beforehand is corrected by what was measured; how long a training takes is known from the first on.

    Args:
        phases: in order; empty where they are not known, of which nothing is said.
    """

    def __init__(self, phases: Sequence[PlannedPhase]) -> None:
        self._phases = phases
        self._next = 0
        self._current: PlannedPhase | None = None
        self._began = 0.0
        self._trainings: list[float] = []
        self._measured = self._expected = _PRIOR_SECONDS

    @property
    def announcement(self) -> str:
        """What is ahead, in a line."""
        episodes = sum(phase.episodes for phase in self._phases)
        return f"{len(self._phases)} phases with {episodes} episodes{self.time_left}"

    def begin(self, name: str) -> str:
        """The next phase of that name begins.

        Returns:
            Which one it is of how many, for a heading; empty where it is not known.
        """
        self._began = time.monotonic()
        ahead = range(self._next, len(self._phases))
        found = next((index for index in ahead if self._phases[index].name == name), None)
        self._current = None if found is None else self._phases[found]
        if found is None:
            return ""
        self._next = found
        return f"{found + 1} of {len(self._phases)}: "

    def end(self, played: int = 0) -> None:
        """The phase is over.

        Args:
            played: episodes that were not there already.
        """
        phase, seconds = self._current, time.monotonic() - self._began
        if phase is None:
            return
        self._next += 1
        if not phase.episodes:
            self._trainings.append(seconds)
        elif played and phase.seconds:
            self._measured += seconds
            self._expected += phase.seconds * played / phase.episodes

    @property
    def time_left(self) -> str:
        """Roughly how long what is ahead takes, for the end of a line; empty where nobody knows."""
        ahead = self._phases[self._next :]
        trainings = sum(not phase.episodes for phase in ahead)
        expected = [phase.seconds for phase in ahead if phase.episodes]
        seconds = sum(each for each in expected if each is not None) * self._measured / self._expected
        unknown = [*(["other models' episodes"] if None in expected else [])]
        if trainings and self._trainings:
            seconds += trainings * mean(self._trainings)
        elif trainings:
            unknown.append(plural(trainings, "training"))
        if not seconds:
            return ""
        return f", roughly {' and '.join([format_duration(seconds), *unknown])} left"
