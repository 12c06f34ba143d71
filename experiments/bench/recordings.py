"""Recorded LLM-Personalize episodes, and the houses that they happened in."""

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
    """One recorded action, in the data's keys.

    Attributes:
        raw: as the model wrote it.
        kind: what the published parser made of it, None when it made nothing.
        thing, place: the object and the receptacle that it resolved to.
        steps: low-level steps that it took.
        before, after: receptacle of every object, None for the hand.
        discovered: keys of what it brought into view for the first time.
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
        data: the Housekeep folder.

    Attributes:
        scene: name of the scene.
        condition: what was recorded: a row of the paper, or the name of a published run.

    Raises:
        DataError: when it is no recording, or of an episode that the data does not have.
    """

    def __init__(self, path: Path, data: HousekeepData) -> None:
        plans = read_json(path, "fetch the file again")
        try:
            self.scene, self.condition, episode = _origin(path, plans, data)
            self.task = RearrangementTask(walked_as_recorded(data.scene(self.scene)), data.episode(self.scene, episode))
            self._take(plans)
        except (AttributeError, KeyError, LookupError, TypeError, ValueError) as error:
            raise DataError(f"{path}: not a recording ({excerpt(repr(error))}); fetch the file again") from error

    def _take(self, plans: list[dict[str, Any]]) -> None:
        places = [self.task.scene.by_key[key] for key in self.task.episode.receptacles]
        self.keys = {place.name: place.key for place in places}
        self.keys |= {thing.name: thing.key for thing in self.task.episode.objects}
        self.usable = {place.key for place in places if place.usable}
        self.steps = list(self._read(plans))

    @property
    def vocabulary(self) -> Vocabulary:
        """Every name of the house: the published parser knew them all."""
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


def recordings_in(folder: Path) -> list[Path]:
    """The recordings of a folder, in either layout; see Recording."""
    published = find_paths(folder, "*/demo/*/data_*.json")
    return published or find_paths(folder, "*/*/*.json")


def _is_published(path: Path) -> bool:
    return path.parts[-3:-2] == ("demo",)


def place_of(path: Path) -> tuple[str, str]:
    """Scene and condition of a recording, as its folders name them."""
    return (path.parts[-2], path.parts[-4]) if _is_published(path) else (path.parts[-3], path.parts[-2])


def _origin(path: Path, plans: Any, data: HousekeepData) -> tuple[str, str, int]:
    """Scene, condition and episode of a recording."""
    scene, condition = place_of(path)
    if not _is_published(path):
        return scene, condition, int(path.stem)
    scene = next((name for name in data.scenes() if name.lower() == scene.lower()), scene)
    start = frozenset(plans[0]["current_mapping"]["start"].items())
    episode = data.episodes_by_start(scene).get(start) if data.has_episodes(scene) else None
    if episode is None:
        raise MissingEpisodeError(f"{path}: no episode of {scene} in the data begins like this recording; leave it out")
    return scene, condition, episode


@lru_cache(maxsize=2)
def walked_as_recorded(scene: Scene) -> Scene:
    """A scene with Habitat's way of walking, where the file of its navigation mesh is at hand."""
    return scene if scene.navmesh_file is None else replace(scene, navmesh=read_polygon_navmesh(scene.navmesh_file))
