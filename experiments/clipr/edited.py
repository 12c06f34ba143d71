"""Rules edited by hand: the choices that depend on an edited rule have to change, and no others.

``housekeep_configs/clipr/edits.yaml`` has twenty rules of one person, a correction of each, and choices that depend on
one of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated

from pydantic import Field

from housewise.agent.clipr.action_choice import Inference
from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.local_steps.local_steps import LocalSteps
from housewise.agent.clipr.memory_notes import recall_rules, rule_notes
from housewise.agent.clipr.rule_editing import Corrections, apply_corrections
from housewise.agent.clipr.rules import Rule, parse_rule
from housewise.core.configs import CONFIGS
from housewise.core.validation import StrictModel, read_model
from housewise.experiments.measured_values import MeasuredValue
from housewise.language.embedder import shared_minilm
from housewise.people.memory import Memory
from housewise.worlds.choices.scenario import Situation

EDITS = CONFIGS / "clipr" / "edits.yaml"
_PERSON, _TOPIC = "somebody", "kitchen"
Chooser = Callable[[Sequence[Situation], tuple[Rule, ...]], list[str | None]]
"""Returns the action that is chosen in each situation by some rules, or None if no reply could be parsed."""


class DependentChoice(StrictModel):
    """A choice that depends on a rule.

    Attributes:
        request: The request.
        before: Preferred action by the original rule.
        after: Preferred action by the corrected rule.
        also: Other actions that satisfy the request.
    """

    request: str
    before: str
    after: str
    also: Annotated[tuple[str, ...], Field(min_length=1)]

    def situation(self, id: str) -> Situation:
        """Return the situation, with the actions in alphabetical order."""
        return Situation(id, (), self.request, tuple(sorted((self.before, self.after, *self.also))))


class Edit(StrictModel):
    """A rule, its correction, and the choices that depend on it."""

    before: str
    after: str
    choices: Annotated[tuple[DependentChoice, ...], Field(min_length=1)]


class Edits(StrictModel):
    """The rules of one person."""

    rules: Annotated[tuple[Edit, ...], Field(min_length=1)]


def corrected_rules(edits: Sequence[Edit]) -> tuple[tuple[Rule, ...], list[tuple[Rule, ...]]]:
    """Return the original rules, and for each edit the rules after ``housewise rules edit`` has made it."""
    memory = Memory(_PERSON)
    notes = rule_notes(_PERSON, _TOPIC, [parse_rule(edit.before) for edit in edits])
    for note in notes:
        memory.add(note)
    corrected = []
    for note, edit in zip(notes, edits, strict=True):
        changed = memory.copy()
        apply_corrections(changed, Corrections(changed={note.id: edit.after}), _TOPIC)
        corrected.append(recall_rules(changed, _TOPIC))
    return recall_rules(memory, _TOPIC), corrected


def measure_edits(chooser: str, seed: int = 0) -> Iterator[MeasuredValue]:
    """Measure which choices each edit changes.

    Args:
        chooser: ``rules``, or a control that reads none: ``no rules`` or ``chance``.
        seed: Seed of the order in which actions are shown.
    """
    edits, choose = read_model(EDITS, Edits).rules, _choosers(seed)[chooser]
    rules, corrected = corrected_rules(edits)
    dependent = [(number, choice) for number, edit in enumerate(edits) for choice in edit.choices]
    situations = [choice.situation(f"{number}-{place}") for place, (number, choice) in enumerate(dependent)]
    before = choose(situations, rules)
    for edited, new_rules in enumerate(corrected):
        after = choose(situations, new_rules)
        for place, (number, choice) in enumerate(dependent):
            task = f"rule {edited + 1}, choice {place + 1}"
            if number != edited:
                yield MeasuredValue(task, 0, "others_unchanged", after[place] == before[place])
                continue
            yield MeasuredValue(task, 0, "right_before", before[place] == choice.before)
            yield MeasuredValue(task, 0, "changed_as_they_should", after[place] == choice.after)


def _choosers(seed: int) -> dict[str, Chooser]:
    inference = Inference(LocalSteps(shared_minilm()), seed=seed)

    def by_rules(situations: Sequence[Situation], rules: tuple[Rule, ...]) -> list[str | None]:
        made = inference.choose(situations, Guidance(rules=rules))
        pairs = zip(situations, made, strict=True)
        return [None if choice.action is None else situation.actions[choice.action] for situation, choice in pairs]

    def draw_options(situations: Sequence[Situation], rules: tuple[Rule, ...]) -> list[str | None]:
        generator = random.Random(f"{seed}/{[rule.text for rule in rules]}")
        return [generator.choice(situation.actions) for situation in situations]

    return {"rules": by_rules, "no rules": lambda situations, rules: by_rules(situations, ()), "chance": draw_options}
