"""Exports a run to recordings for the Rerun viewer (https://rerun.io), one file per episode."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from housewise.core.errors import UserError
from housewise.core.printable_text import make_printable
from housewise.core.record import Record
from housewise.export.episode_playback import EpisodePlayer, LogLine, Playback, PlaybackFrame, event_log
from housewise.export.manifest import ExportedEpisode, Manifest
from housewise.export.writer import ExportWriter
from housewise.rollout.scores import result_metrics
from housewise.worlds.house.geometry import Box

INSTALL = "pip install 'housewise[rerun]'"
_ROBOT = 0.2
_PROPERTIES = ("run", "record", "system", "task", "agent", "person", "started", "end_reason", "seed")


class RerunWriter(ExportWriter):
    """Writes one recording per episode; see `ExportWriter`."""

    def check(self, player: EpisodePlayer | None, system: str) -> None:
        """See `ExportWriter.check`."""
        if importlib.util.find_spec("rerun") is None:
            raise UserError(f"rerun is not installed; run {INSTALL}")

    def write(self, episodes: Iterator[ExportedEpisode], folder: Path, manifest: Manifest) -> None:
        """See `ExportWriter.write`."""
        folder.mkdir()
        for episode in episodes:
            path = folder / f"{episode.name}.rrd"
            with _Recording(episode, path) as recording:
                playback = episode.playback
                if playback is not None:
                    recording.log_scene(playback)
                    recording.log_steps(playback)
                recording.log_events(event_log(episode.record) if playback is None else playback.log)
                recording.log_scores(episode.record)
            manifest.add(episode, file=path.name, recording_id=recording.id)


class _Recording:
    """The recording of one episode."""

    def __init__(self, episode: ExportedEpisode, path: Path) -> None:
        import rerun

        self._rr: Any = rerun
        # Viewers and catalogs merge recordings of equal id.
        self.id = f"{episode.name}-{episode.id}"
        self._stream: Any = rerun.RecordingStream("housewise", recording_id=self.id)
        self._stream.save(path, default_blueprint=_blueprint(episode.playback is not None))
        self._last = 0
        self._describe(episode)

    def __enter__(self) -> _Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.flush()
        self._stream.disconnect()

    def _describe(self, episode: ExportedEpisode) -> None:
        """Set the name and the properties of the recording, which viewers list and catalogs search."""
        self._stream.send_recording_name(make_printable(f"{episode.run}: {episode.name}"))
        facts = {name: make_printable(str(episode.facts[name])) for name in _PROPERTIES}
        self._stream.send_property("housewise", self._rr.AnyValues(**facts))

    def log_scene(self, playback: Playback) -> None:
        """Log what does not change: coordinates, furniture, camera intrinsics and the robot's path."""
        rr, height, width = self._rr, *playback.frames[0].picture.shape[:2]
        self._log_static("world", rr.ViewCoordinates.RIGHT_HAND_Y_UP)
        self._log_static("world/furniture", self._boxes(playback.furniture))
        self._log_static("world/way", rr.LineStrips3D([[frame.feet.position for frame in playback.frames]]))
        self._log_static("world/robot", rr.Points3D([[0.0, 0.0, 0.0]], radii=_ROBOT))
        lens = float(width / 2 / np.tan(playback.field_of_view / 2))
        axes = rr.ViewCoordinates.RUB
        self._log_static("world/camera", rr.Pinhole(focal_length=lens, width=width, height=height, camera_xyz=axes))

    def log_steps(self, playback: Playback) -> None:
        """Log what changes from step to step."""
        rr, things, earned = self._rr, None, 0.0
        for step, frame in enumerate(playback.frames):
            self._set_time(step, frame.plan)
            self._pose("world/robot", frame.feet)
            self._pose("world/camera", frame.eye)
            self._log("world/camera/image", rr.EncodedImage(contents=_png(frame), media_type="image/png"))
            if frame.things != things:
                things = frame.things
                self._log("world/things", self._boxes(things))
            for name, value in zip(playback.state, frame.state, strict=True):
                self._log(f"state/{name}", rr.Scalars([value]))
            if frame.action is not None:
                earned += frame.reward
                self._log("reward/step", rr.Scalars([frame.reward]))
                self._log("reward/total", rr.Scalars([earned]))
                self._log("action", rr.TextLog(playback.actions[frame.action]))

    def log_events(self, log: Any) -> None:
        """Log the events as text."""
        said: LogLine
        for number, said in enumerate(log):
            self._stream.reset_time()
            self._stream.set_time("event", sequence=number)
            if said.step is not None and said.plan is not None:
                self._set_time(said.step, said.plan)
            # A list is a path whose parts need no escaping.
            self._log(["events", make_printable(said.kind)], self._rr.TextLog(said.text))
        self._last = max(len(log) - 1, 0)

    def log_scores(self, record: Record) -> None:
        """Log the scores of the episode at its end."""
        self._stream.set_time("event", sequence=self._last)
        for name, value in result_metrics(record.result).items():
            self._log(["scores", make_printable(name)], self._rr.Scalars([value]))
        self._log("events/end_reason", self._rr.TextLog(make_printable(record.result.end_reason)))

    def _set_time(self, step: int, plan: int) -> None:
        self._stream.set_time("step", sequence=step)
        self._stream.set_time("plan", sequence=plan)

    def _pose(self, path: str, pose: Any) -> None:
        turned = self._rr.Quaternion(xyzw=pose.rotation)
        self._log(path, self._rr.Transform3D(translation=pose.position, quaternion=turned))

    def _boxes(self, boxes: Mapping[str, Box]) -> Any:
        halves = [[edge / 2 for edge in box.size] for box in boxes.values()]
        labels = [make_printable(name) for name in boxes]
        return self._rr.Boxes3D(centers=[box.centre for box in boxes.values()], half_sizes=halves, labels=labels)

    def _log_static(self, path: str, what: Any) -> None:
        self._stream.log(path, what, static=True)

    def _log(self, path: Any, what: Any) -> None:
        self._stream.log(path, what)


def _blueprint(seen: bool) -> Any:
    """Return the layout of the viewer: events and scores, and the views of a replayed episode."""
    import rerun.blueprint as rrb

    log, scores = rrb.TextLogView(origin="events", name="plans and events"), rrb.TimeSeriesView(origin="scores")
    if not seen:
        return rrb.Blueprint(rrb.Vertical(log, scores))
    return rrb.Blueprint(
        rrb.Horizontal(
            rrb.Vertical(
                rrb.Spatial2DView(origin="world/camera", name="camera"), rrb.Spatial3DView(origin="world", name="house")
            ),
            rrb.Vertical(
                log,
                rrb.TimeSeriesView(origin="reward"),
                rrb.Tabs(scores, rrb.TimeSeriesView(origin="state"), rrb.TextLogView(origin="action", name="steps")),
            ),
        )
    )


def _png(frame: PlaybackFrame) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(frame.picture).save(stream, "PNG")
    return stream.getvalue()
