"""Catalogue of the names that options accept, each with a one-line description.

``housewise list`` prints it, the shell completes from it, and ``housewise copy`` takes its files. Names are looked up
in the package's files, in installed plug-ins and, if its folder is given, in the Housekeep data.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from housewise.core import plugins
from housewise.core.configs import packaged_configs
from housewise.core.files import find_paths

Descriptions = dict[str, str]
"""One-line descriptions by name."""

SYSTEMS: Descriptions = {
    "adapt": "a robot in a text kitchen makes breakfast and finds out what the person likes (ADAPT)",
    "basis": "an assistant that sees and speaks guides a person who acts in a lab (BASIS)",
    "clipr": "a person answers a few questions; choices follow the rules written from the answers (CLIPR)",
    "personalize": "a robot tidies a house for people who react to its placements (LLM-Personalize)",
    "stars": "a robot learns where things belong, verifies what a model proposes, and asks (STARS)",
}
PLANNERS: Descriptions = {
    "llm": "asks a language model for a few steps, executes them, and asks again (LLM-Personalize)",
    "sayplan": "lets the model search the scene graph, plan, and repair the plan (SayPlan)",
    "saycan": "lets the model choose one of the feasible steps at a time (SayCan)",
    "scripted": "no model: knows the preferences; an upper bound of what house and robot allow",
    "memory_lookup": "no model: knows only the memory of the person (--memory)",
    "memory_nearest": "no model: memory_lookup that generalises to things close in meaning (sentence embeddings)",
    "memory_kernel": "no model: memory_lookup that smooths over things and places (sentence embeddings)",
    "demonstrator": "no model: visits every room, then moves one thing per plan; self-training imitates it",
    "replay": "no model: repeats the replies of earlier records (--records)",
}
WRAPPERS: Descriptions = {
    "sort_by_distance": "prompts list near objects and places first",
    "check_feasibility": "plans that cannot be executed are asked for again",
    "loop_recovery": "a plan that repeats earlier actions is replaced",
    "verify_completion": "when the model takes the task as done, the robot visits where it has not been",
}
SIMULATORS: Descriptions = {
    "raycast": "embedded, runs anywhere: ray tracing with Embree on the CPU",
    "habitat": "habitat-sim, which has to be installed (docs/habitat.md)",
}
TRACKERS: Descriptions = {
    "tensorboard": "event files in tensorboard/ of the run's folder (housewise[tensorboard])",
    "wandb": "Weights & Biases; offline files in wandb/ without a WANDB_API_KEY (housewise[wandb])",
}
_OTHER_PACKAGE = "of another package"
_HOUSE_PEOPLE, _KITCHEN_PEOPLE = ("people", "people/opinionated"), "people/adapt"
"""Folders of files of people."""


@dataclass(frozen=True)
class NameKind:
    """One kind of names.

    Attributes:
        option: The option that accepts the names.
        find: Returns the names with their descriptions, given the Housekeep folder or None.
    """

    option: str
    find: Callable[[Path | None], Descriptions]


def bundled_files(kind: str) -> dict[str, Path]:
    """Return the bundled YAML files of ``people``, ``prompts`` or ``configs``, by name."""
    if kind == "configs":
        return packaged_configs()
    folders = {"people": (*_HOUSE_PEOPLE, _KITCHEN_PEOPLE), "prompts": ("prompts",)}[kind]
    return {name: file for folder in folders for name, file in _yaml_files(folder).items()}


def find_people(data: Path | None = None, system: str | None = None) -> Descriptions:
    """Return the people that ``--person`` accepts.

    Args:
        data: Housekeep folder, or None.
        system: System in which they live, or None for all systems.
    """
    if system is not None:
        return _PEOPLE[system](data) if system in _PEOPLE else {}
    found: dict[str, list[str]] = {}
    for each, find in _PEOPLE.items():
        for name, about in find(data).items():
            found.setdefault(name, []).append(about if each == "personalize" else f"--system {each}: {about}")
    return {name: "; ".join(abouts) for name, abouts in found.items()}


def _house_people(data: Path | None) -> Descriptions:
    """Return the bundled people whose preferences can count in houses, and the annotators of the Housekeep data."""
    found = {"majority": "what most people want, in any house", **_describe_people(*_HOUSE_PEOPLE)}
    if data is not None:
        from housewise.worlds.house.housekeep.housekeep_data import HousekeepData

        about = "in the scenes of the Housekeep data: one of its annotators"
        found |= dict.fromkeys(HousekeepData(data).annotators(), about)
    return found


def _describe_people(*folders: str) -> Descriptions:
    files = {name: file for folder in folders for name, file in _yaml_files(folder).items()}
    return {name: str(_read_yaml(file).get("about", "")) for name, file in files.items()}


_PEOPLE: dict[str, Callable[[Path | None], Descriptions]] = {
    "personalize": _house_people,
    "clipr": lambda _: {
        "cooperative": "answers questions as their preferences are",
        "adversarial": "contradicts, changes their mind, and is vague",
    },
    "adapt": lambda _: _describe_people(_KITCHEN_PEOPLE),
    "basis": lambda _: {
        "bob": "scripted: acknowledges advice now and then, and asks which one is meant",
        "alice": "scripted: speaks only when she has to",
        "model": "a chat model acts (models.person)",
        "terminal": "you act",
    },
    "stars": lambda _: {
        "simulated": "confirms goals that the task wants",
        "terminal": "you answer",
        "model": "a chat model answers (models.person)",
    },
}


def _scenes(data: Path | None) -> Descriptions:
    """Return the scenes of the Housekeep data that have episodes."""
    if data is None:
        return {}
    from housewise.worlds.house.housekeep.housekeep_data import HousekeepData

    reader, sets = HousekeepData(data), _read_task_sets()
    return {
        name: f"task sets: {', '.join(sets[name])}" if name in sets else "no task sets: name episodes by their ids"
        for name in reader.scenes()
        if reader.has_episodes(name)
    }


def _task_sets(_: Path | None) -> Descriptions:
    """Return the named lists of episodes, with the scenes that have them."""
    found: dict[str, list[str]] = {}
    for scene, sets in _read_task_sets().items():
        for name, episodes in sets.items():
            found.setdefault(name, []).append(f"{scene} {len(episodes)}")
    return {name: f"episodes of {', '.join(scenes)}" for name, scenes in found.items()}


def _adapters(_: Path | None) -> Descriptions:
    from housewise.language.adapters import bundled_adapters

    return {name: _read_heading(folder / "README.md") for name, folder in bundled_adapters().items()}


def _variants(_: Path | None) -> Descriptions:
    from housewise.worlds.lab.variants import BY_NAME

    return {name: variant.mission for name, variant in BY_NAME.items()}


def _describe_files(kind: str) -> Callable[[Path | None], Descriptions]:
    """Return a function that describes bundled files by the comment at their beginning."""
    return lambda _: {
        name: _first_sentence(file.read_text(encoding="utf-8")) for name, file in bundled_files(kind).items()
    }


def _describe_plugins(group: str, own: Descriptions) -> Callable[[Path | None], Descriptions]:
    """Return a function that describes the plug-ins of a group, those of this package first."""
    return lambda _: own | {name: _OTHER_PACKAGE for name in plugins.plugin_names(group) if name not in own}


NAME_KINDS: dict[str, NameKind] = {
    "systems": NameKind("--system", _describe_plugins(plugins.SYSTEMS, SYSTEMS)),
    "planners": NameKind("--planner", _describe_plugins(plugins.PLANNERS, PLANNERS)),
    "wrappers": NameKind("wrappers=", _describe_plugins(plugins.WRAPPERS, WRAPPERS)),
    "simulators": NameKind("--simulator", _describe_plugins(plugins.SIMULATORS, SIMULATORS)),
    "people": NameKind("--person", find_people),
    "scenes": NameKind("--scene", _scenes),
    "task-sets": NameKind("--episodes", _task_sets),
    "variants": NameKind("play lab, and variant= of --system basis", _variants),
    "adapters": NameKind("--adapter", _adapters),
    "prompts": NameKind("prompt=", _describe_files("prompts")),
    "configs": NameKind("--config", _describe_files("configs")),
    "trackers": NameKind("--log-to", _describe_plugins(plugins.TRACKERS, TRACKERS)),
}


def complete_from(kind: str) -> Callable[[str], list[tuple[str, str]]]:
    """Return the shell completion of an option that accepts names of a kind (a key of ``NAME_KINDS``)."""

    def complete(incomplete: str) -> list[tuple[str, str]]:
        data = os.environ.get("HOUSEKEEP_DATA")
        try:
            found = NAME_KINDS[kind].find(Path(data) if data else None)
        except Exception:  # A shell cannot show what is wrong with the data.
            return []
        return [(name, about) for name, about in found.items() if name.startswith(incomplete)]

    return complete


def _yaml_files(folder: str) -> dict[str, Path]:
    root = Path(str(resources.files("housewise.housekeep_configs"))) / folder
    # People of the kitchen have a number in their files' names, as in p07_nalini.yaml.
    files = {re.sub(r"^p\d+_", "", file.stem): file for file in find_paths(root, "*.yaml")}
    return {name: file for name, file in files.items() if not name.startswith("_")}


def _read_yaml(file: Path) -> dict[str, Any]:
    from housewise.core.yaml_files import read_yaml

    content: dict[str, Any] = read_yaml(file)
    return content


def _read_task_sets() -> dict[str, dict[str, list[int]]]:
    sets: dict[str, dict[str, list[int]]] = _read_yaml(_yaml_files("task_sets")["llm_personalize"])["scenes"]
    return sets


def _first_sentence(text: str) -> str:
    """Return the first sentence of the comment that begins a file. Indented lines of the comment are examples."""
    comment = re.match(r"(?:# (?! ).*\n)*", text)
    words = " ".join(line.removeprefix("# ") for line in comment.group().splitlines()) if comment else ""
    return re.split(r"\.(?=\s|$)", words)[0].rstrip(":")


def _read_heading(readme: Path) -> str:
    lines = readme.read_text(encoding="utf-8").splitlines() if readme.is_file() else []
    return next((line.removeprefix("# ") for line in lines if line.startswith("# ")), "")
