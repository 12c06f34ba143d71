"""Simulators of a house, behind one interface: ``raycast`` runs anywhere, ``habitat`` is habitat-sim."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

from housewise.worlds.house.simulator.base import SENSORS, Camera, Sensor, Simulator

SimulatorName = Literal["raycast", "habitat"]

_NO_PICTURES = (
    "habitat-sim could not render: a software driver (apt-get install libegl1 libgl1-mesa-dri) is enough for gpu=-1, "
    "and other numbers are those of CUDA devices with NVIDIA's EGL driver; housewise doctor says what is there"
)


def open_simulator(
    name: SimulatorName, sensors: Sequence[Sensor] = SENSORS, camera: Camera | None = None, gpu: int = -1
) -> Simulator:
    """A simulator to play in, for one episode after the other.

    Args:
        name: which.
        sensors: arrays that an observation carries; fewer are faster.
        camera: the robot's.
        gpu: number of the CUDA device that renders, for ``habitat``; -1 takes whatever there is, software as well.

    Raises:
        UserError: when it is not installed, or cannot make pictures here; the message says what to do.
    """
    if name == "raycast":
        from housewise.worlds.house.simulator.raycast import RaycastSimulator

        return RaycastSimulator(camera, sensors)
    from housewise.worlds.house.simulator.habitat import HabitatSimulator, habitat_navmesh, habitat_sim
    from housewise.worlds.house.simulator.isolated import IsolatedSimulator

    habitat_sim()
    return IsolatedSimulator(partial(HabitatSimulator, camera, sensors, gpu), habitat_navmesh, _NO_PICTURES)
