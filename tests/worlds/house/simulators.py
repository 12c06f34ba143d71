"""A simulator with temporary files, for programs that tests start."""

from pathlib import Path
from tempfile import TemporaryDirectory

from housewise.worlds.house.scene import Scene
from housewise.worlds.house.simulator.raycast import RaycastSimulator


class TemporaryFilesSimulator(RaycastSimulator):
    """Keeps temporary files of scenes while it is open, as habitat-sim does."""

    def __init__(self) -> None:
        super().__init__()
        self._files = TemporaryDirectory()
        (Path(self._files.name) / "scene.glb").touch()


def mesh(scene: Scene) -> object:
    """Return the navigation mesh of a scene."""
    return scene.navmesh
