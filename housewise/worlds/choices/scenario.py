"""Single decisions: several actions satisfy a request, and a person prefers one of them.

Observation space: A ``Situation`` (environment, request, numbered candidate actions).
Action space: The number of a candidate, from 0.
Score: 1 for the preferred action, otherwise 0. Whether it satisfies the request is counted separately.
Source: CLIPR (arXiv 2605.12682), section 3.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Literal

from housewise.core.errors import DataError
from housewise.language.words import flatten_if_broken
from housewise.worlds.house.preferences import HousePreferences

Tier = Literal["training", "in distribution", "out of distribution"]


@dataclass(frozen=True)
class Situation:
    """The part of a scenario that methods see. Every text is one line.

    Attributes:
        id: Name of the scenario.
        environment: Things in the environment.
        request: The request in the person's words.
        actions: The candidates, in the order in which they are shown.
    """

    id: str
    environment: tuple[str, ...]
    request: str
    actions: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "environment", tuple(map(flatten_if_broken, self.environment)))
        object.__setattr__(self, "request", flatten_if_broken(self.request))
        object.__setattr__(self, "actions", tuple(map(flatten_if_broken, self.actions)))


@dataclass(frozen=True)
class Scenario:
    """A situation with its labels.

    Attributes:
        situation: What methods see.
        satisfying: Numbers of the actions that satisfy the request; at least two.
        preferred: Number of the action that the person prefers; one of ``satisfying``.
        tier: Its distance from the examples that methods learn from.
        about: Subject of the decision (a family of rules, a dimension). It is used in tables and hidden from methods.
        label_from: Origin of the label ``preferred``, in data sets with two origins.
        annotated: Number of the action that the data set's annotator preferred, or None if it is unknown.

    Raises:
        DataError: The actions or labels are inconsistent.
    """

    situation: Situation
    satisfying: frozenset[int]
    preferred: int
    tier: Tier = "in distribution"
    about: str = ""
    label_from: str = ""
    annotated: int | None = None

    def __post_init__(self) -> None:
        actions, name = self.situation.actions, self.situation.id
        if len(actions) < 2:
            raise DataError(f"scenario {name}: has {len(actions)} candidate actions; at least two are needed")
        if len(set(actions)) < len(actions):
            raise DataError(f"scenario {name}: a candidate action stands there twice; keep one of them")
        if not self.satisfying <= set(range(len(actions))):
            raise DataError(f"scenario {name}: satisfying names an action that is not there; count actions from 0")
        if len(self.satisfying) < 2:
            raise DataError(
                f"scenario {name}: {len(self.satisfying)} of its actions satisfy the request; preferences decide only "
                "where two or more do: leave it out or add one"
            )
        if self.preferred not in self.satisfying:
            raise DataError(f"scenario {name}: the preferred action does not satisfy the request; mend its label")

    @property
    def id(self) -> str:
        """Name of the scenario."""
        return self.situation.id


@dataclass(frozen=True)
class ChoiceSet:
    """A data set of single decisions.

    Attributes:
        name: Its name in tables.
        examples: Scenarios that methods may see in advance. Only some methods see their labels.
        test: Scenarios that are scored.
        knowledge: Labelled scenarios for retrieval (Introspective Planning); empty to use the examples.
        left_out: Number of rows of the source that were not used, by reason.
        person: The person whose house preferences are scored, or None for a set with a profile of its name.
    """

    name: str
    examples: tuple[Scenario, ...]
    test: tuple[Scenario, ...]
    knowledge: tuple[Scenario, ...] = ()
    left_out: tuple[tuple[str, int], ...] = ()
    person: HousePreferences | None = field(default=None, compare=False)


def presentation_order(scenario: str, model: str, seed: int, actions: int) -> list[int]:
    """Return the order in which candidates are shown: ``order[position]`` is the number of a candidate.

    It depends on the scenario, the model and the seed only.
    """
    order = list(range(actions))
    random_from_text(f"{scenario}\0{model}\0{seed}").shuffle(order)
    return order


def random_from_text(text: str) -> random.Random:
    """Return a random number generator that is seeded with a text, in the same way in every process."""
    return random.Random(int.from_bytes(sha256(text.encode()).digest()[:8], "big"))


def sample_scenarios(scenarios: Sequence[Scenario], count: int, seed: int) -> tuple[Scenario, ...]:
    """Draw scenarios about different subjects, as far as possible.

    Raises:
        DataError: There are fewer than ``count``.
    """
    if len(scenarios) < count:
        raise DataError(f"{count} example scenarios are needed, {len(scenarios)} are there; give more scenarios")
    order = random.Random(seed).sample(range(len(scenarios)), len(scenarios))
    seen: dict[str, int] = {}
    rounds = []
    for place, index in enumerate(order):
        about = scenarios[index].about
        rounds.append((seen.get(about, 0), place, index))
        seen[about] = seen.get(about, 0) + 1
    return tuple(scenarios[index] for _, _, index in sorted(rounds)[:count])


def select_test(scenarios: Sequence[Scenario], examples: Sequence[Scenario]) -> tuple[Scenario, ...]:
    """Return the scenarios that are no examples. Those about the subject of an example are in distribution."""
    seen, known = {example.id for example in examples}, {example.about for example in examples}
    return tuple(
        replace(scenario, tier="in distribution" if scenario.about in known else "out of distribution")
        for scenario in scenarios
        if scenario.id not in seen
    )
