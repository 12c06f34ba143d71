"""The film of an episode: what the robot sees beside where it is."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from matplotlib import get_data_path
from PIL import Image, ImageDraw, ImageFont, features

from experiments.report.fates import Fate
from experiments.report.houseplan import DETAIL, HousePlan, filled
from experiments.report.pictures import compress
from experiments.report.replay import Moment, Replay
from experiments.report.topdown import stage_color

FRAMES = 150

_VIEW = (400, 300)
_WIDEST_MAP = 480
_BAR = 40
_STEP_MS, _GRAB_MS, _END_MS = 150, 700, 2500
_INK, _SOFT, _PAPER = (30, 36, 48), (96, 104, 118), (247, 245, 240)
_KINDS = {"right": (11, 138, 98), "wrong": (207, 69, 39), "unseen": (124, 130, 141)}


@dataclass(frozen=True)
class Film:
    """An encoded film.

    Attributes:
        data: of the file.
        still: one picture of it, for those who want nothing to move.
        is_video: whether it is MP4 rather than an animated picture.
        width, height: in pixels.
        frames: how many pictures there are.
    """

    data: bytes
    still: bytes
    is_video: bool
    width: int
    height: int
    frames: int


def make_film(replay: Replay, plan: HousePlan, fates: Sequence[Fate]) -> Film:
    """Film the moments of which there are pictures."""
    stage = _Stage(plan, replay, fates)
    numbers = sorted(replay.frames)
    frames = [stage.frame(number) for number in numbers]
    moments = [replay.moments[number] for number in numbers]
    durations = [_GRAB_MS if moment.grabbed else _STEP_MS for moment in moments]
    durations[-1] = _END_MS
    width, height = frames[0].size
    still = compress(np.asarray(frames[len(frames) // 2]))
    if find_spec("imageio_ffmpeg") is not None:
        return Film(_mp4(frames, durations), still, True, width, height, len(frames))
    return Film(_animation(frames, durations), still, False, width, height, len(frames))


class _Stage:
    """Draws the frames; what stays the same from frame to frame is drawn once."""

    def __init__(self, plan: HousePlan, replay: Replay, fates: Sequence[Fate]) -> None:
        self._plan, self._replay = plan, replay
        self._wanted = {fate.name: fate.wanted for fate in fates}
        width, height = plan.frame.size
        self._scale = min(_WIDEST_MAP / width, _VIEW[1] / height)
        size = (round(width * self._scale), round(height * self._scale))
        self._map = _base(plan).resize(size, Image.Resampling.LANCZOS)
        ways = [(moment.body.x, moment.body.z) for moment in replay.moments]
        self._way = plan.frame.pixels(ways) * self._scale

    def frame(self, number: int) -> Image.Image:
        """The frame at the moment with this number."""
        moment = self._replay.moments[number]
        width = _VIEW[0] + 8 + self._map.width
        # Video codecs want even sizes.
        frame = Image.new("RGB", (width + width % 2, _VIEW[1] + _BAR), _PAPER)
        view = Image.fromarray(self._replay.frames[number]).resize(_VIEW, Image.Resampling.BICUBIC)
        frame.paste(view, (0, _BAR))
        frame.paste(self._situation(moment), (_VIEW[0] + 8, _BAR + (_VIEW[1] - self._map.height) // 2))
        self._caption(ImageDraw.Draw(frame), moment, frame.width)
        return frame

    def _situation(self, moment: Moment) -> Image.Image:
        """The map with the way so far, the objects and the robot; drawn at twice the size to be smooth."""
        image = self._map.resize((2 * self._map.width, 2 * self._map.height))
        draw = ImageDraw.Draw(image, "RGBA")
        way = [(2 * x, 2 * y) for x, y in self._way[: moment.step + 1].tolist()]
        if len(way) > 1:
            draw.line(way, fill=(255, 255, 255, 150), width=8, joint="curve")
            draw.line(way, fill=(*stage_color(0.35), 200), width=4, joint="curve")
        for name, spot in moment.spots.items():
            x, y = (2 * self._scale * self._plan.frame.pixels(spot)[0]).tolist()
            right = moment.placements.get(name, "") in self._wanted.get(name, ())
            draw.ellipse((x - 8, y - 8, x + 8, y + 8), _KINDS["right" if right else "wrong"], (255, 255, 255), 3)
        self._robot(draw, moment)
        return image.resize(self._map.size, Image.Resampling.BOX)

    def _robot(self, draw: ImageDraw.ImageDraw, moment: Moment) -> None:
        x, y = (2 * self._scale * self._plan.frame.pixels((moment.body.x, moment.body.z))[0]).tolist()
        angle = float(np.rad2deg(self._plan.frame.heading(moment.body.yaw)))
        draw.pieslice((x - 70, y - 70, x + 70, y + 70), angle - 45, angle + 45, fill=(255, 240, 170, 110))
        draw.ellipse((x - 13, y - 13, x + 13, y + 13), _INK, (255, 255, 255), 3)
        if moment.holding:
            draw.ellipse((x - 6, y - 6, x + 6, y + 6), (255, 205, 70))

    def _caption(self, draw: ImageDraw.ImageDraw, moment: Moment, width: int) -> None:
        """Above: what is being done on the left, what is in the hand on the right."""
        doing = moment.action or "waiting for the first plan"
        draw.text((10, 11), doing, _INK, _font(16), "lt")
        counter = f"plan {max(moment.plan, 0) + 1} · step {moment.step}"
        draw.text((width - 10, 5), counter, _SOFT, _font(12), "rt")
        hand = f"in hand: {moment.holding}" if moment.holding else "empty hand"
        draw.text((width - 10, 21), hand, (164, 92, 0) if moment.holding else _SOFT, _font(13), "rt")


def _base(plan: HousePlan) -> Image.Image:
    """The house without marks, on paper."""
    traced = Image.fromarray(plan.picture)
    image = Image.new("RGB", traced.size, _PAPER)
    image.paste(traced, mask=traced)
    image.paste((57, 64, 79), mask=filled(plan.walls, plan.frame.size, DETAIL))
    return image


@lru_cache(maxsize=8)
def _font(size: int) -> ImageFont.FreeTypeFont:
    """DejaVu Sans as it comes with matplotlib, since every system has other fonts."""
    return ImageFont.truetype(str(Path(get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"), size)


def _animation(frames: Sequence[Image.Image], durations: Sequence[int]) -> bytes:
    """An animated WebP, or a GIF (about four times the size) where Pillow cannot write WebP."""
    stream = io.BytesIO()
    more = {"save_all": True, "append_images": list(frames[1:]), "duration": list(durations), "loop": 0}
    if features.check("webp"):
        frames[0].save(stream, "WEBP", quality=62, method=2, **more)
    else:
        frames[0].save(stream, "GIF", **more)
    return stream.getvalue()


def _mp4(frames: Sequence[Image.Image], durations: Sequence[int]) -> bytes:
    """H.264 at a constant rate: frames that last longer are repeated."""
    import imageio.v3 as imageio

    with TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        shown = [
            np.asarray(frame)
            for frame, duration in zip(frames, durations, strict=True)
            for _ in range(max(1, round(duration / _STEP_MS)))
        ]
        imageio.imwrite(
            path,
            np.stack(shown),
            plugin="FFMPEG",
            fps=1000 / _STEP_MS,
            codec="libx264",
            macro_block_size=2,
            ffmpeg_params=["-crf", "27", "-movflags", "+faststart"],
        )
        return path.read_bytes()
