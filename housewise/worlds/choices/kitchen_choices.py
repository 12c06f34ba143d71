"""Reads the bundled kitchen set, and users' sets in its format (``housekeep_configs/clipr/kitchen.yaml``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import Field

from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError
from housewise.core.validation import StrictModel, read_model
from housewise.worlds.choices.scenario import ChoiceSet, Scenario, Situation, Tier

KITCHEN_FILE = CONFIGS / "clipr" / "kitchen.yaml"

_Text = Annotated[str, Field(min_length=1, max_length=2000)]


class _Entry(StrictModel):
    id: _Text
    dimension: _Text
    environment: tuple[_Text, ...]
    request: _Text
    preferred: _Text
    also: tuple[_Text, ...] = ()
    wrong: tuple[_Text, ...] = ()
    kind: str = ""

    def scenario(self, tier: Tier) -> Scenario:
        # Sorted, so that the position of an action says nothing about its label.
        actions = tuple(sorted((self.preferred, *self.also, *self.wrong)))
        satisfying = frozenset(actions.index(action) for action in (self.preferred, *self.also))
        situation = Situation(self.id, self.environment, self.request, actions)
        return Scenario(situation, satisfying, actions.index(self.preferred), tier, self.dimension, self.kind)


class _File(StrictModel):
    name: _Text
    dimensions: dict[str, str]
    training: tuple[_Entry, ...]
    in_distribution: tuple[_Entry, ...] = Field(alias="in distribution")
    out_of_distribution: tuple[_Entry, ...] = Field(alias="out of distribution")


def read_kitchen_choices(path: Path = KITCHEN_FILE) -> ChoiceSet:
    """Read a kitchen set.

    Raises:
        DataError: The file is missing or invalid. The message names the field.
    """
    file = read_model(path, _File)
    try:
        examples = tuple(entry.scenario("training") for entry in file.training)
        test = tuple(entry.scenario("in distribution") for entry in file.in_distribution)
        test += tuple(entry.scenario("out of distribution") for entry in file.out_of_distribution)
        _check_ids([*examples, *test])
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    return ChoiceSet(file.name, examples, test)


def _check_ids(scenarios: Iterable[Scenario]) -> None:
    """Check that no two scenarios have the same id; methods and results go by it."""
    for id, count in Counter(scenario.id for scenario in scenarios).items():
        if count > 1:
            raise DataError(f"scenario {id}: {count} scenarios have this id; give each its own")
