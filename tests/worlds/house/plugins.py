"""Writes a package with simulators as plugins, for tests that run commands in processes."""

from pathlib import Path

_ENTRY_POINTS = """\
[housewise.simulators]
listing = other_simulators:open_listing
mortal = other_simulators:open_mortal
"""

_CODE = """\
import os, signal
from functools import partial
from pathlib import Path

from housewise.worlds.house.simulator.isolated import IsolatedSimulator
from housewise.worlds.house.simulator.raycast import RaycastSimulator

FOLDER = Path(__file__).parent


class Mortal(RaycastSimulator):
    '''Is killed once, in the middle of the second house.'''

    moves = 0

    def act(self, action):
        self.moves += 1
        if self.scene == "generated-1" and self.moves > 20 and not (FOLDER / "killed").exists():
            (FOLDER / "killed").touch()
            print("about to be killed", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act(action)

    def reset(self, scene, *others):
        self.scene = scene.name
        super().reset(scene, *others)


def open_listing(sensors, camera, gpu):
    '''Lists the devices that simulators were opened on, by process.'''
    with (FOLDER / "devices").open("a") as file:
        file.write(f"{os.getpid()} {gpu}\\n")
    return RaycastSimulator(camera, sensors)


def open_mortal(sensors, camera, gpu):
    return IsolatedSimulator(partial(Mortal, camera, sensors), lambda scene: scene.navmesh, "look at it")
"""


def install(folder: Path) -> Path:
    """Write the package as if installed by pip. PYTHONPATH has to contain the folder."""
    home = folder / "other_simulators-1.dist-info"
    home.mkdir(parents=True)
    (home / "METADATA").write_text("Metadata-Version: 2.1\nName: other-simulators\nVersion: 1\n")
    (home / "entry_points.txt").write_text(_ENTRY_POINTS)
    (folder / "other_simulators.py").write_text(_CODE)
    return folder


def devices(folder: Path) -> list[tuple[str, str]]:
    """Return the process and the device of each simulator that ``listing`` opened."""
    return [(process, gpu) for process, gpu in map(str.split, (folder / "devices").read_text().splitlines())]
