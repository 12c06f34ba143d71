"""Simulators of a house, behind one interface: ``raycast`` runs anywhere, ``habitat`` is habitat-sim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from housewise.core.plugins import SIMULATORS, load_plugin, open_plugin
from housewise.core.render_devices import ANY, GpuSetting, next_device
from housewise.worlds.house.simulator.base import SENSORS, Camera, Sensor, Simulator

SimulatorName = str
"""``raycast``, ``habitat``, or one that another package names in its entry points (``housewise.simulators``)."""


@dataclass(frozen=True)
class SimulatorChoice:
    """Which simulator to open, and where it renders.

    Attributes:
        name: of the simulator.
        gpu: CUDA devices that it may render on.
    """

    name: SimulatorName = "raycast"
    gpu: GpuSetting = ANY


RAYCAST = SimulatorChoice()
"""The one that runs anywhere."""


class SimulatorOpener(Protocol):
    """Makes a simulator."""

    def __call__(self, sensors: Sequence[Sensor], camera: Camera | None, gpu: int) -> Simulator:
        """See open_simulator; ``gpu`` is the number of one CUDA device, or -1.

        Raises:
            UserError: when it is not installed, or cannot make pictures here; the message says what to do.
        """
        ...


_NO_PICTURES = (
    "habitat-sim could not render: a software driver (apt-get install libegl1 libgl1-mesa-dri) is enough for gpu=-1, "
    "and other numbers are those of CUDA devices with NVIDIA's EGL driver; housewise doctor says what is there"
)


def open_simulator(
    chosen: SimulatorName | SimulatorChoice,
    sensors: Sequence[Sensor] = SENSORS,
    camera: Camera | None = None,
    gpu: GpuSetting = ANY,
) -> Simulator:
    """A simulator to play in, for one episode after the other.

    Args:
        chosen: which, by name; or which, and where it renders.
        sensors: arrays that an observation carries; fewer are faster.
        camera: the robot's.
        gpu: CUDA devices that ``habitat`` may render on, where a name is given; simulators take several in turn. -1
            takes whatever there is, software as well.

    Raises:
        UserError: when it is not installed, or cannot make pictures here; the message says what to do.
    """
    choice = chosen if isinstance(chosen, SimulatorChoice) else SimulatorChoice(chosen, gpu)
    needs = ("camera", "reset", "observe", "close")
    device = next_device(choice.gpu)
    made: Simulator = open_plugin(SIMULATORS, choice.name, "simulator", sensors, camera, device, needs=needs)
    return made


def check_simulator(name: SimulatorName) -> None:
    """See that a simulator is installed; nothing is opened.

    Raises:
        UserError: It is not; the message says what to do.
    """
    opener = load_plugin(SIMULATORS, name, "simulator")
    if opener is open_habitat:
        from housewise.worlds.house.simulator.habitat import habitat_sim

        habitat_sim()


def open_raycast(sensors: Sequence[Sensor], camera: Camera | None, gpu: int) -> Simulator:
    """See SimulatorOpener: embedded, runs anywhere."""
    from housewise.worlds.house.simulator.raycast import RaycastSimulator

    return RaycastSimulator(camera, sensors)


def open_habitat(sensors: Sequence[Sensor], camera: Camera | None, gpu: int) -> Simulator:
    """See SimulatorOpener: habitat-sim, in a process of its own."""
    from housewise.worlds.house.simulator.habitat import HabitatSimulator, habitat_navmesh, habitat_sim
    from housewise.worlds.house.simulator.isolated import IsolatedSimulator

    habitat_sim()
    return IsolatedSimulator(partial(HabitatSimulator, camera, sensors, gpu), habitat_navmesh, _NO_PICTURES)
