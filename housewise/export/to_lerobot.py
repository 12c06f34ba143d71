"""Exports a run to a LeRobotDataset (Parquet and MP4) with the lerobot library, https://github.com/huggingface/lerobot."""

from __future__ import annotations

import importlib.util
import logging
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from housewise.core.errors import UserError
from housewise.export.episode_playback import EpisodePlayer, Playback
from housewise.export.manifest import MANIFEST, ExportedEpisode, Manifest
from housewise.export.writer import ExportWriter

INSTALL = "pip install 'housewise[lerobot]'"
FPS = 10
"""Nominal frame rate. Steps of the simulator have no duration, but the format requires one."""
NAME = "housewise/run"
"""Repository id of the data set. It belongs to no account of a hub."""
CAMERA = "observation.images.front"

_QUIET = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "SVT_LOG": "1"}


class LeRobotWriter(ExportWriter):
    """Writes all episodes to one LeRobotDataset; see `ExportWriter`."""

    notes: Mapping[str, str] = MappingProxyType(
        {"fps": "nominal: steps of the simulator have no duration", "action": "one-hot, named by names"}
    )
    manifest = Path("meta") / MANIFEST

    def check(self, player: EpisodePlayer | None, system: str) -> None:
        """See `ExportWriter.check`."""
        if player is None:
            raise UserError(f"episodes of {system} have no pictures, as a LeRobotDataset needs; give --to rerun")
        # lerobot is also installed without av and datasets, for policies alone.
        if missing := [name for name in ("lerobot", "av", "datasets") if importlib.util.find_spec(name) is None]:
            raise UserError(
                f"{missing[0]} is not installed; run {INSTALL}, in an environment of its own (docs/records.md)"
            )

    def write(self, episodes: Iterator[ExportedEpisode], folder: Path, manifest: Manifest) -> None:
        """See `ExportWriter.write`."""
        dataset: Any = None
        with _offline_and_quiet():
            try:
                for episode in episodes:
                    playback = episode.playback
                    assert playback is not None
                    if not playback.steps:
                        manifest.leave_out(episode.record.name, "the robot took no step")
                        continue
                    dataset = dataset or _new(playback, folder)
                    _add(dataset, playback)
                    manifest.add(episode, episode_index=manifest.episodes)
            finally:
                # Without this, the data set writes its buffers when it is garbage-collected, even if its folder is
                # gone.
                if dataset is not None:
                    dataset.finalize()
        if not manifest.episodes:
            raise UserError("the robot took no step in any episode; there is nothing to export")


def _new(playback: Playback, folder: Path) -> Any:
    try:
        from lerobot.datasets.lerobot_dataset import LeRobotDataset
    except ImportError as error:
        raise UserError(f"lerobot cannot be imported ({error}); run {INSTALL}") from error
    height, width, channels = playback.frames[0].picture.shape
    return LeRobotDataset.create(
        NAME,
        fps=FPS,
        root=folder,
        robot_type=playback.robot,
        features={
            CAMERA: {"dtype": "video", "shape": (height, width, channels), "names": ["height", "width", "channels"]},
            "observation.state": _vector(playback.state),
            "action": _vector(playback.actions),
            "next.reward": {"dtype": "float32", "shape": (1,), "names": None},
            "next.done": {"dtype": "bool", "shape": (1,), "names": None},
        },
    )


def _vector(names: Any) -> dict[str, Any]:
    return {"dtype": "float32", "shape": (len(names),), "names": list(names)}


def _add(dataset: Any, playback: Playback) -> None:
    """Add an episode: the observation before each step, the action and the reward."""
    steps = playback.steps
    for number, frame in enumerate(steps, start=1):
        dataset.add_frame(
            {
                CAMERA: frame.picture,
                "observation.state": np.array(frame.state, dtype=np.float32),
                # One-hot.
                "action": np.array([each == frame.action for each in range(len(playback.actions))], dtype=np.float32),
                "next.reward": np.array([frame.reward], dtype=np.float32),
                "next.done": np.array([number == len(steps)]),
                "task": playback.job,
            }
        )
    dataset.save_episode()


@contextmanager
def _offline_and_quiet() -> Iterator[None]:
    """Keep lerobot and its dependencies offline and quiet while the data set is written."""
    import av

    before = {name: os.environ.get(name) for name in _QUIET}
    os.environ.update(_QUIET)
    logger, level = logging.getLogger(), logging.getLogger().level
    logger.setLevel(logging.ERROR)
    bars = _bars(False)
    # The encoders' libraries do not print through Python's logging.
    av.logging.set_libav_level(av.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        _bars(bars)
        av.logging.set_libav_level(av.logging.INFO)
        logger.setLevel(level)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _bars(wanted: bool) -> bool:
    """Switch the progress bars of datasets on or off. Return whether they were on."""
    from datasets import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    shown = not are_progress_bars_disabled()
    (enable_progress_bars if wanted else disable_progress_bars)()
    return shown
