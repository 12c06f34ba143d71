"""What options accept by name, with a line about each: for ``housewise list`` and the shell's completion.

Everything is looked up where it lives: files of the package, and the Housekeep folder where it is named.
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
from housewise.core.files import find_paths

Choices = dict[str, str]
"""A line about each name."""

SYSTEMS: Choices = {
    "adapt": "a robot makes breakfast in a text kitchen for a person whose tastes it finds out (ADAPT)",
    "clipr": "a person answers a few questions, and choices follow the rules that are written down (CLIPR)",
    "personalize": "a robot tidies a house, for people who react to where it puts things (LLM-Personalize)",
    "stars": "a robot learns where things belong, checks what a model says, and asks (STARS)",
}
PLANNERS: Choices = {
    "llm": "asks a language model for some steps, carries them out, and asks again (LLM-Personalize)",
    "sayplan": "lets the model search the scene graph, then plan, then mend the plan (SayPlan)",
    "saycan": "takes the step that the model is likeliest to say, of those that can be done (SayCan)",
    "scripted": "no model: knows what people want; shows what the house and the robot allow",
    "store": "no model: knows what is remembered of the person (--memory), and nothing else",
    "nearest": "the same, and goes by the things nearest in meaning where it knows no place (sentence embeddings)",
    "demonstrator": "no model: visits every room, then moves one thing a plan; what self-training imitates",
    "replay": "no model: says what was said in earlier records (--records)",
}
SIMULATORS: Choices = {
    "raycast": "embedded, runs anywhere: traces rays with Embree on the CPU",
    "habitat": "habitat-sim, which has to be installed (docs/habitat.md)",
}
TRACKERS: Choices = {
    "tensorboard": "event files in tensorboard/ of the run's folder (housewise[tensorboard])",
    "wandb": "Weights & Biases; files in wandb/ where there is no WANDB_API_KEY (housewise[wandb])",
}


@dataclass(frozen=True)
class NameKind:
    """A kind of thing that has names.

    Attributes:
        option: that takes the names.
        find: what there is, given the Housekeep folder or None.
    """

    option: str
    find: Callable[[Path | None], Choices]


def people(data: Path | None) -> Choices:
    """Whose preferences can count: in generated houses our own people's, in the data's scenes the annotators'."""
    own = {
        name: str(_yaml(file).get("about", ""))
        for name, file in (_files("people") | _files("people/opinionated")).items()
    }
    everyone = {"majority": "what most people want, in any house", **own}
    if data is None:
        return everyone
    from housewise.worlds.house.housekeep.reader import HousekeepData

    about = "in Housekeep's scenes: one of those who said where its objects belong"
    return everyone | dict.fromkeys(HousekeepData(data).annotators(), about)


def scenes(data: Path | None) -> Choices:
    """Scenes of the data that have episodes."""
    if data is None:
        return {}
    from housewise.worlds.house.housekeep.reader import HousekeepData

    reader = HousekeepData(data)
    sets = _task_sets()
    return {
        name: f"task sets: {', '.join(sets[name])}" if name in sets else "no task sets: name episodes by their ids"
        for name in reader.scenes()
        if reader.has_episodes(name)
    }


def task_sets(_: Path | None) -> Choices:
    """Named lists of episodes, with the scenes that have them."""
    found: dict[str, list[str]] = {}
    for scene, sets in _task_sets().items():
        for name, episodes in sets.items():
            found.setdefault(name, []).append(f"{scene} {len(episodes)}")
    return {name: f"episodes of {', '.join(where)}" for name, where in found.items()}


def prompts(_: Path | None) -> Choices:
    """What a planner's model reads."""
    return _commented("prompts")


def configs(_: Path | None) -> Choices:
    """Settings that come with the package."""
    return _commented("")


def adapters(_: Path | None) -> Choices:
    """Adapters for the local model that come with the package."""
    from housewise.language.adapters import bundled_adapters

    return {name: _heading(folder / "README.md") for name, folder in bundled_adapters().items()}


def _installed(group: str, ours: Choices) -> Callable[[Path | None], Choices]:
    """What finds the parts of a group, this package's first, whether they can run or not."""

    def find(_: Path | None) -> Choices:
        return ours | {name: "of another package" for name in plugins.plugin_names(group) if name not in ours}

    return find


def trackers(_: Path | None) -> Choices:
    """Where curves can be followed."""
    others = [name for name in plugins.plugin_names(plugins.TRACKERS) if name not in TRACKERS]
    return {**TRACKERS, **dict.fromkeys(others, "of another package")}


KINDS: dict[str, NameKind] = {
    "systems": NameKind("--system", _installed(plugins.SYSTEMS, SYSTEMS)),
    "planners": NameKind("--planner", _installed(plugins.PLANNERS, PLANNERS)),
    "simulators": NameKind("--simulator", _installed(plugins.SIMULATORS, SIMULATORS)),
    "people": NameKind("--person", people),
    "scenes": NameKind("--scene", scenes),
    "task-sets": NameKind("--episodes", task_sets),
    "adapters": NameKind("--adapter", adapters),
    "prompts": NameKind("prompt=", prompts),
    "configs": NameKind("--config", configs),
    "trackers": NameKind("--log-to", trackers),
}


def complete_from(kind: str) -> Callable[[str], list[tuple[str, str]]]:
    """What completes the beginning of a name, for an option."""

    def complete(incomplete: str) -> list[tuple[str, str]]:
        data = os.environ.get("HOUSEKEEP_DATA")
        try:
            found = KINDS[kind].find(Path(data) if data else None)
        except Exception:  # The shell has no place for what is wrong with the data.
            return []
        return [(name, about) for name, about in found.items() if name.startswith(incomplete)]

    return complete


def _files(folder: str) -> dict[str, Path]:
    """The package's YAML files of one folder, by name."""
    root = Path(str(resources.files("housewise.housekeep_configs"))) / folder
    return {file.stem: file for file in find_paths(root, "*.yaml") if not file.name.startswith("_")}


def _yaml(file: Path) -> dict[str, Any]:
    from housewise.core.yaml_files import read_yaml

    content: dict[str, Any] = read_yaml(file)
    return content


def _commented(folder: str) -> Choices:
    return {name: _first_sentence(file.read_text(encoding="utf-8")) for name, file in _files(folder).items()}


def _first_sentence(text: str) -> str:
    """What the comment at the beginning of a file says first; lines that are indented are examples."""
    comment = re.match(r"(?:# (?! ).*\n)*", text)
    words = " ".join(line.removeprefix("# ") for line in comment.group().splitlines()) if comment else ""
    return re.split(r"\.(?=\s|$)", words)[0].rstrip(":")


def _heading(readme: Path) -> str:
    lines = readme.read_text(encoding="utf-8").splitlines() if readme.is_file() else []
    return next((line.removeprefix("# ") for line in lines if line.startswith("# ")), "")


def _task_sets() -> dict[str, dict[str, list[int]]]:
    sets: dict[str, dict[str, list[int]]] = _yaml(_files("task_sets")["llm_personalize"])["scenes"]
    return sets
