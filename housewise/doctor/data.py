"""What the Housekeep folder has, and what stand-ins are shown for."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from housewise.core.errors import UserError
from housewise.core.machine import machine
from housewise.doctor.findings import DATA, Finding, line, told

GET_DATA = "git clone https://github.com/yashkant/housekeep ~/housekeep && export HOUSEKEEP_DATA=~/housekeep"
_OBJECTS = "cos_eor/scripts/gso_downloader.py"
_GET_OBJECTS = f"python {_OBJECTS} && ./cos_eor/scripts/ycb/full_setup.sh"

_EPISODES = 5
"""How many of a scene's episodes are searched for objects."""


@dataclass(frozen=True)
class Look:
    """A scene, as far as it can be read.

    Attributes:
        name: of the scene.
        episodes: how many it has.
        shell: whether its walls and floors have a model.
        furniture, boxes: pieces, and those that boxes stand in for.
        objects, solids: objects of the first episodes, and those that solids stand in for.
        problem: why it cannot be read; empty where it can.
    """

    name: str
    episodes: int = 0
    shell: bool = False
    furniture: int = 0
    boxes: int = 0
    objects: int = 0
    solids: int = 0
    problem: str = ""


def housekeep(root: Path | None) -> list[Finding]:
    """What the Housekeep folder has, and what it lacks.

    Args:
        root: the folder; None where none is named.

    Raises:
        DataError: when it is not such a folder.
    """
    if root is None:
        return [Finding(DATA, "Housekeep", "missing", "not named: houses are generated", GET_DATA)]
    from housewise.worlds.house.housekeep.reader import HousekeepData

    names = HousekeepData(root).scenes()
    if not names:
        return [Finding(DATA, "Housekeep", "broken", f"{root}: no scene in it is complete", GET_DATA)]
    # Reading a scene takes about a second.
    with ProcessPoolExecutor(min(int(machine()["cores"]), len(names)), get_context("spawn")) as pool:
        looks = list(pool.map(partial(look, root), names))
    folder = Finding(DATA, "Housekeep", "ok", f"{root}: {len(names)} scenes")
    return [folder, *(_scene(root, each) for each in looks), *_stand_ins(root, looks), _annotations(root)]


def look(root: Path, name: str) -> Look:
    """Read a scene and its first episodes.

    Args:
        root: the Housekeep folder.
        name: of the scene.
    """
    from housewise.worlds.house.housekeep.reader import HousekeepData
    from housewise.worlds.house.simulator.habitat import missing_mesh

    try:
        folder = HousekeepData(root)
        scene = folder.scene(name)
        numbers = folder.episode_ids(name) if folder.has_episodes(name) else []
        objects = [thing for number in numbers[:_EPISODES] for thing in folder.episode(name, number).objects]
        solids = sum(thing.model is None or missing_mesh(thing.model.config) is not None for thing in objects)
        boxes = sum("no model" in note for note in scene.notes)
        shell = scene.shell is not None
        return Look(name, len(numbers), shell, len(scene.receptacles), boxes, len(objects), solids)
    except UserError as error:
        return Look(name, problem=str(error))
    except Exception as error:
        return Look(name, problem=line(error))


def _scene(root: Path, each: Look) -> Finding:
    if each.problem:
        return Finding(DATA, each.name, "broken", each.problem, _again(root))
    if not each.episodes:
        return Finding(DATA, each.name, "missing", "no episodes", _again(root))
    return Finding(DATA, each.name, "ok", f"{each.episodes} episodes, {each.furniture} pieces of furniture")


def _stand_ins(root: Path, looks: Sequence[Look]) -> list[Finding]:
    """What has no model, over all scenes that can be read."""
    read = [each for each in looks if not each.problem]
    bare = [each.name for each in read if not each.shell]
    boxed = [f"{each.boxes} of {each.name}" for each in read if each.boxes]
    boxes, furniture = sum(each.boxes for each in read), sum(each.furniture for each in read)
    solids, objects = sum(each.solids for each in read), sum(each.objects for each in read)
    solid = "solids of their size stand in; data/README.md there names the sources"
    return [
        _gap("scene shells", len(bare), len(read), f"walls are inferred in {', '.join(bare)}", _again(root)),
        _gap("furniture models", boxes, furniture, f"boxes stand in for {', '.join(boxed)}", _again(root)),
        _gap("object models", solids, objects, solid, _more_objects(root)),
    ]


def _gap(what: str, lacking: int, wanted: int, otherwise: str, remedy: str) -> Finding:
    if not lacking:
        return Finding(DATA, what, "ok", f"all {wanted}")
    return Finding(DATA, what, "missing", f"{wanted - lacking} of {wanted}; {otherwise}", remedy)


def _annotations(root: Path) -> Finding:
    from housewise.worlds.house.housekeep.annotations import ANNOTATIONS
    from housewise.worlds.house.housekeep.reader import HousekeepData

    try:
        people = len(HousekeepData(root).annotators())
    except UserError as error:
        there = (root / ANNOTATIONS).exists()
        details = told(DATA, "annotations", "broken", error).details
        return Finding(DATA, "annotations", "broken" if there else "missing", details, _again(root))
    return Finding(DATA, "annotations", "ok", f"{people} people")


def _again(root: Path) -> str:
    """The command that gets files that the repository has and the folder lacks."""
    return f"git -C {shlex.quote(str(root))} restore ." if (root / ".git").exists() else GET_DATA


def _more_objects(root: Path) -> str:
    return f"cd {shlex.quote(str(root))} && {_GET_OBJECTS}" if (root / _OBJECTS).is_file() else GET_DATA
