"""Finds preferences that no breakfast can satisfy together, from their conditions alone.

A condition is expanded into cases, which are conjunctions of literals (disjunctive normal form). Two preferences
contradict each other if no combination of their cases is consistent. Everything is assumed to be available: a lack in
one scene is no contradiction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product
from math import prod
from typing import NamedTuple

from housewise.people.kitchen.conditions import (
    AllOf,
    AnyOf,
    Condition,
    Not,
    Predicate,
    normalize_words,
    parse_condition,
)
from housewise.people.kitchen.profiles import KitchenPreference
from housewise.worlds.kitchen.kitchen_data import KitchenData

MAX_CASES = 5000
"""Cases into which one condition is expanded at most."""


class Literal(NamedTuple):
    """A predicate that has to be true, or (``positive=False``) false."""

    predicate: Predicate
    positive: bool


Case = tuple[Literal, ...]
"""Literals that have to hold together. A condition holds if one of its cases does."""

Decide = Callable[[Predicate], "bool | None"]
"""Tells whether a predicate is known to be true or false; None if it is open."""


class TooManyCases(Exception):
    """A condition has more than ``MAX_CASES`` cases."""


def find_contradiction(preferences: Sequence[KitchenPreference], kitchen: KitchenData) -> str | None:
    """Return a message about the first preference that cannot be satisfied, alone or with another one, or None."""
    wanted = [_want(each.condition, each.wish, each.dishes) for each in preferences]
    for one, its in zip(preferences, wanted, strict=True):
        if not all(_can_be_satisfied((its,), number, kitchen) for number in one.tasks):
            return f"preference {one.id} can never be satisfied; change what it wants ({one.wants_text})"
    for (first, its), (second, others) in combinations(zip(preferences, wanted, strict=True), 2):
        for number in sorted(set(first.tasks) & set(second.tasks)):
            if not _can_be_satisfied((its, others), number, kitchen):
                task = kitchen.tasks.tasks[number]
                return (
                    f"preferences {first.id} and {second.id} contradict each other where the task is {task.text!r}; "
                    f"change one ({first.wants_text} against {second.wants_text})"
                )
    return None


@dataclass(frozen=True, eq=False)
class _Wanted:
    """What a preference wants. Equal ones are one object, by which what is known of them is found fast."""

    condition: Condition | None
    wish: Condition
    dishes: tuple[str, ...]


_want = lru_cache(maxsize=1 << 14)(_Wanted)


@lru_cache(maxsize=4)
def _made_conditions(kitchen: KitchenData) -> Mapping[str, Condition]:
    """Return the condition, for each dish, under which it counts as made."""
    return {name: parse_condition(dish.made, kitchen.find_ids) for name, dish in kitchen.tasks.dishes.items()}


# Whoever invents people asks about the same pairs again.
@lru_cache(maxsize=1 << 18)
def _can_be_satisfied(preferences: tuple[_Wanted, ...], number: int, kitchen: KitchenData) -> bool:
    """Whether one breakfast can satisfy all preferences.

    One of several preferences may also be inapplicable. A single preference has to be applicable, if it can be.
    Preferences with too many cases to compare count as satisfiable.

    Args:
        preferences: What they want.
        number: Number of the task.
        kitchen: The kitchen.
    """
    try:
        parts = [_expand_preference(each, number, kitchen, len(preferences) == 1) for each in preferences]
        return any(are_consistent(case, kitchen.kinds) for case in _combine_cases(parts))
    except TooManyCases:
        return True


# Each preference is compared with many others.
@lru_cache(maxsize=1 << 14)
def _expand_preference(wanted: _Wanted, number: int, kitchen: KitchenData, is_applicable: bool) -> list[Case]:
    """Return the cases in which a breakfast satisfies a preference.

    Args:
        wanted: What it wants.
        number: Number of the task.
        kitchen: The kitchen.
        is_applicable: Whether the preference has to be applicable, if it can be.

    Raises:
        TooManyCases: There are more than ``MAX_CASES``.
    """
    task, made = kitchen.tasks.tasks[number], _made_conditions(kitchen)

    def decide(predicate: Predicate) -> bool | None:
        if predicate.name == "available":
            return len({kitchen.kinds[id] for id in predicate.ids[0]}) >= predicate.kinds
        if predicate.name == "task_says":
            return any(word in normalize_words(task.text) for word in predicate.words)
        if predicate.name == "done" and not any(kitchen.verbs.matching_verbs(word) for word in predicate.words):
            return False
        possible = kitchen.usable if predicate.name == "used" else kitchen.foods
        if predicate.name != "served_at" and not all(ids & possible for ids in predicate.ids):
            return False
        return None

    conditions: list[Condition] = []
    if wanted.condition is None:
        conditions.append(wanted.wish)
    elif not is_applicable:
        conditions.append(AnyOf((Not(wanted.condition), wanted.wish)))
    elif expand_cases(wanted.condition, decide):
        conditions.append(AllOf((wanted.condition, wanted.wish)))
    conditions += [made[dish] for dish in wanted.dishes if dish in task.dishes]
    return expand_cases(AllOf(tuple(conditions)), decide)


def expand_cases(condition: Condition, decide: Decide, positive: bool = True) -> list[Case]:
    """Return the cases in which a condition is true.

    Args:
        condition: The condition.
        decide: Evaluates predicates whose value is known; these are left out of the cases.
        positive: False to expand the negation of the condition.

    Raises:
        TooManyCases: There are more than ``MAX_CASES``.
    """
    if isinstance(condition, Not):
        return expand_cases(condition.part, decide, not positive)
    if isinstance(condition, Predicate):
        known = decide(condition)
        if known is not None:
            return [()] if known == positive else []
        return [(Literal(condition, positive),)]
    parts = [expand_cases(part, decide, positive) for part in condition.parts]
    if isinstance(condition, AllOf) != positive:
        return [case for part in parts for case in part]
    return _combine_cases(parts)


def _combine_cases(parts: Sequence[Sequence[Case]]) -> list[Case]:
    """Return the cases in which one case of every part is true.

    Raises:
        TooManyCases: There are more than ``MAX_CASES``.
    """
    count = prod(map(len, parts))
    if count > MAX_CASES:
        raise TooManyCases(f"{count} alternatives")
    return [tuple(dict.fromkeys(literal for case in chosen for literal in case)) for chosen in product(*parts)]


class LiteralIndex:
    """Literals by name and sign of their predicate."""

    def __init__(self, literals: Iterable[Literal]) -> None:
        self._found: dict[tuple[str, bool], list[Predicate]] = {}
        for predicate, positive in literals:
            self._found.setdefault((predicate.name, positive), []).append(predicate)

    def __call__(self, name: str, positive: bool = True) -> list[Predicate]:
        """Return the predicates of a name that have to hold or, if not ``positive``, must not."""
        return self._found.get((name, positive), [])

    @property
    def banned_things(self) -> frozenset[str]:
        """Things that must not be used."""
        return union(predicate.ids[0] for predicate in self("used", False) if predicate.kinds == 1)

    @property
    def separated_groups(self) -> list[tuple[frozenset[str], frozenset[str]]]:
        """Pairs of groups whose members must not come together."""
        return [(predicate.ids[0], predicate.ids[1]) for predicate in self("together", False)]


def are_consistent(literals: Iterable[Literal], kinds: Mapping[str, str], absent: frozenset[str] = frozenset()) -> bool:
    """Whether one breakfast can satisfy all literals.

    Args:
        literals: What has to hold together.
        kinds: The kind of each thing, by id.
        absent: Things that cannot be used because they are not in the scene.
    """
    index = LiteralIndex(literals)
    banned = index.banned_things | absent
    for predicate in index("used"):
        if len({kinds.get(id, id) for id in predicate.ids[0] - banned}) < predicate.kinds:
            return False
        for other in index("used", False):
            if predicate.ids[0] <= other.ids[0] and predicate.kinds >= other.kinds:
                return False
    for predicate in index("together") + index("before"):
        first, second = predicate.ids
        if predicate.name == "before":
            first = first - second  # A thing of both groups cannot be added before itself.
        pairs = product(first - banned, second - banned)
        if not any(one != other and can_meet(one, other, index.separated_groups) for one, other in pairs):
            return False
    for name in ("cooked", "in_container", "on_appliance"):
        if not (expected := index(name)):
            continue
        # Food is cooked only on an appliance.
        ruled_out = index(name, False) + (index("on_appliance", False) if name == "cooked" else [])
        never = banned | union(predicate.ids[0] for predicate in ruled_out)
        if any(not predicate.ids[0] - never for predicate in expected):
            return False
    for first, second in (predicate.ids for predicate in index("served_before")):
        if not first - second - banned or not second - banned:
            return False
    return (
        _orders_are_possible(index("before"), index("before", False))
        and _orders_are_possible(index("served_before"), index("served_before", False))
        and _places_are_possible(index("served_at"), index("served_at", False))
        and _names_are_possible(index("made"), index("made", False), banned)
        # "made" includes everything that "done" does, so what is not made is not done either.
        and _names_are_possible(index("done"), index("done", False) + index("made", False), banned)
    )


def union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    """Return the union of any number of sets."""
    return frozenset().union(*sets)


def can_meet(one: str, other: str, separated: Sequence[tuple[frozenset[str], frozenset[str]]]) -> bool:
    """Whether two things may come together, given pairs of groups that must not."""
    return not any((one in a and other in b) or (one in b and other in a) for a, b in separated)


def _orders_are_possible(positive: Sequence[Predicate], negative: Sequence[Predicate]) -> bool:
    for one, other in combinations(positive, 2):
        if one.on_top == other.on_top and one.ids == other.ids[::-1] and one.ids != other.ids:
            return False
    return not any(
        one.ids[0] <= other.ids[0] and one.ids[1] <= other.ids[1] and one.on_top == other.on_top
        for one in positive
        for other in negative
    )


def _places_are_possible(positive: Sequence[Predicate], negative: Sequence[Predicate]) -> bool:
    if not positive:
        return True
    left = frozenset.intersection(*(predicate.ids[0] for predicate in positive))
    return bool(left) and not any(left <= predicate.ids[0] for predicate in negative)


def _names_are_possible(positive: Sequence[Predicate], negative: Sequence[Predicate], banned: frozenset[str]) -> bool:
    for predicate in positive:
        if predicate.ids and not predicate.ids[0] - banned:
            return False
        for other in negative:
            same_food = not other.ids or (bool(predicate.ids) and predicate.ids[0] <= other.ids[0])
            if same_food and all(any(word in text for word in other.words) for text in predicate.words):
                return False
    return True
