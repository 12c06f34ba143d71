"""Opens simulators of a house by name: ``raycast`` is embedded and runs anywhere, ``habitat`` is habitat-sim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from housewise.core.plugins import SIMULATORS, load_plugin, open_plugin
from housewise.core.render_devices import ANY, GpuSetting, next_device
from housewise.worlds.house.simulator.base import SENSORS, Camera, Sensor, Simulator

SimulatorName = str
"""``raycast``, ``habitat``, or a simulator of another package's entry points (``housewise.simulators``)."""


@dataclass(frozen=True)
class SimulatorChoice:
    """A simulator and the devices on which it renders.

    Attributes:
        name: Name of the simulator.
        gpu: CUDA devices on which it may render.
    """

    name: SimulatorName = "raycast"
    gpu: GpuSetting = ANY


RAYCAST = SimulatorChoice()
"""The embedded simulator, which runs anywhere."""


class SimulatorOpener(Protocol):
    """The type of functions that open a simulator."""

    def __call__(self, sensors: Sequence[Sensor], camera: Camera | None, gpu: int) -> Simulator:
        """Open a simulator; see open_simulator. ``gpu`` is the number of one CUDA device, or -1.

        Raises:
            UserError: If the simulator is not installed or cannot render; the message says what to do.
        """
        ...


_NO_PICTURES = (
    "habitat-sim could not render: a software driver (apt-get install libegl1 libgl1-mesa-dri) is enough for gpu=-1, "
    "and other numbers are those of CUDA devices with NVIDIA's EGL driver; housewise doctor says what is there"
)


def open_simulator(
    simulator: SimulatorName | SimulatorChoice,
    sensors: Sequence[Sensor] = SENSORS,
    camera: Camera | None = None,
    gpu: GpuSetting = ANY,
) -> Simulator:
    """Open a simulator, in which any number of episodes can be played.

    Args:
        simulator: The simulator's name, or its name with its devices.
        sensors: Arrays of each observation; fewer are faster.
        camera: The robot's camera.
        gpu: CUDA devices on which ``habitat`` may render, if ``simulator`` is a name. Simulators take several devices
            in turn. -1 takes any available device, including a software renderer.

    Raises:
        UserError: If the simulator is not installed or cannot render; the message says what to do.
    """
    choice = simulator if isinstance(simulator, SimulatorChoice) else SimulatorChoice(simulator, gpu)
    needs = ("camera", "reset", "observe", "close")
    device = next_device(choice.gpu)
    opened: Simulator = open_plugin(SIMULATORS, choice.name, "simulator", sensors, camera, device, needs=needs)
    return opened


def check_simulator(name: SimulatorName) -> None:
    """Check that a simulator is installed, without opening it.

    Raises:
        UserError: If the simulator is not installed; the message says what to do.
    """
    opener = load_plugin(SIMULATORS, name, "simulator")
    if opener is open_habitat:
        from housewise.worlds.house.simulator.habitat import habitat_sim

        habitat_sim()


def open_raycast(sensors: Sequence[Sensor], camera: Camera | None, gpu: int) -> Simulator:
    """Open the embedded simulator; see SimulatorOpener."""
    from housewise.worlds.house.simulator.raycast import RaycastSimulator

    return RaycastSimulator(camera, sensors)


def open_habitat(sensors: Sequence[Sensor], camera: Camera | None, gpu: int) -> Simulator:
    """Open habitat-sim in a process of its own; see SimulatorOpener."""
    from housewise.worlds.house.simulator.habitat import HabitatSimulator, habitat_navmesh, habitat_sim
    from housewise.worlds.house.simulator.isolated import IsolatedSimulator

    habitat_sim()
    return IsolatedSimulator(partial(HabitatSimulator, camera, sensors, gpu), habitat_navmesh, _NO_PICTURES)
