"""A base class of simulators that wrap another simulator."""

from __future__ import annotations

from collections.abc import Sequence

from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.geometry import Pose
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.simulator.base import BodyPose, Camera, LowLevelAction, Observation, Simulator


class DelegatingSimulator:
    """Forwards all calls to another simulator; subclasses override some of them.

    Args:
        simulator: The wrapped simulator.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self.camera: Camera = simulator.camera

    @property
    def navmesh(self) -> NavMesh:
        return self._simulator.navmesh

    @property
    def body(self) -> BodyPose:
        return self._simulator.body

    @property
    def keys(self) -> tuple[str, ...]:
        return self._simulator.keys

    @property
    def kinds(self) -> tuple[str, ...]:
        return self._simulator.kinds

    def reset(self, scene: Scene, receptacles: Sequence[str], objects: Sequence[HouseObject], body: BodyPose) -> None:
        """See Simulator.reset."""
        self._simulator.reset(scene, receptacles, objects, body)

    def act(self, action: LowLevelAction) -> bool:
        """See Simulator.act."""
        return self._simulator.act(action)

    def stand(self, body: BodyPose) -> None:
        """See Simulator.stand."""
        self._simulator.stand(body)

    def observe(self, body: BodyPose | None = None) -> Observation:
        """See Simulator.observe."""
        return self._simulator.observe(body)

    def visible(self, body: BodyPose | None = None) -> frozenset[str]:
        """See Simulator.visible."""
        return self._simulator.visible(body)

    def aimed_at(self, reach: float) -> str | None:
        """See Simulator.aimed_at."""
        return self._simulator.aimed_at(reach)

    def move_object(self, key: str, pose: Pose | None) -> None:
        """See Simulator.move_object."""
        self._simulator.move_object(key, pose)

    def close(self) -> None:
        """See Simulator.close."""
        self._simulator.close()
