"""Episodes as exports take them: the log of events, and the frames of episodes that can be replayed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from housewise.core.plugins import EXPORTS, open_plugin, plugin_names
from housewise.core.printable_text import make_printable
from housewise.core.record import Record
from housewise.rollout.record_reader import event_data
from housewise.worlds.house.geometry import Box, Pose
from housewise.worlds.house.simulator import SimulatorChoice

_LONGEST = 4000


@dataclass(frozen=True)
class LogLine:
    """A line of an episode's log.

    Attributes:
        kind: Type of the event.
        text: Printable text without markup.
        step: Number of low-level steps before the event, or None.
        plan: Number of the plan, or None.
    """

    kind: str
    text: str
    step: int | None = None
    plan: int | None = None


@dataclass(frozen=True, eq=False)
class PlaybackFrame:
    """The state before a low-level step.

    Attributes:
        plan: Number of the plan that the step belongs to; in the last frame, of the plan before, or -1 without any.
        picture: Camera image, shape (height, width, 3).
        state: State of the robot, in the order of `Playback.state`.
        feet: Pose of the robot's base.
        eye: Pose of the camera.
        things: Bounding boxes of the movable objects, by name.
        action: Index of the action in `Playback.actions`, or None in the last frame.
        reward: Reward of the action.
    """

    plan: int
    picture: NDArray[np.uint8]
    state: Sequence[float]
    feet: Pose
    eye: Pose
    things: Mapping[str, Box]
    action: int | None
    reward: float


@dataclass(frozen=True, eq=False)
class Playback:
    """A replayed episode.

    Attributes:
        job: Instruction of the robot.
        robot: Type of the robot.
        state: Names of the entries of `PlaybackFrame.state`.
        actions: Names of the actions.
        field_of_view: Horizontal field of view of the camera, in radians.
        furniture: Bounding boxes of the fixed objects, by name.
        frames: One frame before each low-level step, and the last one.
        log: Log of the events.
        differences: How the replay differs from the record.
    """

    job: str
    robot: str
    state: Sequence[str]
    actions: Sequence[str]
    field_of_view: float
    furniture: Mapping[str, Box]
    frames: Sequence[PlaybackFrame]
    log: Sequence[LogLine]
    differences: Sequence[str] = ()

    @property
    def steps(self) -> Sequence[PlaybackFrame]:
        """Frames with an action."""
        return [frame for frame in self.frames if frame.action is not None]


class EpisodePlayer(Protocol):
    """Replays records of a system. Its class is named in the entry points `housewise.exports`, under the system's name.

    The class is called with the simulator that renders the episodes, as `open_simulator` takes it.
    """

    def play(self, record: Record, path: Path) -> Playback:
        """Replay an episode.

        Raises:
            UserError: The episode cannot be replayed on this machine.
        """


def find_player(system: str, simulator: SimulatorChoice) -> EpisodePlayer | None:
    """Return the player of a system's records, or None if the system has none.

    Raises:
        UserError: The player of another package cannot be imported.
    """
    if system not in plugin_names(EXPORTS):
        return None
    made: EpisodePlayer = open_plugin(EXPORTS, system, "export", simulator, needs=("play",))
    return made


def event_log(record: Record) -> list[LogLine]:
    """Return the log of a record of any system, one line per event."""
    return [
        LogLine(kind, clean_text("\n".join(f"{name}: {_words(value)}" for name, value in data.items())))
        for kind, data in map(event_data, record.events)
    ]


def clean_text(text: str) -> str:
    """Return a text without control characters, truncated if it is very long."""
    text = make_printable(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
