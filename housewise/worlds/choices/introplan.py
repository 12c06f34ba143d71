"""Reads the choices of Introspective Planning from a user's own copy (Liang et al., NeurIPS 2024).

A file is a text as the authors published it (``introplan_text.py``), or JSON Lines with a scene per line. Ambiguous
scenes have a ``single_decision``: options, which of them satisfy the request, and the one that a person with fixed
orders of preference wants. ``label_from`` says whether that follows from CLIPR's table 7 or from our completion of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from housewise.core.errors import DataError
from housewise.core.text_files import read_text
from housewise.worlds.choices.data_files import MAX_FILE_BYTES, read_json_lines
from housewise.worlds.choices.introplan_scene import IntroplanScene
from housewise.worlds.choices.introplan_text import is_introplan_text, read_introplan_text
from housewise.worlds.choices.scenario import ChoiceSet, Scenario, sample_scenarios

SOURCE = "Introspective Planning's mobile manipulation scenes"


def read_introplan_choices(path: Path, count: int, seed: int) -> ChoiceSet:
    """Read the ambiguous scenes of a file. Scenes with invalid labels are named in ``left_out``.

    Args:
        path: The file.
        count: Number of examples to draw from the knowledge scenes. Test scenes that repeat an example are left out.
        seed: Seed of the draw.

    Raises:
        DataError: The file is invalid, or has too few scenes.
    """
    scenes = [scene for scene in read_introplan_scenes(path) if scene.single_decision is not None]
    repeated = {scene.id: scene.same_as for scene in scenes}
    try:
        test, faults = _scenarios([scene for scene in scenes if scene.fold == "test"], "in distribution")
        knowledge, others = _scenarios([scene for scene in scenes if scene.fold == "knowledge"], "training")
        if not test:
            raise DataError(f"has no ambiguous test scene that can be used (fold test, single_decision); give {SOURCE}")
        # The authors' knowledge scenes are in a second file, which may be missing.
        knowledge = knowledge or _scenarios([scene for scene in scenes if scene.fold == "test"], "training")[0]
        examples = sample_scenarios(knowledge, count, seed)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    shown = {repeated[example.id] for example in examples}
    scored = tuple(scenario for scenario in test if repeated[scenario.id] not in shown)
    tested = {repeated[scenario.id] for scenario in scored}
    fresh = tuple(scenario for scenario in knowledge if repeated[scenario.id] not in tested)
    left_out = (
        ("test scenes that repeat an example", len(test) - len(scored)),
        ("knowledge scenes that repeat a test scene", len(knowledge) - len(fresh)),
        *((fault, 1) for fault in (*faults, *others)),
    )
    return ChoiceSet("introplan", examples, scored, fresh, left_out)


def _scenarios(
    scenes: Sequence[IntroplanScene], tier: Literal["training", "in distribution"]
) -> tuple[list[Scenario], list[str]]:
    """Return the valid scenes as scenarios, and a message for each of the others."""
    scenarios, faults = [], []
    for scene in scenes:
        try:
            scenarios.append(scene.scenario(tier))
        except DataError as error:
            faults.append(str(error))
    return scenarios, faults


def read_introplan_scenes(path: Path) -> list[IntroplanScene]:
    """Read all scenes of a file.

    Raises:
        DataError: The file is invalid. The message names the line.
    """
    if is_introplan_text(read_text(path, f"give {SOURCE}", MAX_FILE_BYTES)):
        return read_introplan_text(path)
    return read_json_lines(path, IntroplanScene, SOURCE)
