"""Whether a breakfast is as its person wants it: each preference satisfied, violated or not applicable.

Source: ADAPT (arXiv 2504.04040), section 3: a preference that the task does not concern is not applicable; one about a
dish that the task asks for and that was not made is violated; one whose condition is false is not applicable.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
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
from housewise.people.kitchen.profile_files import KitchenProfile, KitchenPreference
from housewise.worlds.kitchen.dishes import is_added_before, are_together
from housewise.worlds.kitchen.kitchen_data import Dish, Kitchen, load_kitchen
from housewise.worlds.kitchen.trace import Layer, Serving, Sources, Trace

PreferenceDecision = Literal["satisfied", "violated", "inapplicable"]


@dataclass(frozen=True)
class PreferenceVerdict:
    """What was decided of one preference, and why.

    Attributes:
        why: the condition that decided, or what was missing.
        step: after which step it was so and stayed so; None where nobody asked.
    """

    preference: KitchenPreference
    decision: PreferenceDecision
    why: str
    step: int | None = None


class PreferenceJudge:
    """Decides on trajectories of one task.

    Args:
        task: its number.
        kitchen: whose groups, dishes and kinds count.

    Attributes:
        when_made: for each dish of the task the condition under which it counts as made.
    """

    def __init__(self, task: int, kitchen: Kitchen | None = None) -> None:
        self.task = task
        self.kitchen = kitchen or load_kitchen()
        self._asked = self.kitchen.tasks.tasks[task]
        dishes = {name: self.kitchen.tasks.dishes[name] for name in self._asked.dishes}
        self.when_made = {
            name: parse_condition(self._when_made(dish), self.kitchen.find_ids) for name, dish in dishes.items()
        }
        self._base = frozenset().union(*(self.kitchen.groups[dish.of] for dish in dishes.values()))

    def _when_made(self, dish: Dish) -> str:
        """The condition under which a dish counts as made."""
        return dish.made

    def verdicts(self, person: KitchenProfile, trace: Trace, when: bool = False) -> list[PreferenceVerdict]:
        """One for each of the person's preferences.

        Args:
            when: also find the step after which each was decided for good.
        """
        found = [self.verdict(preference, trace) for preference in person.preferences]
        if not when:
            return found
        steps = self._decided(person, trace, found)
        return [dataclasses.replace(verdict, step=step) for verdict, step in zip(found, steps, strict=True)]

    def _decided(self, person: KitchenProfile, trace: Trace, final: list[PreferenceVerdict]) -> list[int]:
        steps = [trace.step] * len(final)
        open_ = set(range(len(final)))
        for step in range(trace.step - 1, -1, -1):
            earlier = trace.cut_at(step)
            for index in list(open_):
                if self.verdict(person.preferences[index], earlier).decision == final[index].decision:
                    steps[index] = step
                else:
                    open_.discard(index)
        return steps

    def verdict(self, preference: KitchenPreference, trace: Trace) -> PreferenceVerdict:
        """In the order of the paper: task, dish, condition, wish."""
        if self.task not in preference.tasks:
            return PreferenceVerdict(preference, "inapplicable", "the task does not concern it")
        missing = [dish for dish in self.concerned_dishes(preference) if not self.holds(self.when_made[dish], trace)]
        if missing:
            return PreferenceVerdict(preference, "violated", f"not made: {', '.join(missing)}")
        if preference.condition is not None and not self.holds(preference.condition, trace):
            return PreferenceVerdict(preference, "inapplicable", f"does not hold: {preference.if_text}")
        satisfied = self.holds(preference.wish, trace)
        word = "holds" if satisfied else "does not hold"
        return PreferenceVerdict(
            preference, "satisfied" if satisfied else "violated", f"{word}: {preference.wants_text}"
        )

    @property
    def dishes(self) -> tuple[str, ...]:
        """What the task asks for."""
        return self._asked.dishes

    def concerned_dishes(self, preference: KitchenPreference) -> list[str]:
        """The dishes that both the preference is about and the task asks for."""
        return [dish for dish in preference.dishes if dish in self.when_made]

    def is_made(self, dish: str, trace: Trace) -> bool:
        return self.holds(self.when_made[dish], trace)

    def holds(self, condition: Condition, trace: Trace) -> bool:
        """Whether a condition is true of a trajectory."""
        if isinstance(condition, AllOf):
            return all(self.holds(part, trace) for part in condition.parts)
        if isinstance(condition, AnyOf):
            return any(self.holds(part, trace) for part in condition.parts)
        if isinstance(condition, Not):
            return not self.holds(condition.part, trace)
        return self._predicate(condition, trace)

    def _predicate(self, predicate: Predicate, trace: Trace) -> bool:
        first, second = (*predicate.ids, frozenset[str](), frozenset[str]())[:2]
        match predicate.name:
            case "used":
                return self._count(first & trace.used.keys()) >= predicate.kinds
            case "available":
                return self._count(first & trace.available) >= predicate.kinds
            case "cooked":
                return bool(first & trace.cooked.keys())
            case "in_container":
                return any(shot.in_container and shot.sources & first for shot in trace.snapshots)
            case "on_appliance":
                return any(shot.on_appliance and shot.sources & first for shot in trace.snapshots)
            case "together":
                return any(are_together(shot.layers, first, second) for shot in trace.snapshots)
            case "before":
                shots = (self._on_top(shot.layers) if predicate.on_top else shot.layers for shot in trace.snapshots)
                return any(is_added_before(layers, first, second) for layers in shots)
            case "made" | "done":
                by_name = predicate.name == "made"
                return _made(predicate.words, first if predicate.ids else None, by_name, trace)
            case "served_at":
                return _served_at(first, trace)
            case "served_before":
                return is_served_before(first, second, trace.servings)
            case "task_says":
                return any(word in normalize_words(self._asked.text) for word in predicate.words)
        raise AssertionError(predicate.name)

    def _count(self, ids: Iterable[str]) -> int:
        """How many kinds of thing these are."""
        return len({self.kitchen.kinds.get(id, id) for id in ids})

    def _on_top(self, layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
        """The layers without what the task's dish is made of: the first that holds any of it."""
        for index, layer in enumerate(layers):
            if layer.sources & self._base:
                rest = Layer(layer.order, layer.sources - self._base)
                return (*layers[:index], rest, *layers[index + 1 :])
        return layers


def _made(words: tuple[str, ...], of: Sources | None, by_name: bool, trace: Trace) -> bool:
    """Whether a result was made by one of the verbs or, where names count, is called by one of the words."""
    called = [form for word in words for form in verb_forms(word)] if by_name else []
    return any(
        occurs_in_verb(words, normalize_words(result.verb))
        or any(word in normalize_words(result.id) for word in called)
        for result in trace.made
        if of is None or result.sources & of
    )


def _served_at(places: Sources, trace: Trace) -> bool:
    prepared = trace.prepared_foods()
    return bool(prepared) and all(places.intersection(trace.state.holders(id)) for id in prepared)


def is_served_before(first: Sources, second: Sources, servings: Iterable[Serving]) -> bool:
    """Whether something of the first group was served before anything of the second, which was served too."""
    listed = list(servings)
    earliest = next((serving.step for serving in listed if serving.sources & first), None)
    later = next((serving.step for serving in listed if serving.sources & second), None)
    return earliest is not None and later is not None and earliest < later


def satisfaction_rate(verdicts: Iterable[PreferenceVerdict]) -> float | None:
    """Satisfied of applicable preferences (0 to 1); None where none is applicable."""
    decisions = [verdict.decision for verdict in verdicts if verdict.decision != "inapplicable"]
    return decisions.count("satisfied") / len(decisions) if decisions else None


def satisfaction_curve(
    judge: PreferenceJudge, person: KitchenProfile, trace: Trace, at: Iterable[float]
) -> Mapping[float, float]:
    """The paper's figure 4: at each fraction of the trajectory, of what is applicable at its end, the share that is
    satisfied then and at the end."""
    final = judge.verdicts(person, trace)
    applicable = sum(verdict.decision != "inapplicable" for verdict in final)
    kept = [verdict.preference for verdict in final if verdict.decision == "satisfied"]
    curve = {}
    for fraction in at:
        earlier = trace.cut_at(round(fraction * trace.step))
        satisfied = sum(judge.verdict(preference, earlier).decision == "satisfied" for preference in kept)
        curve[fraction] = satisfied / applicable if applicable else 0.0
    return curve
