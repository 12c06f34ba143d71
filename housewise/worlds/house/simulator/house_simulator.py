"""What all simulators have in common: a body on a navigation mesh, and numbers for the things that it sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.geometry import forward_of
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.scene import Receptacle, Scene
from housewise.worlds.house.simulator.base import LOOK_LIMIT, SENSORS, STEP, TURN, Action, BodyPose, Camera, Sensor
from housewise.worlds.house.spoken_names import spoken

_BUMP = 1e-3


class CurrentHouse:
    """What a simulator says of the house that it is set up with; see worlds.house.simulator.base.Simulator."""

    _navmesh: NavMesh
    _body: BodyPose
    _keys: tuple[str, ...] = ("",)
    _kinds: tuple[str, ...] = ("",)

    @property
    def navmesh(self) -> NavMesh:
        return self._navmesh

    @property
    def body(self) -> BodyPose:
        return self._body

    @property
    def keys(self) -> tuple[str, ...]:
        return self._keys

    @property
    def kinds(self) -> tuple[str, ...]:
        return self._kinds


class HouseSimulator(CurrentHouse):
    """The part of housewise.worlds.house.simulator.base.Simulator that does not depend on how pictures are made.

    Args:
        camera: the robot's.
        sensors: which arrays an observation carries; fewer are faster.
    """

    def __init__(self, camera: Camera | None = None, sensors: Sequence[Sensor] = SENSORS) -> None:
        self.camera = camera or Camera()
        self.sensors = frozenset(sensors)
        self._number: dict[str, int] = {}
        self._kind_of = np.zeros(1, dtype=np.int32)

    def act(self, action: Action) -> bool:
        """See Simulator.act."""
        body = self._body
        if action == Action.MOVE_FORWARD:
            goal = body.point + STEP * forward_of(body.yaw)[[0, 2]]
            self._body = body.at(self._navmesh.move(body.point, goal))
            return bool(np.linalg.norm(self._body.point - goal) > _BUMP)
        if action in (Action.TURN_LEFT, Action.TURN_RIGHT):
            self._body = replace(body, yaw=body.yaw + (TURN if action == Action.TURN_LEFT else -TURN))
        elif action in (Action.LOOK_UP, Action.LOOK_DOWN):
            pitch = body.pitch + (TURN if action == Action.LOOK_UP else -TURN)
            self._body = replace(body, pitch=float(np.clip(pitch, -LOOK_LIMIT, LOOK_LIMIT)))
        return False

    def stand(self, body: BodyPose) -> None:
        """See Simulator.stand."""
        self._body = body

    def things(self, instance: NDArray[Any]) -> frozenset[str]:
        """Keys of the things in an instance image."""
        present = np.bincount(instance.ravel(), minlength=1)
        return frozenset(self._keys[number] for number in np.flatnonzero(present) if number)

    def _furnish(self, scene: Scene, receptacles: Sequence[str], objects: Sequence[HouseObject]) -> list[Receptacle]:
        """Number what is in the house: the furniture in the order given, doors, objects.

        Returns:
            The furniture that is there, doors last.
        """
        present = set(receptacles)
        furniture = [thing for thing in scene.receptacles if thing.key in present or thing.kind == "door"]
        order = {key: number for number, key in enumerate(receptacles)}
        furniture.sort(key=lambda thing: order.get(thing.key, len(order)))
        self._keys = ("", *(thing.key for thing in furniture), *(thing.key for thing in objects))
        self._number = {key: number for number, key in enumerate(self._keys)}
        kinds = ["", *(thing.kind for thing in furniture), *(spoken(thing.category) for thing in objects)]
        self._kinds = ("", *sorted(set(kinds[1:])))
        self._kind_of = np.array([self._kinds.index(kind) for kind in kinds], dtype=np.int32)
        return furniture
