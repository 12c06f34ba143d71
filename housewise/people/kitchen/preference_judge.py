"""Decides for each preference whether a breakfast satisfies or violates it, or whether it is inapplicable.

Source: ADAPT (arXiv 2504.04040), section 3. A preference is inapplicable if it does not concern the task or its
condition is false. It is violated if a dish that both it and the task name was not made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from housewise.language.words import occurs_in_verb, verb_forms
from housewise.people.kitchen.conditions import (
    AllOf,
    AnyOf,
    Condition,
    Not,
    Predicate,
    normalize_words,
    parse_condition,
)
from housewise.people.kitchen.profiles import KitchenPreference, KitchenProfile
from housewise.worlds.kitchen.dishes import are_together, is_added_before
from housewise.worlds.kitchen.kitchen_data import Dish, KitchenData, load_kitchen
from housewise.worlds.kitchen.trace import Layer, Serving, Sources, Trace

PreferenceDecision = Literal["satisfied", "violated", "inapplicable"]


@dataclass(frozen=True)
class PreferenceVerdict:
    """The decision about one preference.

    Attributes:
        preference: The preference.
        decision: Whether it is satisfied, violated or inapplicable.
        why: The condition that decided, or the dishes that were not made.
        step: The step from which on the decision did not change; None if it was not computed.
    """

    preference: KitchenPreference
    decision: PreferenceDecision
    why: str
    step: int | None = None


class PreferenceJudge:
    """Evaluates preferences on the traces of one task.

    Args:
        task: Number of the task.
        kitchen: Groups, dishes and kinds; the bundled kitchen by default.

    Attributes:
        when_made: The condition, for each dish of the task, under which it counts as made.
    """

    def __init__(self, task: int, kitchen: KitchenData | None = None) -> None:
        self.task = task
        self.kitchen = kitchen or load_kitchen()
        self._task = self.kitchen.tasks.tasks[task]
        dishes = {name: self.kitchen.tasks.dishes[name] for name in self._task.dishes}
        self.when_made = {
            name: parse_condition(self._made_condition(dish), self.kitchen.find_ids) for name, dish in dishes.items()
        }
        self._base = frozenset().union(*(self.kitchen.groups[dish.of] for dish in dishes.values()))

    def _made_condition(self, dish: Dish) -> str:
        return dish.made

    def verdicts(self, profile: KitchenProfile, trace: Trace, with_steps: bool = False) -> list[PreferenceVerdict]:
        """Return a verdict for each preference of a person.

        Args:
            profile: The person.
            trace: All that happened in the episode.
            with_steps: Whether to compute the step from which on each decision did not change.
        """
        verdicts = [self.verdict(preference, trace) for preference in profile.preferences]
        if not with_steps:
            return verdicts
        steps = self._final_steps(verdicts, trace)
        return [dataclasses.replace(verdict, step=step) for verdict, step in zip(verdicts, steps, strict=True)]

    def _final_steps(self, verdicts: list[PreferenceVerdict], trace: Trace) -> list[int]:
        steps = [trace.step] * len(verdicts)
        unchanged = set(range(len(verdicts)))
        for step in range(trace.step - 1, -1, -1):
            earlier = trace.cut_at(step)
            for index in list(unchanged):
                if self.verdict(verdicts[index].preference, earlier).decision == verdicts[index].decision:
                    steps[index] = step
                else:
                    unchanged.discard(index)
        return steps

    def verdict(self, preference: KitchenPreference, trace: Trace) -> PreferenceVerdict:
        """Decide about one preference, in the paper's order: task, dishes, condition, wish."""
        if self.task not in preference.tasks:
            return PreferenceVerdict(preference, "inapplicable", "the task does not concern it")
        missing = [dish for dish in self.concerned_dishes(preference) if not self.is_made(dish, trace)]
        if missing:
            return PreferenceVerdict(preference, "violated", f"not made: {', '.join(missing)}")
        if preference.condition is not None and not self.holds(preference.condition, trace):
            return PreferenceVerdict(preference, "inapplicable", f"does not hold: {preference.if_text}")
        if self.holds(preference.wish, trace):
            return PreferenceVerdict(preference, "satisfied", f"holds: {preference.wants_text}")
        return PreferenceVerdict(preference, "violated", f"does not hold: {preference.wants_text}")

    @property
    def dishes(self) -> tuple[str, ...]:
        """The dishes that the task asks for."""
        return self._task.dishes

    def concerned_dishes(self, preference: KitchenPreference) -> list[str]:
        """Return the dishes that both the preference and the task name."""
        return [dish for dish in preference.dishes if dish in self.when_made]

    def is_made(self, dish: str, trace: Trace) -> bool:
        """Whether a dish of the task was made."""
        return self.holds(self.when_made[dish], trace)

    def holds(self, condition: Condition, trace: Trace) -> bool:
        """Whether a condition is true of a trace."""
        if isinstance(condition, AllOf):
            return all(self.holds(part, trace) for part in condition.parts)
        if isinstance(condition, AnyOf):
            return any(self.holds(part, trace) for part in condition.parts)
        if isinstance(condition, Not):
            return not self.holds(condition.part, trace)
        return self._predicate_holds(condition, trace)

    def _predicate_holds(self, predicate: Predicate, trace: Trace) -> bool:
        first, second = (*predicate.ids, frozenset[str](), frozenset[str]())[:2]
        match predicate.name:
            case "used":
                return self._count_kinds(first & trace.used.keys()) >= predicate.kinds
            case "available":
                return self._count_kinds(first & trace.available) >= predicate.kinds
            case "cooked":
                return bool(first & trace.cooked.keys())
            case "in_container":
                return any(dish.in_container and dish.sources & first for dish in trace.snapshots)
            case "on_appliance":
                return any(dish.on_appliance and dish.sources & first for dish in trace.snapshots)
            case "together":
                return any(are_together(dish.layers, first, second) for dish in trace.snapshots)
            case "before":
                dishes = (
                    self._without_base(dish.layers) if predicate.on_top else dish.layers for dish in trace.snapshots
                )
                return any(is_added_before(layers, first, second) for layers in dishes)
            case "made" | "done":
                by_name = predicate.name == "made"
                return _is_prepared(predicate.words, first if predicate.ids else None, by_name, trace)
            case "served_at":
                return _is_served_at(first, trace)
            case "served_before":
                return is_served_before(first, second, trace.servings)
            case "task_says":
                return any(word in normalize_words(self._task.text) for word in predicate.words)
        raise AssertionError(predicate.name)

    def _count_kinds(self, ids: Iterable[str]) -> int:
        return len({self.kitchen.kinds.get(id, id) for id in ids})

    def _without_base(self, layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
        """Remove what the task's dish is made of, such as the cereal of a bowl of cereal, from its first layer."""
        for index, layer in enumerate(layers):
            if layer.sources & self._base:
                rest = Layer(layer.order, layer.sources - self._base)
                return (*layers[:index], rest, *layers[index + 1 :])
        return layers


def _is_prepared(words: tuple[str, ...], ingredients: Sources | None, by_name: bool, trace: Trace) -> bool:
    """Whether food was prepared by one of some verbs, or (``by_name``) has one of the words in its name.

    Args:
        words: The verbs or words.
        ingredients: One of them has to be part of the food; None for any food.
        by_name: Whether names count beside verbs.
        trace: All that happened.
    """
    names = [form for word in words for form in verb_forms(word)] if by_name else []
    return any(
        occurs_in_verb(words, normalize_words(food.verb)) or any(name in normalize_words(food.id) for name in names)
        for food in trace.made
        if ingredients is None or food.sources & ingredients
    )


def _is_served_at(places: Sources, trace: Trace) -> bool:
    prepared = trace.prepared_foods()
    return bool(prepared) and all(places.intersection(trace.state.holders(id)) for id in prepared)


def is_served_before(first: Sources, second: Sources, servings: Iterable[Serving]) -> bool:
    """Whether something of the first group was served before anything of the second group, and both were served."""
    servings = list(servings)
    step_of_first = next((serving.step for serving in servings if serving.sources & first), None)
    step_of_second = next((serving.step for serving in servings if serving.sources & second), None)
    return step_of_first is not None and step_of_second is not None and step_of_first < step_of_second


def satisfaction_rate(verdicts: Iterable[PreferenceVerdict]) -> float | None:
    """Return the share of satisfied among applicable preferences (0 to 1), or None if none is applicable."""
    decisions = [verdict.decision for verdict in verdicts if verdict.decision != "inapplicable"]
    return decisions.count("satisfied") / len(decisions) if decisions else None
