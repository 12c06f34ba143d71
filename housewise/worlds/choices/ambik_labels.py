"""One person for AmbiK's tasks in place of its contradictory annotators (CLIPR, appendix C.2 and algorithm 4).

Families of rules decide. For a task with options the stable ones are asked in the order of their file, which puts
specific things before the generic material: the first family that some of the options belong to picks the one that
comes first in its order; where several are equal, the next families decide between these. A task without options gets
some: what the first contextual family that its request belongs to prefers, and distractors. The request stays.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, field_validator

from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError
from housewise.core.validation import read_model
from housewise.language.words import content_words, normalize_letters
from housewise.worlds.choices.ambik import AmbikTask, intended_options, read_ambik
from housewise.worlds.choices.files import StrictSettings
from housewise.worlds.choices.scenario import ChoiceSet, Scenario, Situation, Tier, sample_scenarios

FAMILIES_FILE = CONFIGS / "clipr" / "ambik_person.yaml"


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is not a regular expression ({error})") from error
    return text


class StableFamily(StrictSettings):
    """A family that is recognised by a task's options, and the order of what the person wants of it."""

    name: str
    options: str
    order: Annotated[tuple[str, ...], Field(min_length=1)]

    _options = field_validator("options")(_pattern)

    @field_validator("order")
    @classmethod
    def _order(cls, order: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_pattern(each) for each in order)

    @cached_property
    def _compiled(self) -> tuple[re.Pattern[str], tuple[re.Pattern[str], ...]]:
        return re.compile(self.options), tuple(re.compile(each) for each in self.order)

    def best_options(self, options: Sequence[str], among: Sequence[int]) -> list[int]:
        """Those of some options that come first in the order; all of them where the family has no say."""
        family, order = self._compiled
        belonging = [number for number in among if family.search(normalize_letters(options[number]))]
        for each in order if belonging else ():
            first = [number for number in belonging if each.search(normalize_letters(options[number]))]
            if first:
                return first
        return list(among)


class ContextualFamily(StrictSettings):
    """A family that is recognised by a task's request, what the person wants of it, and what else there is."""

    name: str
    request: str
    prefer: str
    others: Annotated[tuple[str, ...], Field(min_length=2)]

    _request = field_validator("request")(_pattern)


class UnifiedPerson(StrictSettings):
    """Every family, in the order in which they are asked."""

    stable: tuple[StableFamily, ...]
    contextual: tuple[ContextualFamily, ...]

    def choose_option(self, options: Sequence[str]) -> tuple[int, str] | None:
        """The option that this person wants and the family that said so first; None where none tells them apart."""
        left, said_by = list(range(len(options))), ""
        for family in self.stable:
            best = family.best_options(options, left)
            if len(best) < len(left):
                left, said_by = best, said_by or family.name
            if len(left) == 1:
                return left[0], said_by
        return None


def load_unified_person(path: Path = FAMILIES_FILE) -> UnifiedPerson:
    """Read families.

    Raises:
        DataError: the file is missing or wrong; the message names the field.
    """
    return read_model(path, UnifiedPerson)


def label_task(task: AmbikTask, person: UnifiedPerson, tier: Tier = "in distribution") -> Scenario | str:
    """A task with this person's label, or why it can't have one.

    Options that it has are kept, without repeats; injected ones leave out what the request names already. What is
    wanted or distracts and is not in the environment is appended to it.
    """
    if len(task.variants) > 1:
        return _with_options(task, person, tier)
    if task.about_amount_or_procedure:
        return "about an amount or a procedure"
    asked = normalize_letters(task.request)
    for family in person.contextual:
        if re.search(family.request, asked) and not _named(family.prefer, asked):
            return _with_injected(task, family, asked, tier)
    return "no family has a say"


def _with_options(task: AmbikTask, person: UnifiedPerson, tier: Tier) -> Scenario | str:
    options = tuple(dict.fromkeys(option.strip() for option in task.variants))
    found = person.choose_option(options) if len(options) > 1 else None
    if found is None:
        return "no family tells its options apart"
    intended = intended_options(task.model_copy(update={"variants": options}))
    annotated = next(iter(intended)) if len(intended) == 1 else None
    return Scenario(
        Situation(task.id, task.environment, task.request, options),
        frozenset(range(len(options))),
        found[0],
        tier,
        found[1],
        "stable",
        annotated,
    )


def _with_injected(task: AmbikTask, family: ContextualFamily, asked: str, tier: Tier) -> Scenario | str:
    others = [other for other in family.others if not _named(other, asked)]
    if len(others) < 2:
        return "too few distractors are left"
    generator = random.Random(int.from_bytes(sha256(task.id.encode()).digest()[:8], "big"))
    options = [family.prefer, *generator.sample(others, min(len(others), generator.choice((2, 3))))]
    generator.shuffle(options)
    there = " ".join(normalize_letters(thing) for thing in task.environment)
    missing = tuple(option for option in options if normalize_letters(option) not in there)
    return Scenario(
        Situation(task.id, (*task.environment, *missing), task.request, tuple(options)),
        frozenset(range(len(options))),
        options.index(family.prefer),
        tier,
        family.name,
        "contextual",
    )


def _named(item: str, request: str) -> bool:
    return set(content_words(item)) <= set(content_words(request))


def read_ambik_choices(path: Path, count: int, seed: int, person: UnifiedPerson | None = None) -> ChoiceSet:
    """AmbiK's tasks with one person's labels.

    Args:
        path: a user's own copy.
        count: examples to draw; the others are the test. A test task is in distribution where an example is about the
            same family, otherwise out of it: no example says anything of what is wanted there.
        seed: of the draw.
        person: whose labels; None takes the one that comes along.

    Raises:
        DataError: it is not such a file, or too few of its tasks have a label.
    """
    person = person or load_unified_person()
    taken: list[Scenario] = []
    left_out: Counter[str] = Counter()
    for task in read_ambik(path):
        scenario: Any = label_task(task, person)
        if isinstance(scenario, str):
            left_out[scenario] += 1
        else:
            taken.append(scenario)
    try:
        examples = sample_scenarios(taken, count, seed)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    shown, known = {each.id for each in examples}, {each.about for each in examples}
    test = tuple(_tier(each, known) for each in taken if each.id not in shown)
    return ChoiceSet("ambik", examples, test, (), tuple(sorted(left_out.items())))


def _tier(scenario: Scenario, known: set[str]) -> Scenario:
    return replace(scenario, tier="in distribution" if scenario.about in known else "out of distribution")
