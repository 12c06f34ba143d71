"""Base classes of simulators: a robot body on a navigation mesh, and instance numbers of receptacles and objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.geometry import forward_vector
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.scene import Receptacle, Scene
from housewise.worlds.house.simulator.base import (
    LOOK_LIMIT,
    SENSORS,
    STEP,
    TURN,
    BodyPose,
    Camera,
    LowLevelAction,
    Sensor,
)
from housewise.worlds.house.spoken_names import spoken_name

_BUMP = 1e-3


class SimulatorState:
    """The attributes of worlds.house.simulator.base.Simulator for the current house."""

    navmesh: NavMesh
    body: BodyPose
    keys: tuple[str, ...] = ("",)
    kinds: tuple[str, ...] = ("",)


class HouseSimulator(SimulatorState):
    """The part of housewise.worlds.house.simulator.base.Simulator that does not depend on rendering.

    Args:
        camera: The robot's camera.
        sensors: Arrays of each observation; fewer are faster.
    """

    def __init__(self, camera: Camera | None = None, sensors: Sequence[Sensor] = SENSORS) -> None:
        self.camera = camera or Camera()
        self.sensors = frozenset(sensors)
        self._number: dict[str, int] = {}
        self._kind_of = np.zeros(1, dtype=np.int32)

    def act(self, action: LowLevelAction) -> bool:
        """See Simulator.act."""
        body = self.body
        if action == LowLevelAction.MOVE_FORWARD:
            goal = body.point + STEP * forward_vector(body.yaw)[[0, 2]]
            self.body = body.moved_to(self.navmesh.move(body.point, goal))
            return bool(np.linalg.norm(self.body.point - goal) > _BUMP)
        if action in (LowLevelAction.TURN_LEFT, LowLevelAction.TURN_RIGHT):
            self.body = replace(body, yaw=body.yaw + (TURN if action == LowLevelAction.TURN_LEFT else -TURN))
        elif action in (LowLevelAction.LOOK_UP, LowLevelAction.LOOK_DOWN):
            pitch = body.pitch + (TURN if action == LowLevelAction.LOOK_UP else -TURN)
            self.body = replace(body, pitch=float(np.clip(pitch, -LOOK_LIMIT, LOOK_LIMIT)))
        return False

    def stand(self, body: BodyPose) -> None:
        """See Simulator.stand."""
        self.body = body

    def visible_in(self, instance: NDArray[Any]) -> frozenset[str]:
        """Return the keys of the receptacles and objects in an instance image."""
        present = np.bincount(instance.ravel(), minlength=1)
        return frozenset(self.keys[number] for number in np.flatnonzero(present) if number)

    def _number_contents(
        self, scene: Scene, receptacles: Sequence[str], objects: Sequence[HouseObject]
    ) -> list[Receptacle]:
        """Assign instance numbers to the receptacles (in the given order), the doors and the objects.

        Returns:
            The receptacles of the episode and the doors, in the order of their numbers.
        """
        present = set(receptacles)
        furniture = [thing for thing in scene.receptacles if thing.key in present or thing.kind == "door"]
        order = {key: number for number, key in enumerate(receptacles)}
        furniture.sort(key=lambda thing: order.get(thing.key, len(order)))
        self.keys = ("", *(thing.key for thing in furniture), *(thing.key for thing in objects))
        self._number = {key: number for number, key in enumerate(self.keys)}
        kinds = ["", *(thing.kind for thing in furniture), *(spoken_name(thing.category) for thing in objects)]
        self.kinds = ("", *sorted(set(kinds[1:])))
        self._kind_of = np.array([self.kinds.index(kind) for kind in kinds], dtype=np.int32)
        return furniture
