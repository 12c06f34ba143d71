"""Recorded episodes of LLM-Personalize, and the houses that they happened in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from housewise.core.errors import DataError
from housewise.core.files import find_paths
from housewise.core.printable_text import excerpt
from housewise.core.text_files import read_json
from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.high_level_actions import ActionKind
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.housekeep.navmesh_file import read_polygon_navmesh
from housewise.worlds.house.name_resolution import Vocabulary
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.spoken_names import spoken_name

_KINDS = {
    ("navigating", "receptacle"): ActionKind.GO_TO,
    ("navigating", "object"): ActionKind.GO_TO,
    ("look-at", "receptacle"): ActionKind.LOOK_AT,
    ("look-at", "object"): ActionKind.LOOK_AT,
    ("pick-place", "object"): ActionKind.PICK_UP,
    ("pick-place", "receptacle"): ActionKind.PLACE,
}


@dataclass(frozen=True)
class RecordedStep:
    """A recorded action, with the data's keys.

    Attributes:
        raw: Text of the model.
        kind: What the published parser understood; None if nothing.
        thing, place: Object and receptacle that it resolved to.
        steps: Number of low-level steps that it took.
        before, after: Receptacle of every object; None for the hand.
        discovered: Keys of what it brought into view for the first time.
    """

    raw: str
    kind: ActionKind | None
    thing: str | None
    place: str | None
    steps: int
    before: dict[str, str | None]
    after: dict[str, str | None]
    discovered: frozenset[str]


class MissingEpisodeError(DataError):
    """A recording is of an episode that the data does not have."""


class Recording:
    """A recorded episode and the house that it happened in.

    Args:
        path: ``<scene>/<condition>/<episode>.json``, or a log as LLM-Personalize published it,
            ``<run>/demo/<scene>/data_<time>.json``, whose episode is found by how it begins.
        data: The Housekeep folder.

    Raises:
        DataError: It is not a recording, or of an episode that the data does not have.
    """

    def __init__(self, path: Path, data: HousekeepData) -> None:
        plans = read_json(path, "fetch the file again")
        try:
            scene, episode = _find_episode(path, plans, data)
            self.task = RearrangementTask(with_recorded_navmesh(data.scene(scene)), data.episode(scene, episode))
            places = [self.task.scene.by_key[key] for key in self.task.episode.receptacles]
            self.keys = {place.name: place.key for place in places}
            self.keys |= {thing.name: thing.key for thing in self.task.episode.objects}
            self.usable = {place.key for place in places if place.usable}
            self.steps = list(self._read(plans))
        except (AttributeError, KeyError, LookupError, TypeError, ValueError) as error:
            raise DataError(f"{path}: not a recording ({excerpt(repr(error))}); fetch the file again") from error

    @property
    def vocabulary(self) -> Vocabulary:
        """All names of the house, since the published parser knew them all."""
        names = {key: name for name, key in self.keys.items()}
        return Vocabulary(
            tuple(room.name for room in self.task.scene.rooms),
            tuple(names[key] for key in self.task.episode.receptacles),
            tuple(thing.name for thing in self.task.episode.objects),
        )

    def _read(self, plans: list[dict[str, Any]]) -> Iterator[RecordedStep]:
        for log in (log for plan in plans for log in plan["logs"]):
            parsed = log["step_parsed"] or {}
            thing, place = parsed.get("target_object"), parsed.get("target_receptacle")
            known = all(
                key is None or spoken_name(key) in self.keys or key in self.keys.values() for key in (thing, place)
            )
            kind = _KINDS.get((str(parsed.get("action")), str(parsed.get("target_type")))) if known else None
            found = log["outcome"]["objects_discovered"] + log["outcome"]["recs_discovered"]
            yield RecordedStep(
                raw=log["step_raw"],
                kind=kind if log["flag"] != "skipped" else None,
                thing=thing,
                place=place,
                steps=log["end"] - log["start"],
                before=self._places(log["current_mapping"]["start"]),
                after=self._places(log["current_mapping"]["end"]),
                discovered=frozenset(self.keys[name] for name in found),
            )

    def _places(self, mapping: dict[str, str]) -> dict[str, str | None]:
        return {self.keys[thing]: None if place == "agent" else self.keys[place] for thing, place in mapping.items()}


def list_recordings(folder: Path) -> list[Path]:
    """Return the recordings of a folder, in either layout; see ``Recording``."""
    return find_paths(folder, "*/demo/*/data_*.json") or find_paths(folder, "*/*/*.json")


def _is_published(path: Path) -> bool:
    return path.parts[-3:-2] == ("demo",)


def scene_and_condition(path: Path) -> tuple[str, str]:
    """Return the scene of a recording, in lower case, and its condition, as its folders name them."""
    scene, condition = (path.parts[-2], path.parts[-4]) if _is_published(path) else path.parts[-3:-1]
    return scene.lower(), condition


def _find_episode(path: Path, plans: Any, data: HousekeepData) -> tuple[str, int]:
    """Return scene and episode of a recording."""
    lower, _ = scene_and_condition(path)
    scene = next((name for name in data.scenes() if name.lower() == lower), lower)
    if not _is_published(path):
        return scene, int(path.stem)
    start = frozenset(plans[0]["current_mapping"]["start"].items())
    episode = data.episodes_by_start(scene).get(start) if data.has_episodes(scene) else None
    if episode is None:
        raise MissingEpisodeError(f"{path}: no episode of {scene} in the data begins like this recording; leave it out")
    return scene, episode


@lru_cache(maxsize=2)
def with_recorded_navmesh(scene: Scene) -> Scene:
    """Return a scene with the polygons on which Habitat walks, if the file of its navigation mesh is there."""
    return scene if scene.navmesh_file is None else replace(scene, navmesh=read_polygon_navmesh(scene.navmesh_file))
