"""Introspective Planning's mobile manipulation scenes, from a user's own copy (Liang et al., NeurIPS 2024).

A file has one scene a line (JSON). The ambiguous ones have ``single_decision``: options, which of them satisfy the
request, and the one that a person with fixed orders of preference wants. ``label_from`` says whether that follows from
CLIPR's table 7 or from a completion of it; both are kept apart. The annotator's own intent is kept beside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from housewise.core.errors import DataError
from housewise.worlds.choices.files import Row, read_rows
from housewise.worlds.choices.scenario import ChoiceSet, Scenario, Situation, sample

SOURCE = "Introspective Planning's mobile manipulation scenes"

_BESIDE = re.compile(r"\b(in|into|on|beside|near|next to|by)\b(?: the)?", re.IGNORECASE)


class Placement(Row):
    """Something brought (no location) or put somewhere."""

    object: str
    location: str | None = None

    def action(self, request: str) -> str:
        """In words, with the request's own preposition."""
        if self.location is None:
            return f"bring the {self.object}"
        found = _BESIDE.search(request)
        where = found.group(1).lower() if found else "at"
        return f"put the {self.object} {where} the {self.location}"


class Option(Placement):
    """A placement that can be chosen."""

    satisfies_request: bool


class SingleDecision(Row):
    """An ambiguous scene as a choice between options."""

    options: tuple[Option, ...]
    request_type: str
    preferred: Placement | None
    label_from: str


class Scene(Row):
    """One line of the file."""

    id: str
    fold: Literal["test", "knowledge"]
    objects: tuple[str, ...]
    request: str
    intent_object: tuple[str, ...] = ()
    intent_location: tuple[str, ...] = ()
    single_decision: SingleDecision | None
    same_as: str

    def scenario(self, tier: Literal["training", "in distribution"]) -> Scenario:
        """The scene as a scenario.

        Raises:
            DataError: its labels contradict its options, or nothing is left to decide.
        """
        decision = self.single_decision
        if decision is None:
            raise DataError(f"scene {self.id}: is not ambiguous; only scenes with single_decision are choices")
        actions = tuple(option.action(self.request) for option in decision.options)
        wanted = decision.preferred.action(self.request) if decision.preferred else None
        if wanted not in actions:
            raise DataError(f"scene {self.id}: single_decision.preferred is not one of its options; mend the label")
        satisfying = frozenset(i for i, option in enumerate(decision.options) if option.satisfies_request)
        situation = Situation(self.id, self.objects, self.request, actions)
        return Scenario(
            situation,
            satisfying,
            actions.index(wanted),
            tier,
            decision.request_type,
            decision.label_from,
            self._annotated(decision),
        )

    def _annotated(self, decision: SingleDecision) -> int | None:
        """The option that the data set's own annotator marked, where it is exactly one."""
        marked = [
            number
            for number, option in enumerate(decision.options)
            if option.object in self.intent_object
            and (option.location is None or option.location in self.intent_location)
        ]
        return marked[0] if len(marked) == 1 else None


def read_introplan(path: Path, count: int, seed: int) -> ChoiceSet:
    """The ambiguous scenes of a file.

    Args:
        path: the file.
        count: examples to draw from the knowledge scenes; test scenes that repeat one of them are left out.
        seed: of the draw.

    Raises:
        DataError: it is not such a file, or it has too few scenes. A scene with one or no right option is left out, and
            ``left_out`` names it.
    """
    scenes = [scene for scene in read_rows(path, Scene, SOURCE) if scene.single_decision is not None]
    repeated = {scene.id: scene.same_as for scene in scenes}
    try:
        test, faults = _scenarios([scene for scene in scenes if scene.fold == "test"], "in distribution")
        knowledge, others = _scenarios([scene for scene in scenes if scene.fold == "knowledge"], "training")
        if not test:
            raise DataError(f"has no ambiguous test scene that can be used (fold test, single_decision); give {SOURCE}")
        examples = sample(knowledge, count, seed)
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
    scenes: Sequence[Scene], tier: Literal["training", "in distribution"]
) -> tuple[list[Scenario], list[str]]:
    """Those that can be used, and for each of the others a line that says why not."""
    scenarios, faults = [], []
    for scene in scenes:
        try:
            scenarios.append(scene.scenario(tier))
        except DataError as error:
            faults.append(str(error))
    return scenarios, faults


def repeats(path: Path) -> dict[str, str]:
    """For each scene the key that is equal for scenes which repeat each other."""
    return {scene.id: scene.same_as for scene in read_rows(path, Scene, SOURCE)}
