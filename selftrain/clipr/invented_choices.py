"""Invented people and their choices by rules: the examples from which a model learns to follow rules.

An invented person values every option by a digest, always in the same way, so that only the rules show what they want.
One rule of each choice decides it; the other rules are of the same person.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from housewise.agent.clipr.finetuned_chooser import MAX_PROMPT_RULES, choice_request, format_choice_reply
from housewise.agent.clipr.local_steps.contrasts import distinctive_words
from housewise.agent.clipr.prompt_templates import CliprPrompts
from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError
from housewise.core.validation import StrictModel, read_model
from housewise.language.words import content_words, normalize_letters
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.worlds.choices.scenario import Scenario, Situation

RECIPE = CONFIGS / "clipr" / "learned.yaml"
_MAX_VALUES = 5
"""Largest number of values in one rule."""
_MAX_REQUEST_CHARACTERS = 160
"""Longest request that a rule repeats; for a longer one it names the kind of choice."""


class Recipe(StrictModel):
    """How people are invented, and how a model is trained; the bundled file explains every key.

    Attributes:
        wordings: Templates of rules.
        rules: Smallest and largest number of rules in a prompt.
        held: Share of scenarios that are held out.
        training: Settings of the training.
    """

    wordings: Annotated[tuple[str, ...], Field(min_length=1)]
    rules: tuple[int, int] = (3, MAX_PROMPT_RULES)
    held: Annotated[float, Field(gt=0, lt=1)] = 0.3
    training: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_rules(self) -> Recipe:
        if not 1 <= self.rules[0] <= self.rules[1] <= MAX_PROMPT_RULES:
            raise ValueError(f"rules: fewest and most, from 1 to {MAX_PROMPT_RULES}")
        return self


def read_recipe(path: Path = RECIPE) -> Recipe:
    """Read a recipe.

    Raises:
        DataError: The file is missing or invalid; the message names the field.
    """
    return read_model(path, Recipe)


@dataclass(frozen=True)
class RuledChoice:
    """A choice that follows from rules.

    Attributes:
        situation: The choice, with its options in the shown order.
        rules: The rules in the shown order.
        deciding: Index of the rule that decides.
        action: Index of the option that the rule asks for.
    """

    situation: Situation
    rules: tuple[str, ...]
    deciding: int
    action: int

    def demonstration(self, prompts: CliprPrompts, number: int) -> EpisodeDemonstration:
        """Return the choice as an example."""
        request = choice_request(prompts, self.situation, self.rules)
        turns = tuple(message.turn for message in request.messages)
        reply = format_choice_reply(self.situation.actions[self.action], self.deciding)
        return EpisodeDemonstration(
            prompt=turns, prefix=request.prefix, reply=reply, scene=self.situation.id, episode=number
        )


class ChoiceGenerator:
    """Generates choices of invented people in scenarios.

    Args:
        scenarios: Scenarios of one or more data sets. Those whose options have the same words are left out.
        recipe: How people are invented.

    Raises:
        DataError: The scenarios are of fewer than two kinds.
    """

    def __init__(self, scenarios: Sequence[Scenario], recipe: Recipe) -> None:
        self.recipe = recipe
        self.scenarios = [scenario for scenario in scenarios if _has_distinct_options(scenario)]
        self._kinds: dict[str, list[Scenario]] = defaultdict(list)
        for scenario in self.scenarios:
            self._kinds[scenario.about].append(scenario)
        if len(self._kinds) < 2:
            raise DataError("choices of two kinds or more are needed to learn which rule applies; give more scenarios")

    def draw(self, person: str, seed: str) -> tuple[Scenario, RuledChoice]:
        """Return a random scenario and a person's choice in it; equal arguments give equal results."""
        rng = random.Random(seed)
        scenario = rng.choice(self.scenarios)
        return scenario, self.apply_rules(scenario, person, rng)

    def apply_rules(self, scenario: Scenario, person: str, rng: random.Random) -> RuledChoice:
        """Return a person's choice in a scenario, with options and rules in random order."""
        order = rng.sample(range(len(scenario.situation.actions)), len(scenario.situation.actions))
        right, best = self._rule(scenario, person, rng)
        kinds = [kind for kind in self._kinds if kind != scenario.about]
        number = rng.randint(*self.recipe.rules) - 1
        about = rng.sample(kinds, min(number, len(kinds)))
        others = [self._rule(rng.choice(self._kinds[kind]), person, rng)[0] for kind in about]
        rules = [right, *(rule for rule in dict.fromkeys(others) if rule != right)]
        rng.shuffle(rules)
        situation = scenario.situation
        shown = Situation(
            situation.id, situation.environment, situation.request, tuple(situation.actions[i] for i in order)
        )
        return RuledChoice(shown, tuple(rules), rules.index(right), order.index(best))

    def _rule(self, scenario: Scenario, person: str, rng: random.Random) -> tuple[str, int]:
        """Return a person's rule for the kind of a scenario, and the index of the option they want in it."""
        values = distinctive_words(scenario.situation.actions)
        own = sorted(scenario.satisfying, key=lambda number: -_value(person, scenario.about, values[number]))
        said = [values[number] for number in own]
        wording = rng.choice(self.recipe.wordings)
        if "{order}" in wording:
            said = self._with_others(said, scenario, person, rng)
        first, *rest = said
        order = said[:-1] if "{last}" in wording else said
        words = {"order": ", then ".join(order), "first": first, "rest": ", ".join(rest), "last": said[-1]}
        request = scenario.situation.request.rstrip(" .!?")
        when = (
            scenario.about
            if (scenario.about and rng.random() < 0.5) or len(request) > _MAX_REQUEST_CHARACTERS
            else request
        )
        return wording.format(when=when, **words), own[0]

    def _with_others(self, own: list[str], scenario: Scenario, person: str, rng: random.Random) -> list[str]:
        """Return the scenario's own values and some of another scenario of its kind, best first."""
        other = rng.choice(self._kinds[scenario.about])
        values = distinctive_words(other.situation.actions)
        there = {_words(value) for value in own}
        more = [values[number] for number in sorted(other.satisfying) if _words(values[number]) not in there]
        several = [*own, *more[: max(0, _MAX_VALUES - len(own))]]
        return sorted(several, key=lambda value: -_value(person, scenario.about, value))


def split_scenarios(scenarios: Sequence[Scenario], share: float) -> tuple[list[Scenario], list[Scenario]]:
    """Return scenarios to learn from, and held-out ones; scenarios with equal texts are on the same side."""
    sides: tuple[list[Scenario], list[Scenario]] = ([], [])
    for scenario in scenarios:
        situation = scenario.situation
        key = "\0".join((normalize_letters(situation.request), *sorted(map(normalize_letters, situation.actions))))
        sides[_fraction(key) < share].append(scenario)
    return sides


def _has_distinct_options(scenario: Scenario) -> bool:
    values = distinctive_words(scenario.situation.actions)
    words = [_words(values[number]) for number in scenario.satisfying]
    return len(set(words)) == len(words)


def _value(person: str, about: str, value: str) -> float:
    """Return how much a person likes a value, from 0 to 1."""
    return _fraction(f"{person}\0{about}\0{_words(value)}")


def _words(value: str) -> str:
    return " ".join(sorted(set(content_words(value))))


def _fraction(text: str) -> float:
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big") / float(1 << 64)
