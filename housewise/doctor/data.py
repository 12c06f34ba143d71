"""Check the Housekeep data: scenes, episodes, models, and what is replaced by stand-ins."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

from housewise.core.errors import UserError
from housewise.core.hardware import usable_cores
from housewise.core.processes import process_pool
from housewise.doctor.findings import DATA, Finding, finding_from_error, summarize_error

GET_DATA = "git clone https://github.com/yashkant/housekeep ~/housekeep && export HOUSEKEEP_DATA=~/housekeep"
_OBJECTS = "cos_eor/scripts/gso_downloader.py"
_GET_OBJECTS = f"python {_OBJECTS} && ./cos_eor/scripts/ycb/full_setup.sh"
# Housekeep's repository has episodes of these scenes, and all pieces of furniture except these.
_PUBLISHED = ("Benevolence_2_int", "Ihlen_1_int", "Merom_1_int", "Pomaria_0_int", "Pomaria_2_int")
_UNPUBLISHED = ("stove_59_0.urdf",)

_EPISODES = 5
"""Number of episodes of each scene that are searched for objects."""


@dataclass(frozen=True)
class SceneSummary:
    """Summary of a scene.

    Attributes:
        name: Name of the scene.
        episodes: Number of its episodes.
        shell: Whether its walls and floors have a model.
        furniture: Number of pieces of furniture.
        boxes: Number of pieces that boxes stand in for.
        unpublished: Number of these pieces that Housekeep's repository lacks as well.
        objects: Number of objects in the first episodes.
        solids: Number of objects that solids stand in for.
        damaged: What is wrong with a model that only habitat-sim renders, or an empty text.
        problem: Why the scene cannot be read, or an empty text.
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


def check_housekeep(root: Path | None) -> list[Finding]:
    """Check what the Housekeep folder has and lacks.

    Args:
        root: The folder, or None if none is named.

    Raises:
        DataError: It is not such a folder.
    """
    if root is None:
        return [Finding(DATA, "Housekeep", "missing", "not named: houses are generated", GET_DATA)]
    from housewise.worlds.house.housekeep.housekeep_data import HousekeepData

    names = HousekeepData(root).scenes()
    if not names:
        return [Finding(DATA, "Housekeep", "broken", f"{root}: no scene in it is complete", GET_DATA)]
    # Reading a scene takes about a second.
    with process_pool(min(usable_cores(), len(names))) as pool:
        looks = list(pool.map(partial(summarize_scene, root), names))
    folder = Finding(DATA, "Housekeep", "ok", f"{root}: {len(names)} scenes")
    return [
        folder,
        *(_scene_finding(root, each) for each in looks),
        *_stand_in_findings(root, looks),
        _annotations_finding(root),
    ]


def summarize_scene(root: Path, name: str) -> SceneSummary:
    """Read a scene and its first episodes.

    Args:
        root: Folder of the Housekeep data.
        name: Name of the scene.
    """
    from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
    from housewise.worlds.house.simulator.habitat import find_missing_mesh

    try:
        folder = HousekeepData(root)
        scene = folder.scene(name)
        numbers = folder.episode_ids(name) if folder.has_episodes(name) else []
        objects = [thing for number in numbers[:_EPISODES] for thing in folder.episode(name, number).objects]
        models = [thing.model.config for thing in objects if thing.model is not None]
        shown = [config for config in models if find_missing_mesh(config) is None]
        boxed = [note for note in scene.notes if "no model" in note]
        unpublished = sum(any(piece in note for piece in _UNPUBLISHED) for note in boxed)
        shell = scene.shell is not None
        damaged = _find_damage(scene.shell, dict.fromkeys(shown))
        furniture = (len(scene.receptacles), len(boxed), unpublished)
        return SceneSummary(name, len(numbers), shell, *furniture, len(objects), len(objects) - len(shown), damaged)
    except UserError as error:
        return SceneSummary(name, problem=str(error))
    except Exception as error:
        return SceneSummary(name, problem=summarize_error(error))


def _find_damage(shell: Path | None, configs: Iterable[Path]) -> str:
    """Describe the first damaged model of a scene's shell and its objects, or return an empty text."""
    from housewise.worlds.house.model_checks import check_model_file
    from housewise.worlds.house.simulator.habitat import configured_meshes

    try:
        for file in chain([shell] if shell else [], *map(configured_meshes, configs)):
            check_model_file(file)
    except UserError as error:
        return str(error)
    return ""


def _scene_finding(root: Path, each: SceneSummary) -> Finding:
    if each.problem:
        return _broken_finding(root, each.name, each.problem)
    if not each.episodes:
        if each.name in _PUBLISHED:
            return Finding(DATA, each.name, "missing", "no episodes", _restore_command(root))
        return Finding(DATA, each.name, "missing", "no episodes; Housekeep's repository has none of this scene")
    return Finding(DATA, each.name, "ok", f"{each.episodes} episodes, {each.furniture} pieces of furniture")


def _broken_finding(root: Path, what: str, problem: str) -> Finding:
    found = finding_from_error(DATA, what, "broken", UserError(problem))
    return found if "; run " in problem else replace(found, details=problem, remedy=_restore_command(root))


def _stand_in_findings(root: Path, looks: Sequence[SceneSummary]) -> list[Finding]:
    """Count what has no model, and name damaged models that only habitat-sim renders, over all readable scenes."""
    read = [each for each in looks if not each.problem]
    bare = [each.name for each in read if not each.shell]
    boxed = [f"{each.boxes} of {each.name}" for each in read if each.boxes]
    more_furniture = _restore_command(root) if any(each.boxes > each.unpublished for each in read) else ""
    boxes, furniture = sum(each.boxes for each in read), sum(each.furniture for each in read)
    solids, objects = sum(each.solids for each in read), sum(each.objects for each in read)
    wall = f"walls are inferred in {', '.join(bare)}; Housekeep's repository has no shells"
    solid = "solids of their size stand in; Housekeep's repository has few, its data/README.md names the sources"
    return [
        _gap_finding("scene shells", len(bare), len(read), wall, ""),
        _gap_finding("furniture models", boxes, furniture, f"boxes stand in for {', '.join(boxed)}", more_furniture),
        _gap_finding("object models", solids, objects, solid, _objects_command(root)),
        *(_broken_finding(root, f"{each.name} in habitat", each.damaged) for each in read if each.damaged),
    ]


def _gap_finding(what: str, lacking: int, wanted: int, otherwise: str, remedy: str) -> Finding:
    if not lacking:
        return Finding(DATA, what, "ok", f"all {wanted}")
    return Finding(DATA, what, "missing", f"{wanted - lacking} of {wanted}; {otherwise}", remedy)


def _annotations_finding(root: Path) -> Finding:
    from housewise.worlds.house.housekeep.annotations import ANNOTATIONS
    from housewise.worlds.house.housekeep.housekeep_data import HousekeepData

    try:
        people = len(HousekeepData(root).annotators())
    except UserError as error:
        there = (root / ANNOTATIONS).exists()
        details = finding_from_error(DATA, "annotations", "broken", error).details
        return Finding(DATA, "annotations", "broken" if there else "missing", details, _restore_command(root))
    return Finding(DATA, "annotations", "ok", f"{people} people")


def _restore_command(root: Path) -> str:
    """Return the command that restores missing files of the repository, or an empty text if none is missing."""
    if not (root / ".git").exists():
        return GET_DATA
    # The folder's own configuration may name programs; none of them is run.
    deleted = ["git", "-C", str(root), "-c", "core.fsmonitor=false", "ls-files", "--deleted"]
    try:
        whole = not subprocess.run(deleted, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        whole = False
    return "" if whole else f"git -C {shlex.quote(str(root))} restore ."


def _objects_command(root: Path) -> str:
    return f"cd {shlex.quote(str(root))} && {_GET_OBJECTS}" if (root / _OBJECTS).is_file() else ""
