"""Episodes as exports take them: what was said and done, and what was seen where an episode can be played again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from housewise.core.errors import make_printable
from housewise.core.plugins import EXPORTS, open_plugin, plugin_names
from housewise.core.record import Record, UnknownEvent
from housewise.rollout.scores import result_metrics
from housewise.worlds.house.geometry import Box, Pose
from housewise.worlds.house.simulator import SimulatorChoice

_LONGEST = 4000


@dataclass(frozen=True)
class Said:
    """A line of an episode's log.

    Attributes:
        kind: type of the event.
        text: in words; nothing in it is markup.
        step, plan: how many low-level steps had been made, and the plan's number; None where there is no such thing.
    """

    kind: str
    text: str
    step: int | None = None
    plan: int | None = None


@dataclass(frozen=True, eq=False)
class Frame:
    """The state before a low-level step.

    Attributes:
        plan: number of the plan that is carried out; -1 before the first.
        picture: what the robot sees, (height, width, 3).
        state: figures of the robot, as ``Playback.state`` names them.
        feet, eye: where the robot stands, and its camera.
        things: boxes of what can be moved, by name.
        action: number of the action that is taken, as ``Playback.actions`` names them; None at the end.
        reward: of that action.
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
    """An episode that was played again to be seen.

    Attributes:
        job: what the robot was to do, in words.
        robot: its kind.
        state, actions: names of what frames hold.
        field_of_view: of the camera, horizontal, radians.
        furniture: boxes of what stays where it is, by name.
        frames: one before each low-level step, and the last one.
        log: what was said and done.
        differences: what came out otherwise than the record says.
    """

    job: str
    robot: str
    state: Sequence[str]
    actions: Sequence[str]
    field_of_view: float
    furniture: Mapping[str, Box]
    frames: Sequence[Frame]
    log: Sequence[Said]
    differences: Sequence[str] = ()

    @property
    def steps(self) -> Sequence[Frame]:
        """The frames in which something is done."""
        return [frame for frame in self.frames if frame.action is not None]


class Player(Protocol):
    """Plays records of a system again; its class is named in entry points (``housewise.exports``) by the system's name.

    It is called with the simulator that episodes are played in, as ``open_simulator`` takes it.
    """

    def play(self, record: Record, path: Path) -> Playback:
        """An episode again.

        Raises:
            UserError: when it cannot be played here.
        """
        ...


def player_of(system: str, simulator: SimulatorChoice) -> Player | None:
    """What plays a system's records again; None where its episodes cannot be seen.

    Raises:
        UserError: when another package's player fails to import.
    """
    if system not in plugin_names(EXPORTS):
        return None
    made: Player = open_plugin(EXPORTS, system, "export", simulator, needs=("play",))
    return made


def events_of(record: Record) -> list[Said]:
    """The log of any system's record: its events as they are."""
    log = []
    for event in record.events:
        if isinstance(event, UnknownEvent):
            kind, data = event.kind, event.data
        else:
            kind, data = event.type, event.model_dump(mode="json")
        log.append(Said(kind, plain("\n".join(f"{name}: {_words(value)}" for name, value in data.items()))))
    return log


def scores_in(record: Record) -> dict[str, float]:
    """All figures of an episode by name."""
    return {name: float(value) for name, value in result_metrics(record.result).items()}


def plain(text: str) -> str:
    """Words of a model or a person: nothing unseen in them, and cut where they are very long."""
    text = make_printable(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
