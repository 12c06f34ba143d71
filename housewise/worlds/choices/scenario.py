"""Single decisions: a request that several actions satisfy, of which one is what the person prefers.

Observation space: a :class:`Situation` (environment, request, numbered candidate actions).
Action space: the number of one candidate, from 0.
Score: 1 for the preferred action, otherwise 0; whether it satisfies the request is counted beside it.
Source: CLIPR (arXiv 2605.12682), section 3.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

from housewise.core.errors import DataError
from housewise.language.words import flatten_if_broken
from housewise.worlds.house.preferences import Person

Tier = Literal["training", "in distribution", "out of distribution"]


@dataclass(frozen=True)
class Situation:
    """What a method sees of a scenario: never what the person prefers. Every text is one line.

    Attributes:
        id: names the scenario.
        environment: things that are there.
        request: what the person asks for, in their words.
        actions: the candidates, in the order in which they are shown.
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
        situation: what methods see.
        satisfying: numbers of the actions that do what the request says.
        preferred: number of the one that this person wants; one of ``satisfying``.
        tier: how far it is from the examples that methods learn from.
        about: what the decision is about (a family of rules, a dimension); for tables, never shown.
        label_from: where ``preferred`` comes from, where a data set has two sources.
        annotated: number of the action that the data set's own annotator wanted, or None where unknown.

    Raises:
        DataError: fewer than two actions, two alike, none or only one that satisfies the request, or a preferred one
            that does not.
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
        """Names the scenario."""
        return self.situation.id


@dataclass(frozen=True)
class ChoiceSet:
    """A data set of single decisions.

    Attributes:
        name: what tables call it.
        examples: the small set that methods may look at beforehand; their labels only where a method is given them.
        test: what is scored.
        knowledge: labelled scenarios that a method may retrieve from (Introspective Planning); () for the examples.
        left_out: how many of the source's rows were not taken, by reason.
        person: whose idea of order is scored, where a set is one person's; None where it has a profile of its name.
    """

    name: str
    examples: tuple[Scenario, ...]
    test: tuple[Scenario, ...]
    knowledge: tuple[Scenario, ...] = ()
    left_out: tuple[tuple[str, int], ...] = ()
    person: Person | None = field(default=None, compare=False)


def presentation_order(scenario: str, model: str, seed: int, actions: int) -> list[int]:
    """The order in which the candidates are shown: ``order[place]`` is the candidate's own number.

    The same for the same scenario, model and seed, whatever else is asked.
    """
    digest = sha256(f"{scenario}\0{model}\0{seed}".encode()).digest()
    order = list(range(actions))
    random.Random(int.from_bytes(digest[:8], "big")).shuffle(order)
    return order


def sample_scenarios(scenarios: Sequence[Scenario], count: int, seed: int) -> tuple[Scenario, ...]:
    """So many scenarios drawn by a seed, each about something else as long as there is something else.

    Raises:
        DataError: there are fewer.
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
