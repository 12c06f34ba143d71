"""Introspective Planning's mobile manipulation scenes, from a user's own copy (Liang et al., NeurIPS 2024).

A file is as the authors published it (see introplan_text.py), or has one scene a line (JSON). The ambiguous ones have
``single_decision``: options, which of them satisfy the request, and the one that a person with fixed orders of
preference wants. ``label_from`` says whether that follows from CLIPR's table 7 or from a completion of it; both are
kept apart. The annotator's own intent is kept beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from housewise.core.errors import DataError
from housewise.core.text_files import read_text
from housewise.worlds.choices.files import MAX_FILE_BYTES, read_json_lines
from housewise.worlds.choices.introplan_scene import IntroplanScene
from housewise.worlds.choices.introplan_text import is_introplan_text, read_introplan_text
from housewise.worlds.choices.scenario import ChoiceSet, Scenario, sample_scenarios

SOURCE = "Introspective Planning's mobile manipulation scenes"


def read_introplan_choices(path: Path, count: int, seed: int) -> ChoiceSet:
    """The ambiguous scenes of a file.

    Args:
        path: the file.
        count: examples to draw from the knowledge scenes; test scenes that repeat one of them are left out.
        seed: of the draw.

    Raises:
        DataError: it is not such a file, or it has too few scenes. A scene with one or no right option is left out, and
            ``left_out`` names it.
    """
    scenes = [scene for scene in read_introplan_scenes(path) if scene.single_decision is not None]
    repeated = {scene.id: scene.same_as for scene in scenes}
    try:
        test, faults = _scenarios([scene for scene in scenes if scene.fold == "test"], "in distribution")
        knowledge, others = _scenarios([scene for scene in scenes if scene.fold == "knowledge"], "training")
        if not test:
            raise DataError(f"has no ambiguous test scene that can be used (fold test, single_decision); give {SOURCE}")
        # The authors' knowledge scenes are in a file of their own, which may not be at hand.
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
    """Those that can be used, and for each of the others a line that says why not."""
    scenarios, faults = [], []
    for scene in scenes:
        try:
            scenarios.append(scene.scenario(tier))
        except DataError as error:
            faults.append(str(error))
    return scenarios, faults


def repetition_keys(path: Path) -> dict[str, str]:
    """For each scene the key that is equal for scenes which repeat each other."""
    return {scene.id: scene.same_as for scene in read_introplan_scenes(path)}


def read_introplan_scenes(path: Path) -> list[IntroplanScene]:
    """Every scene of a file.

    Raises:
        DataError: it is not such a file; the message names the line.
    """
    if is_introplan_text(read_text(path, f"give {SOURCE}", MAX_FILE_BYTES)):
        return read_introplan_text(path)
    return read_json_lines(path, IntroplanScene, SOURCE)
