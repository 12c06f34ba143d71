"""The film of an episode: the robot's camera image beside the map."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image, ImageDraw, ImageFont, features

from housewise.playback.bounding_boxes import BoundingBox
from housewise.playback.floor_plan import PICTURE_SCALE, FloorPlan, fill_mask
from housewise.playback.object_outcomes import ObjectOutcome
from housewise.playback.replay import Replay, ReplayState
from housewise.playback.simulators import CameraImage
from housewise.report.drawing.control_characters import neutralize_text
from housewise.report.drawing.house_map import path_color
from housewise.report.drawing.images import compress
from housewise.report.drawing.label_layout import LabelLayout

FRAMES = 150

_VIEW = (512, 384)
_WIDEST_MAP = 520
_GAP = 8
_BAR = 48
_LABEL = 15
_STEP_MS, _GRAB_MS, _END_MS = 150, 700, 2500
_INK, _SOFT, _PAPER, _HELD = (30, 36, 48), (84, 92, 106), (247, 245, 240), (164, 92, 0)
_KINDS = {"right": (11, 122, 88), "wrong": (193, 58, 32)}


@dataclass(frozen=True)
class Film:
    """An encoded film.

    Attributes:
        data: Content of the file.
        still: A still picture for readers who prefer no motion.
        is_video: Whether the film is an MP4 video rather than an animated picture.
        width: Width in pixels.
        height: Height in pixels.
        frames: Number of frames.
    """

    data: bytes
    still: bytes
    is_video: bool
    width: int
    height: int
    frames: int


def make_film(replay: Replay, plan: FloorPlan, outcomes: Sequence[ObjectOutcome]) -> Film:
    """Return a film of the replayed moments that have pictures."""
    stage = _FramePainter(plan, replay, outcomes)
    numbers = sorted(replay.frames)
    frames = [stage.frame(number) for number in numbers]
    moments = [replay.states[number] for number in numbers]
    durations = [_GRAB_MS if moment.is_grab else _STEP_MS for moment in moments]
    durations[-1] = _END_MS
    width, height = frames[0].size
    still = compress(np.asarray(frames[len(frames) // 2]))
    video = _mp4(frames, durations)
    data = _animation(frames, durations) if video is None else video
    return Film(data, still, video is not None, width, height, len(frames))


class _FramePainter:
    """Paints frames. Parts that do not change are painted once."""

    def __init__(self, plan: FloorPlan, replay: Replay, outcomes: Sequence[ObjectOutcome]) -> None:
        self._plan, self._replay = plan, replay
        self._wanted = {outcome.name: outcome.correct_places for outcome in outcomes}
        width, height = plan.projection.size
        self._scale = min(_WIDEST_MAP / width, _VIEW[1] / height)
        size = (round(width * self._scale), round(height * self._scale))
        self._map = _base(plan).resize(size, Image.Resampling.LANCZOS)
        self._large_map = self._map.resize((2 * size[0], 2 * size[1]))
        ways = [(moment.body.x, moment.body.z) for moment in replay.states]
        self._way = plan.projection.pixels(ways) * self._scale

    def frame(self, number: int) -> Image.Image:
        """Return the frame of a moment."""
        moment = self._replay.states[number]
        width = _VIEW[0] + _GAP + self._map.width
        # Video codecs want even sizes.
        frame = Image.new("RGB", (width + width % 2, _VIEW[1] + _BAR), _PAPER)
        frame.paste(self._view(moment, self._replay.frames[number]), (0, _BAR))
        frame.paste(self._situation(moment), (_VIEW[0] + _GAP, _BAR + (_VIEW[1] - self._map.height) // 2))
        self._caption(ImageDraw.Draw(frame), moment, frame.width)
        return frame

    def _kind(self, name: str, moment: ReplayState) -> str:
        return "right" if moment.placements.get(name, "") in self._wanted.get(name, ()) else "wrong"

    def _view(self, moment: ReplayState, shot: CameraImage) -> Image.Image:
        """What the robot sees, with the names of the objects in it, the largest first."""
        image = Image.fromarray(shot.picture).resize(_VIEW, Image.Resampling.BICUBIC)
        draw, boxes = ImageDraw.Draw(image, "RGBA"), LabelLayout(_VIEW)
        if moment.holding:
            text = f"in hand: {neutralize_text(moment.holding)}"
            width = draw.textlength(text, _font(_LABEL)) + 16
            boxes.block(_VIEW[0] / 2, _VIEW[1] - 16, width, 24)
            _pill(draw, (_VIEW[0] / 2, _VIEW[1] - 16), width, text, _HELD, "")
        across = _VIEW[0] / shot.picture.shape[1]
        seen = {name: tuple(across * edge for edge in extent) for name, extent in shot.objects.items()}
        for name, (left, top, right, bottom) in sorted(seen.items(), key=lambda item: -_area(shot.objects[item[0]])):
            width = draw.textlength(neutralize_text(name), _font(_LABEL)) + 32
            spot = boxes.place_around((left + right) / 2, (top + bottom) / 2, width, 22, (bottom - top) / 2)
            if spot is not None:
                kind = self._kind(name, moment)
                draw.rectangle((left - 2, top - 2, right + 2, bottom + 2), outline=(*_KINDS[kind], 255), width=2)
                _pill(draw, spot, width, neutralize_text(name), _KINDS[kind], kind)
        return image

    def _situation(self, moment: ReplayState) -> Image.Image:
        """The map with the way so far, the objects and the robot; drawn at twice the size to be smooth."""
        image = self._large_map.copy()
        draw = ImageDraw.Draw(image, "RGBA")
        way = [(2 * x, 2 * y) for x, y in self._way[: moment.step + 1].tolist()]
        if len(way) > 1:
            draw.line(way, fill=(255, 255, 255, 150), width=8, joint="curve")
            draw.line(way, fill=(*path_color(0.35), 200), width=4, joint="curve")
        for name, spot in moment.positions.items():
            x, y = (2 * self._scale * self._plan.projection.pixels(spot)[0]).tolist()
            _mark(draw, x, y, 12, self._kind(name, moment))
        self._robot(draw, moment)
        return image.reduce(2)

    def _robot(self, draw: ImageDraw.ImageDraw, moment: ReplayState) -> None:
        x, y = (2 * self._scale * self._plan.projection.pixels((moment.body.x, moment.body.z))[0]).tolist()
        angle = float(np.rad2deg(self._plan.projection.heading(moment.body.yaw)))
        draw.pieslice((x - 70, y - 70, x + 70, y + 70), angle - 45, angle + 45, fill=(255, 240, 170, 110))
        draw.ellipse((x - 13, y - 13, x + 13, y + 13), _INK, (255, 255, 255), 3)
        if moment.holding:
            draw.ellipse((x - 6, y - 6, x + 6, y + 6), (255, 205, 70))

    def _caption(self, draw: ImageDraw.ImageDraw, moment: ReplayState, width: int) -> None:
        """Above: what is being done on the left, how far it is on the right."""
        counter = f"plan {max(moment.plan, 0) + 1} · step {moment.step}"
        room = width - 40 - draw.textlength(counter, _font(15))
        doing = _fitting(draw, neutralize_text(moment.action) or "waiting for the first plan", room)
        draw.text((10, _BAR / 2), doing, _INK, _font(19), "lm")
        draw.text((width - 10, _BAR / 2), counter, _SOFT, _font(15), "rm")


def _area(extent: BoundingBox) -> int:
    return (extent.right - extent.left) * (extent.bottom - extent.top)


def _fitting(draw: ImageDraw.ImageDraw, text: str, room: float) -> str:
    """A text in one line, cut where there is no more room."""
    text = " ".join(text.split())
    if draw.textlength(text, _font(19)) <= room:
        return text
    while text and draw.textlength(f"{text}…", _font(19)) > room:
        text = text[:-1]
    return f"{text}…"


def _pill(
    draw: ImageDraw.ImageDraw, middle: tuple[float, float], width: float, text: str, color: tuple[int, ...], kind: str
) -> None:
    """Draw a label. A sign before its text tells right from wrong as well as the colour."""
    x, y = middle
    draw.rounded_rectangle((x - width / 2, y - 11, x + width / 2, y + 11), 11, (*color, 235), (255, 255, 255, 255), 1)
    at = x + 8 if kind else x
    if kind:
        _sign(draw, x - width / 2 + 12, y, 5, kind)
    draw.text((at, y), text, (255, 255, 255), _font(_LABEL), "mm")


def _mark(draw: ImageDraw.ImageDraw, x: float, y: float, size: float, kind: str) -> None:
    """Draw an object on the map: a disc with a tick, or a lozenge with a cross."""
    if kind == "right":
        draw.ellipse((x - size, y - size, x + size, y + size), _KINDS[kind], (255, 255, 255), 3)
    else:
        far = size * 1.35
        draw.polygon([(x, y - far), (x + far, y), (x, y + far), (x - far, y)], _KINDS[kind], (255, 255, 255), 3)
    _sign(draw, x, y, (0.5 if kind == "right" else 0.4) * size, kind)


def _sign(draw: ImageDraw.ImageDraw, x: float, y: float, size: float, kind: str) -> None:
    white, width = (255, 255, 255), 3 if size > 5 else 2
    if kind == "right":
        draw.line([(x - size, y), (x - size / 4, y + 0.8 * size), (x + size, y - 0.9 * size)], white, width, "curve")
    else:
        draw.line([(x - size, y - size), (x + size, y + size)], white, width)
        draw.line([(x - size, y + size), (x + size, y - size)], white, width)


def _base(plan: FloorPlan) -> Image.Image:
    """Return the traced house without marks, on paper colour."""
    assert plan.picture is not None, "films show the house as it was traced"
    traced = Image.fromarray(plan.picture)
    image = Image.new("RGB", traced.size, _PAPER)
    image.paste(traced, mask=traced)
    image.paste((57, 64, 79), mask=fill_mask(plan.walls, plan.projection.size, PICTURE_SCALE))
    return image


@lru_cache(maxsize=8)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return Pillow's own font, since fonts differ between systems."""
    return ImageFont.load_default(size)


def _animation(frames: Sequence[Image.Image], durations: Sequence[int]) -> bytes:
    """Return an animated WebP, or a GIF of about four times the size if Pillow cannot write WebP."""
    stream = io.BytesIO()
    more = {"save_all": True, "append_images": list(frames[1:]), "duration": list(durations), "loop": 0}
    if features.check("webp"):
        frames[0].save(stream, "WEBP", quality=62, method=2, **more)
    else:
        frames[0].save(stream, "GIF", **more)
    return stream.getvalue()


def encoder() -> str:
    """Return the path of an MP4 encoder, or an empty text if none is installed."""
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, OSError, RuntimeError):
        return ""


def _mp4(frames: Sequence[Image.Image], durations: Sequence[int]) -> bytes | None:
    """Return an H.264 video of constant rate, in which longer frames are repeated, or None if it cannot be encoded."""
    if not encoder():
        return None
    import imageio_ffmpeg

    with TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        writer = imageio_ffmpeg.write_frames(
            str(path),
            frames[0].size,
            fps=1000 / _STEP_MS,
            codec="libx264",
            quality=None,
            macro_block_size=2,
            output_params=["-crf", "26", "-preset", "veryfast", "-movflags", "+faststart"],
        )
        try:
            writer.send(None)
            for frame, duration in zip(frames, durations, strict=True):
                for _ in range(max(1, round(duration / _STEP_MS))):
                    writer.send(frame.tobytes())
            writer.close()
            return path.read_bytes()
        except OSError:
            return None
