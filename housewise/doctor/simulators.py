"""Check whether the simulators render, and what habitat-sim and habitat-lab lack."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from housewise.core.errors import UserError
from housewise.core.files import find_paths
from housewise.core.render_devices import ANY, GpuSetting, resolve_devices
from housewise.doctor.findings import SIMULATORS, Finding, finding_from_error, summarize_error
from housewise.doctor.packages import find_distribution, list_requirements, satisfies

if TYPE_CHECKING:
    from housewise.worlds.house.simulator import SimulatorName

GET_DRIVER = "apt-get install libegl1 libgl1-mesa-dri"
# habitat-lab asks for numpy 1.26.4 and nothing else, but works with later ones.
GET_LAB = "pip install 'housewise[habitat]' && pip install --no-deps habitat-lab"
GET_ENCODER = "pip install --force-reinstall imageio-ffmpeg"

_DRIVERS = ("/etc/glvnd/egl_vendor.d", "/usr/share/glvnd/egl_vendor.d")
_QUARTER_TURNS = (0.0, 1.6, 3.1, 4.7)


def check_raycast() -> list[Finding]:
    """Check whether the embedded simulator renders a house."""
    _look_around("raycast")
    return [Finding(SIMULATORS, "raycast", "ok", "shows a generated house")]


def check_habitat(gpu: GpuSetting = ANY) -> list[Finding]:
    """Check whether habitat-sim is installed and renders a house.

    Args:
        gpu: CUDA devices, each of which is tested.
    """
    from housewise.worlds.house.simulator.habitat import habitat_sim

    try:
        version = habitat_sim().__version__
    except UserError as error:
        return [
            finding_from_error(
                SIMULATORS, "habitat", "missing" if find_spec("habitat_sim") is None else "broken", error
            )
        ]
    devices = resolve_devices(gpu)
    for device in devices:
        try:
            _look_around("habitat", device)
        except UserError as error:
            problem = finding_from_error(SIMULATORS, "habitat", "broken", error).details
            where = "" if device == ANY else f", CUDA device {device}"
            return [Finding(SIMULATORS, "habitat", "broken", f"habitat-sim {version}{where}: {problem}", GET_DRIVER)]
    where = "" if devices == (ANY,) else f" on CUDA device {', '.join(map(str, devices))}"
    return [Finding(SIMULATORS, "habitat", "ok", f"habitat-sim {version} shows a generated house{where}")]


def check_film_encoder() -> list[Finding]:
    """Check whether the films of reports can be MP4, which can be paused."""
    try:
        import imageio_ffmpeg

        version = imageio_ffmpeg.get_ffmpeg_version()
    except (ImportError, OSError, RuntimeError) as error:
        problem = f"no encoder of MP4 ({error}): the report's films are animated pictures, which can't be paused"
        return [Finding(SIMULATORS, "films", "missing", problem, GET_ENCODER)]
    return [Finding(SIMULATORS, "films", "ok", f"MP4, with imageio-ffmpeg's ffmpeg {version}")]


def _look_around(name: SimulatorName, gpu: int = ANY) -> None:
    """Turn around in a generated house.

    Raises:
        UserError: The pictures are empty, or the simulator fails.
    """
    from housewise.worlds.house.generator import generate
    from housewise.worlds.house.preferences import load_preferences
    from housewise.worlds.house.simulator import open_simulator
    from housewise.worlds.house.simulator.base import BodyPose, Camera

    scene, episode = generate(0, load_preferences("ada"))
    x, _, z = episode.start.position
    simulator = open_simulator(name, ("depth",), Camera(32, 32), gpu)
    try:
        simulator.reset(scene, episode.receptacles, (), BodyPose(x, z))
        if not any(simulator.visible(BodyPose(x, z, yaw)) for yaw in _QUARTER_TURNS):
            raise UserError("its pictures are empty")
    finally:
        simulator.close()


def check_egl_drivers(folders: Sequence[str] = _DRIVERS) -> list[Finding]:
    """Check which EGL drivers habitat-sim can render with without a screen.

    Args:
        folders: Folders of the drivers' configuration, unless environment variables name others.
    """
    named, elsewhere = (_paths(f"__EGL_VENDOR_LIBRARY_{part}") for part in ("FILENAMES", "DIRS"))
    searched = elsewhere or [Path(folder) for folder in folders]
    files = named or [file for folder in searched for file in find_paths(folder, "*.json")]
    there = [str(file) for file in files if file.is_file()]
    if there:
        return [Finding(SIMULATORS, "EGL drivers", "ok", ", ".join(there))]
    nowhere = ", ".join(map(str, named or searched))
    return [Finding(SIMULATORS, "EGL drivers", "missing", f"none in {nowhere}; only habitat needs one", GET_DRIVER)]


def _paths(variable: str) -> list[Path]:
    return [Path(text) for text in os.environ.get(variable, "").split(":") if text]


def check_habitat_lab() -> list[Finding]:
    """Check whether habitat-lab can be imported with its requirements.

    A requirement in another version than habitat-lab asks for is named, but does not count as broken.
    """
    lab = find_distribution("habitat-lab")
    if lab is None:
        return [Finding(SIMULATORS, "habitat-lab", "missing", "not installed; nothing else needs it", GET_LAB)]
    lacking, other = [], []
    for need in list_requirements("habitat-lab"):
        found = find_distribution(need.name)
        if found is None:
            lacking.append(f"{need.name} is not installed")
        elif not satisfies(need, found):
            other.append(f"it asks for {need} and finds {found.version}")
    opencv, remedy = find_distribution("opencv-python"), GET_LAB
    if opencv is not None and int(opencv.version.split(".")[0]) >= 5:
        name = opencv.metadata["Name"]
        lacking.append(f"{name} {opencv.version} breaks it")
        remedy = f"pip install '{name}<5'"
    elif not lacking:
        try:
            import habitat  # noqa: F401
        except Exception as error:  # whatever the packages that it imports raise
            lacking.append(f"cannot be imported: {summarize_error(error)}")
            if getattr(error, "name", None) == "habitat_sim":
                from housewise.worlds.house.simulator.habitat import INSTALL

                remedy = INSTALL
    details = "; ".join([lab.version, *lacking, *other])
    return [Finding(SIMULATORS, "habitat-lab", "broken" if lacking else "ok", details, remedy if lacking else "")]
