"""Wishes of one person that no breakfast can fulfil together, found from their conditions alone.

Everything that could be there is taken to be there: what only a scene's lacks make impossible is no contradiction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

from people.language import All, Any_, Condition, Not, Predicate, as_word
from worlds.kitchen.data import Kitchen, Task

if TYPE_CHECKING:
    from people.person import Preference

MOST_CASES = 5000  # ways to fulfil two wishes that are looked at; beyond that they count as compatible


class Literal_(NamedTuple):
    predicate: Predicate
    positive: bool


Case = tuple[Literal_, ...]  # literals that hold together; a condition is a list of cases, one of which has to hold


def contradiction(preferences: Sequence[Preference], kitchen: Kitchen) -> str | None:
    """The first wish that cannot be fulfilled, or two that cannot be fulfilled together, in words; None without any."""
    for preference in preferences:
        for task in preference.tasks:
            if not _possible([preference], kitchen.tasks.tasks[task], kitchen):
                return (
                    f"preference {preference.id} can never be satisfied; change what it wants ({preference.wants_text})"
                )
    for first, second in combinations(preferences, 2):
        for task in sorted(set(first.tasks) & set(second.tasks)):
            if not _possible([first, second], kitchen.tasks.tasks[task], kitchen):
                return (
                    f"preferences {first.id} and {second.id} contradict each other where the task is "
                    f"{kitchen.tasks.tasks[task].text!r}: change one ({first.wants_text} against {second.wants_text})"
                )
    return None


def _possible(preferences: Sequence[Preference], task: Task, kitchen: Kitchen) -> bool:
    """Whether a breakfast can fulfil all of them; a wish with a condition is also fulfilled where that is false, except
    when it is looked at alone."""
    wanted: list[Condition] = []
    for preference in preferences:
        if preference.condition is None:
            wanted.append(preference.wish)
        elif len(preferences) == 1:
            wanted.append(All((preference.condition, preference.wish)))
        else:
            wanted.append(Any_((Not(preference.condition), preference.wish)))
        for dish in preference.dishes:
            if dish in task.dishes:
                of = kitchen.tasks.dishes[dish].of
                wanted.append(Predicate("used", ((of,),), (kitchen.groups[of],)))
    if len(preferences) == 1 and not _cases(preferences[0].condition or All(()), True, task):
        return True  # not applicable in this task at all
    cases = _cases(All(tuple(wanted)), True, task)
    return cases is None or any(_consistent(case, kitchen) for case in cases)


def _cases(condition: Condition, positive: bool, task: Task) -> list[Case] | None:
    """The condition (or its negation) as alternatives; None when there are too many."""
    if isinstance(condition, Not):
        return _cases(condition.part, not positive, task)
    if isinstance(condition, Predicate):
        if condition.name == "available":
            return [()] if positive else []
        if condition.name == "task_says":
            says = any(word in as_word(task.text) for word in condition.words)
            return [()] if says == positive else []
        return [(Literal_(condition, positive),)]
    parts = [_cases(part, positive, task) for part in condition.parts]
    if any(part is None for part in parts):
        return None
    known = [part for part in parts if part is not None]
    if isinstance(condition, All) != positive:
        return [case for part in known for case in part]
    count = 1
    for part in known:
        count *= len(part)
    if count > MOST_CASES:
        return None
    return [tuple(literal for case in chosen for literal in case) for chosen in product(*known)]


def _consistent(case: Case, kitchen: Kitchen) -> bool:
    def named(name: str, positive: bool) -> list[Predicate]:
        return [
            literal.predicate for literal in case if literal.predicate.name == name and literal.positive == positive
        ]

    banned = _union(predicate.ids[0] for predicate in named("used", False) if predicate.kinds == 1)
    for predicate in named("used", True):
        kinds = {kitchen.kinds.get(id, id) for id in predicate.ids[0] - banned}
        if len(kinds) < predicate.kinds:
            return False
        for other in named("used", False):
            if predicate.ids[0] <= other.ids[0] and predicate.kinds >= other.kinds:
                return False
    apart = [(predicate.ids[0], predicate.ids[1]) for predicate in named("together", False)]
    for predicate in named("together", True) + named("before", True):
        if not _can_meet(predicate.ids[0] - banned, predicate.ids[1] - banned, apart):
            return False
    for name in ("cooked", "in_container", "on_appliance"):
        never = banned | _union(predicate.ids[0] for predicate in named(name, False))
        if any(not predicate.ids[0] - never for predicate in named(name, True)):
            return False
    return (
        _order_possible(named("before", True), named("before", False))
        and _order_possible(named("served_before", True), named("served_before", False))
        and _place_possible(named("served_at", True), named("served_at", False))
        and _names_possible(named("made", True), named("made", False), banned)
    )


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def _can_meet(
    first: frozenset[str], second: frozenset[str], apart: Sequence[tuple[frozenset[str], frozenset[str]]]
) -> bool:
    return any(
        one != other and not any((one in a and other in b) or (one in b and other in a) for a, b in apart)
        for one in first
        for other in second
    )


def _order_possible(positive: Sequence[Predicate], negative: Sequence[Predicate]) -> bool:
    for one, other in combinations(positive, 2):
        if one.on_top == other.on_top and {one.ids, other.ids} == {one.ids, one.ids[::-1]} and one.ids != other.ids:
            return False
    return not any(
        one.ids[0] <= other.ids[0] and one.ids[1] <= other.ids[1] and one.on_top == other.on_top
        for one in positive
        for other in negative
    )


def _place_possible(positive: Sequence[Predicate], negative: Sequence[Predicate]) -> bool:
    if not positive:
        return True
    left = frozenset.intersection(*(predicate.ids[0] for predicate in positive))
    return bool(left) and not any(left <= predicate.ids[0] for predicate in negative)


def _names_possible(positive: Sequence[Predicate], negative: Sequence[Predicate], banned: frozenset[str]) -> bool:
    for predicate in positive:
        if predicate.ids and not predicate.ids[0] - banned:
            return False
        for other in negative:
            same_food = not other.ids or (bool(predicate.ids) and predicate.ids[0] <= other.ids[0])
            if same_food and all(any(word in said for word in other.words) for said in predicate.words):
                return False
    return True
