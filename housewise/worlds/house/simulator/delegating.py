"""Base classes of simulators that forward calls to another simulator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.geometry import Pose
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.simulator.base import BodyPose, Camera, LowLevelAction, Observation, Simulator


class ForwardingSimulator:
    """Implements methods of housewise.worlds.house.simulator.base.Simulator by ``_call``."""

    def act(self, action: LowLevelAction) -> bool:
        """See Simulator.act."""
        return bool(self._call("act", action))

    def stand(self, body: BodyPose) -> None:
        """See Simulator.stand."""
        self._call("stand", body)

    def observe(self, body: BodyPose | None = None) -> Observation:
        """See Simulator.observe."""
        observation: Observation = self._call("observe", body)
        return observation

    def visible(self, body: BodyPose | None = None) -> frozenset[str]:
        """See Simulator.visible."""
        return frozenset(self._call("visible", body))

    def aimed_at(self, reach: float) -> str | None:
        """See Simulator.aimed_at."""
        key: str | None = self._call("aimed_at", reach)
        return key

    def move_object(self, key: str, pose: Pose | None) -> None:
        """See Simulator.move_object."""
        self._call("move_object", key, pose)

    def _call(self, method: str, *arguments: Any) -> Any:
        """Call a method of the other simulator."""
        raise NotImplementedError


class DelegatingSimulator(ForwardingSimulator):
    """Forwards all calls to another simulator; subclasses override some of them.

    Args:
        simulator: The wrapped simulator.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self.camera: Camera = simulator.camera

    @property
    def navmesh(self) -> NavMesh:
        """See Simulator.navmesh."""
        return self._simulator.navmesh

    @property
    def body(self) -> BodyPose:
        """See Simulator.body."""
        return self._simulator.body

    @property
    def keys(self) -> tuple[str, ...]:
        """See Simulator.keys."""
        return self._simulator.keys

    @property
    def kinds(self) -> tuple[str, ...]:
        """See Simulator.kinds."""
        return self._simulator.kinds

    def reset(self, scene: Scene, receptacles: Sequence[str], objects: Sequence[HouseObject], body: BodyPose) -> None:
        """See Simulator.reset."""
        self._simulator.reset(scene, receptacles, objects, body)

    def close(self) -> None:
        """See Simulator.close."""
        self._simulator.close()

    def _call(self, method: str, *arguments: Any) -> Any:
        return getattr(self._simulator, method)(*arguments)
