"""People who do not exist, and choices by their rules: what a model learns to follow rules from.

An invented person values everything that can be chosen by chance, the same thing always alike, so that nothing but the
rules tells what they want. Of each choice one rule says what is wanted there; others of the same person stand by it.
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

from housewise.agent.clipr.chat_steps import CliprPrompts
from housewise.agent.clipr.finetuned_chooser import MAX_PROMPT_RULES, choice_request, format_choice_reply
from housewise.agent.clipr.local_steps.contrasts import distinctive_words
from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError
from housewise.language.words import content_words, normalize_letters
from housewise.selftrain.personalize.pairs import Pair
from housewise.worlds.choices.files import StrictSettings, read_yaml_settings
from housewise.worlds.choices.scenario import Scenario, Situation

RECIPE = CONFIGS / "clipr" / "learned.yaml"
_MOST_VALUES = 5
"""Of one rule: more than anybody says in a sentence."""
_LONGEST_REQUEST = 160
"""Characters of a request that a rule repeats; of a longer one it names what it is about."""


class Recipe(StrictSettings):
    """How people are invented, and a model is taught; every key is explained in its file.

    Attributes:
        wordings: of rules.
        rules: fewest and most in a prompt.
        held: share of scenarios that nothing is learned from.
        training: keys of a training.
    """

    wordings: Annotated[tuple[str, ...], Field(min_length=1)]
    rules: tuple[int, int] = (3, MAX_PROMPT_RULES)
    held: Annotated[float, Field(gt=0, lt=1)] = 0.3
    training: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits(self) -> Recipe:
        if not 1 <= self.rules[0] <= self.rules[1] <= MAX_PROMPT_RULES:
            raise ValueError(f"rules: fewest and most, from 1 to {MAX_PROMPT_RULES}")
        return self


def read_recipe(path: Path = RECIPE) -> Recipe:
    """Read a recipe.

    Raises:
        DataError: the file is missing or wrong; the message names the field.
    """
    return read_yaml_settings(path, Recipe)


@dataclass(frozen=True)
class Ruled:
    """A choice that follows from rules.

    Attributes:
        situation: its options as they are shown.
        rules: in the order in which they are shown.
        deciding: number of the rule that says what is wanted, from 0.
        action: number of the option that it asks for, from 0.
    """

    situation: Situation
    rules: tuple[str, ...]
    deciding: int
    action: int

    def pair(self, prompts: CliprPrompts, number: int) -> Pair:
        """What is learned of it."""
        request = choice_request(prompts, self.situation, self.rules)
        turns = tuple(message.turn for message in request.messages)
        reply = format_choice_reply(self.situation.actions[self.action], self.deciding)
        return Pair(prompt=turns, prefix=request.prefix, reply=reply, scene=self.situation.id, episode=number)


class Choices:
    """Scenarios in which invented people choose.

    Args:
        scenarios: of one data set or several; those whose options do not differ in words are left out.
        recipe: how people are invented.

    Raises:
        DataError: too few are left for rules of several kinds.
    """

    def __init__(self, scenarios: Sequence[Scenario], recipe: Recipe) -> None:
        self.recipe = recipe
        self.scenarios = [scenario for scenario in scenarios if _distinct(scenario)]
        self._kinds: dict[str, list[Scenario]] = defaultdict(list)
        for scenario in self.scenarios:
            self._kinds[scenario.about].append(scenario)
        if len(self._kinds) < 2:
            raise DataError("choices of two kinds or more are needed to learn which rule is meant; give more scenarios")

    def drawn(self, person: str, seed: str) -> tuple[Scenario, Ruled]:
        """A scenario in which a person chooses; the same person and seed draw the same."""
        rng = random.Random(seed)
        scenario = rng.choice(self.scenarios)
        return scenario, self.ruled(scenario, person, rng)

    def ruled(self, scenario: Scenario, person: str, rng: random.Random) -> Ruled:
        """A person's choice in a scenario, its options and rules in an order that is drawn."""
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
        return Ruled(shown, tuple(rules), rules.index(right), order.index(best))

    def _rule(self, scenario: Scenario, person: str, rng: random.Random) -> tuple[str, int]:
        """What a person says of a scenario's kind, and the number of what they want in it."""
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
        when = scenario.about if (scenario.about and rng.random() < 0.5) or len(request) > _LONGEST_REQUEST else request
        return wording.format(when=when, **words), own[0]

    def _with_others(self, own: list[str], scenario: Scenario, person: str, rng: random.Random) -> list[str]:
        """Values of another scenario of the kind among the scenario's own, best first."""
        other = rng.choice(self._kinds[scenario.about])
        values = distinctive_words(other.situation.actions)
        there = {_words(value) for value in own}
        more = [values[number] for number in sorted(other.satisfying) if _words(values[number]) not in there]
        several = [*own, *more[: max(0, _MOST_VALUES - len(own))]]
        return sorted(several, key=lambda value: -_value(person, scenario.about, value))


def held_out(scenarios: Sequence[Scenario], share: float) -> tuple[list[Scenario], list[Scenario]]:
    """Scenarios to learn from, and those to test with: what repeats another one is on its side."""
    sides: tuple[list[Scenario], list[Scenario]] = ([], [])
    for scenario in scenarios:
        situation = scenario.situation
        key = "\0".join((normalize_letters(situation.request), *sorted(map(normalize_letters, situation.actions))))
        sides[_fraction(key) < share].append(scenario)
    return sides


def _distinct(scenario: Scenario) -> bool:
    values = distinctive_words(scenario.situation.actions)
    words = [_words(values[number]) for number in scenario.satisfying]
    return len(set(words)) == len(words)


def _value(person: str, about: str, value: str) -> float:
    """How much a person likes something, 0 to 1."""
    return _fraction(f"{person}\0{about}\0{_words(value)}")


def _words(value: str) -> str:
    return " ".join(sorted(set(content_words(value))))


def _fraction(text: str) -> float:
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big") / float(1 << 64)
