"""What the Housekeep folder has, and what stand-ins are shown for."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

from housewise.core.errors import UserError
from housewise.core.processes import process_pool
from housewise.core.provenance import describe_machine
from housewise.doctor.findings import DATA, Finding, line, told

GET_DATA = "git clone https://github.com/yashkant/housekeep ~/housekeep && export HOUSEKEEP_DATA=~/housekeep"
_OBJECTS = "cos_eor/scripts/gso_downloader.py"
_GET_OBJECTS = f"python {_OBJECTS} && ./cos_eor/scripts/ycb/full_setup.sh"
# What Housekeep's repository has: episodes of these scenes, and all furniture but these pieces.
_PUBLISHED = ("Benevolence_2_int", "Ihlen_1_int", "Merom_1_int", "Pomaria_0_int", "Pomaria_2_int")
_UNPUBLISHED = ("stove_59_0.urdf",)

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
        unpublished: how many of the latter Housekeep's repository lacks as well.
        objects, solids: objects of the first episodes, and those that solids stand in for.
        damaged: what is wrong with a model that only habitat-sim shows; empty where nothing is.
        problem: why it cannot be read; empty where it can.
    """

    name: str
    episodes: int = 0
    shell: bool = False
    furniture: int = 0
    boxes: int = 0
    unpublished: int = 0
    objects: int = 0
    solids: int = 0
    damaged: str = ""
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
    with process_pool(min(int(describe_machine()["cores"]), len(names))) as pool:
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
        models = [thing.model.config for thing in objects if thing.model is not None]
        shown = [config for config in models if missing_mesh(config) is None]
        boxed = [note for note in scene.notes if "no model" in note]
        unpublished = sum(any(piece in note for piece in _UNPUBLISHED) for note in boxed)
        shell = scene.shell is not None
        damaged = _damage(scene.shell, dict.fromkeys(shown))
        furniture = (len(scene.receptacles), len(boxed), unpublished)
        return Look(name, len(numbers), shell, *furniture, len(objects), len(objects) - len(shown), damaged)
    except UserError as error:
        return Look(name, problem=str(error))
    except Exception as error:
        return Look(name, problem=line(error))


def _damage(shell: Path | None, configs: Iterable[Path]) -> str:
    """What is wrong with the first damaged one of a scene's shell and some objects' models; empty where none is."""
    from housewise.worlds.house.meshes import check_mesh
    from housewise.worlds.house.simulator.habitat import meshes_of

    try:
        for file in chain([shell] if shell else [], *map(meshes_of, configs)):
            check_mesh(file)
    except UserError as error:
        return str(error)
    return ""


def _scene(root: Path, each: Look) -> Finding:
    if each.problem:
        return _broken(root, each.name, each.problem)
    if not each.episodes:
        if each.name in _PUBLISHED:
            return Finding(DATA, each.name, "missing", "no episodes", _again(root))
        return Finding(DATA, each.name, "missing", "no episodes; Housekeep's repository has none of this scene")
    return Finding(DATA, each.name, "ok", f"{each.episodes} episodes, {each.furniture} pieces of furniture")


def _broken(root: Path, what: str, problem: str) -> Finding:
    found = told(DATA, what, "broken", UserError(problem))
    return found if "; run " in problem else replace(found, details=problem, remedy=_again(root))


def _stand_ins(root: Path, looks: Sequence[Look]) -> list[Finding]:
    """What has no model, or a damaged one that only habitat-sim shows, over all scenes that can be read."""
    read = [each for each in looks if not each.problem]
    bare = [each.name for each in read if not each.shell]
    boxed = [f"{each.boxes} of {each.name}" for each in read if each.boxes]
    more_furniture = _again(root) if any(each.boxes > each.unpublished for each in read) else ""
    boxes, furniture = sum(each.boxes for each in read), sum(each.furniture for each in read)
    solids, objects = sum(each.solids for each in read), sum(each.objects for each in read)
    wall = f"walls are inferred in {', '.join(bare)}; Housekeep's repository has no shells"
    solid = "solids of their size stand in; Housekeep's repository has few, its data/README.md names the sources"
    return [
        _gap("scene shells", len(bare), len(read), wall, ""),
        _gap("furniture models", boxes, furniture, f"boxes stand in for {', '.join(boxed)}", more_furniture),
        _gap("object models", solids, objects, solid, _more_objects(root)),
        *(_broken(root, f"{each.name} in habitat", each.damaged) for each in read if each.damaged),
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
    """The command that gets files that the repository has and the folder lacks; empty where it lacks none of them."""
    if not (root / ".git").exists():
        return GET_DATA
    # Of what the folder's own configuration may name as a program, this asks for nothing.
    deleted = ["git", "-C", str(root), "-c", "core.fsmonitor=false", "ls-files", "--deleted"]
    try:
        whole = not subprocess.run(deleted, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        whole = False
    return "" if whole else f"git -C {shlex.quote(str(root))} restore ."


def _more_objects(root: Path) -> str:
    return f"cd {shlex.quote(str(root))} && {_GET_OBJECTS}" if (root / _OBJECTS).is_file() else ""
