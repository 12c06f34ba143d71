"""Estimate the remaining time of a self-training from its phases."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import mean

from housewise.core.formatting import format_duration, plural
from housewise.selftrain.personalize.planned_phases import PlannedPhase

_PRIOR_SECONDS = 60.0
"""Weight of the expected speed against the measured one: the first episodes are slowed down by loading models."""


class PhaseTimer:
    """Measures the phases of a self-training and estimates how long the remaining ones take.

    The expected duration of episodes is corrected by the measured one. A training is expected to take as long as those
    before it, and the making of lessons no time.

    Args:
        phases: All phases in order, or an empty list if they are unknown. Nothing is estimated then.
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
        """One line about the number of phases and episodes, and the expected duration."""
        episodes = sum(phase.episodes for phase in self._phases)
        return f"{len(self._phases)} phases with {episodes} episodes{self.time_left}"

    def begin(self, name: str) -> str:
        """Start the next phase of a name.

        Returns:
            Its number and the number of phases, for a heading, or an empty text if the phase is unknown.
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
        """End the current phase.

        Args:
            played: Number of episodes that were played in it, without those of an earlier process.
        """
        phase, seconds = self._current, time.monotonic() - self._began
        if phase is None:
            return
        self._next += 1
        if phase.is_training:
            self._trainings.append(seconds)
        elif played and phase.seconds:
            self._measured += seconds
            self._expected += phase.seconds * played / phase.episodes

    @property
    def time_left(self) -> str:
        """Estimated duration of the remaining phases, as the end of a line, or an empty text if it is unknown."""
        ahead = self._phases[self._next :]
        trainings = sum(phase.is_training for phase in ahead)
        expected = [phase.seconds for phase in ahead if phase.episodes]
        seconds = sum(each for each in expected if each is not None) * self._measured / self._expected
        unknown = ["other models' episodes"] if None in expected else []
        if trainings and self._trainings:
            seconds += trainings * mean(self._trainings)
        elif trainings:
            unknown.append(plural(trainings, "training"))
        if not seconds:
            return ""
        return f", roughly {' and '.join([format_duration(seconds), *unknown])} left"
