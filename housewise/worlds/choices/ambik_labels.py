"""Labels AmbiK's tasks for one unified person, because its annotators contradict each other.

Families of rules decide. A task with options is decided by the stable families in the order of their file, where
families of specific things come before those of materials: the first family that applies to some options selects those
that come first in its order, and the next families decide between them. A task without options gets some: the
preference of the first contextual family that applies to its request, and distractors.
Source: CLIPR, appendix C.2 and algorithm 4.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError
from housewise.core.validation import StrictModel, read_model
from housewise.language.words import content_words, normalize_letters
from housewise.worlds.choices.ambik import AmbikTask, intended_options, read_ambik
from housewise.worlds.choices.scenario import (
    ChoiceSet,
    Scenario,
    Situation,
    random_from_text,
    sample_scenarios,
    select_test,
)

FAMILIES_FILE = CONFIGS / "clipr" / "ambik_person.yaml"


class StableFamily(StrictModel):
    """A family that applies to options, and the person's order of preference.

    Attributes:
        name: Its name.
        options: Regular expression of the options to which it applies.
        order: Regular expressions, most preferred first.
    """

    name: str
    options: re.Pattern[str]
    order: Annotated[tuple[re.Pattern[str], ...], Field(min_length=1)]

    def best_options(self, options: Sequence[str], among: Sequence[int]) -> list[int]:
        """Return the numbers of the most preferred options, or all numbers if the family does not apply."""
        belonging = [number for number in among if self.options.search(normalize_letters(options[number]))]
        for each in self.order if belonging else ():
            first = [number for number in belonging if each.search(normalize_letters(options[number]))]
            if first:
                return first
        return list(among)


class ContextualFamily(StrictModel):
    """A family that applies to requests.

    Attributes:
        name: Its name.
        request: Regular expression of the requests to which it applies.
        prefer: What the person prefers.
        others: Distractors.
    """

    name: str
    request: re.Pattern[str]
    prefer: str
    others: Annotated[tuple[str, ...], Field(min_length=2)]


class UnifiedPerson(StrictModel):
    """All families of rules, in the order in which they are applied."""

    stable: tuple[StableFamily, ...]
    contextual: tuple[ContextualFamily, ...]

    def choose_option(self, options: Sequence[str]) -> tuple[int, str] | None:
        """Return the preferred option and the first family that decided, or None if no single option is left."""
        left, decided_by = list(range(len(options))), ""
        for family in self.stable:
            best = family.best_options(options, left)
            if len(best) < len(left):
                left, decided_by = best, decided_by or family.name
            if len(left) == 1:
                return left[0], decided_by
        return None


def load_unified_person() -> UnifiedPerson:
    """Read the families of rules of the bundled person."""
    return read_model(FAMILIES_FILE, UnifiedPerson)


def label_task(task: AmbikTask, person: UnifiedPerson) -> Scenario | str:
    """Return a task as a scenario with the person's label, or the reason why it cannot be labelled.

    Existing options are kept, without repetitions. Injected options leave out what the request already names, and are
    added to the environment if they are missing there.
    """
    if len(task.variants) > 1:
        return _with_options(task, person)
    if task.about_amount_or_procedure:
        return "about an amount or a procedure"
    asked = normalize_letters(task.request)
    for family in person.contextual:
        if family.request.search(asked) and not _is_named(family.prefer, asked):
            return _with_injected(task, family, asked)
    return "no family has a say"


def _with_options(task: AmbikTask, person: UnifiedPerson) -> Scenario | str:
    options = tuple(dict.fromkeys(option.strip() for option in task.variants))
    found = person.choose_option(options) if len(options) > 1 else None
    if found is None:
        return "no family tells its options apart"
    intended = intended_options(task.model_copy(update={"variants": options}))
    annotated = next(iter(intended)) if len(intended) == 1 else None
    situation, satisfying = Situation(task.id, task.environment, task.request, options), frozenset(range(len(options)))
    return Scenario(situation, satisfying, found[0], about=found[1], label_from="stable", annotated=annotated)


def _with_injected(task: AmbikTask, family: ContextualFamily, asked: str) -> Scenario | str:
    others = [other for other in family.others if not _is_named(other, asked)]
    if len(others) < 2:
        return "too few distractors are left"
    generator = random_from_text(task.id)
    options = [family.prefer, *generator.sample(others, min(len(others), generator.choice((2, 3))))]
    generator.shuffle(options)
    there = " ".join(normalize_letters(thing) for thing in task.environment)
    missing = tuple(option for option in options if normalize_letters(option) not in there)
    situation = Situation(task.id, (*task.environment, *missing), task.request, tuple(options))
    satisfying, preferred = frozenset(range(len(options))), options.index(family.prefer)
    return Scenario(situation, satisfying, preferred, about=family.name, label_from="contextual")


def _is_named(item: str, request: str) -> bool:
    return set(content_words(item)) <= set(content_words(request))


def read_ambik_choices(path: Path, count: int, seed: int) -> ChoiceSet:
    """Read AmbiK's tasks with the labels of one person.

    Args:
        path: A user's own copy.
        count: Number of examples to draw. The other tasks are the test. A test task is in distribution if an example is
            about the same family.
        seed: Seed of the draw.

    Raises:
        DataError: The file is invalid, or too few of its tasks have a label.
    """
    person = load_unified_person()
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
    return ChoiceSet("ambik", examples, select_test(taken, examples), (), tuple(sorted(left_out.items())))
