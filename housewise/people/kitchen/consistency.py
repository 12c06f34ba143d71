"""Conditions taken apart: the ways in which they can come true, and which of those go together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

from housewise.people.kitchen.conditions import AllOf, Condition, Not, Predicate

MAX_CASES = 5000  # alternatives of one condition that are written out


class Literal(NamedTuple):
    """A predicate that has to hold, or not to."""

    predicate: Predicate
    positive: bool


Case = tuple[Literal, ...]  # what has to hold together; a condition is a list of cases, one of which has to hold
Decide = Callable[[Predicate], "bool | None"]


class TooManyCases(Exception):
    """A condition has more alternatives than are written out."""


def expand_cases(condition: Condition, decide: Decide, positive: bool = True) -> list[Case]:
    """The ways in which a condition (or its negation) can come true.

    Args:
        decide: what is known of a predicate already; None where it is open.

    Raises:
        TooManyCases: there are more than ``MOST_CASES``.
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
    count = 1
    for part in parts:
        count *= len(part)
    if count > MAX_CASES:
        raise TooManyCases(f"{count} alternatives")
    return [tuple(dict.fromkeys(literal for case in chosen for literal in case)) for chosen in product(*parts)]


class LiteralIndex:
    """Literals by predicate and sign."""

    def __init__(self, literals: Iterable[Literal]) -> None:
        self._found: dict[tuple[str, bool], list[Predicate]] = {}
        for predicate, positive in literals:
            self._found.setdefault((predicate.name, positive), []).append(predicate)

    def __call__(self, name: str, positive: bool = True) -> list[Predicate]:
        return self._found.get((name, positive), [])

    @property
    def banned_things(self) -> frozenset[str]:
        """What must not be used at all."""
        return union(predicate.ids[0] for predicate in self("used", False) if predicate.kinds == 1)

    @property
    def separated_groups(self) -> list[tuple[frozenset[str], frozenset[str]]]:
        """Groups of which nothing may come together."""
        return [(predicate.ids[0], predicate.ids[1]) for predicate in self("together", False)]


def are_consistent(literals: Iterable[Literal], kinds: Mapping[str, str], absent: frozenset[str] = frozenset()) -> bool:
    """Whether one breakfast can fulfil all the literals.

    Args:
        kinds: the kind of each thing.
        absent: things that cannot be used because they are not there.
    """
    said = LiteralIndex(literals)
    banned = said.banned_things | absent
    for predicate in said("used"):
        if len({kinds.get(id, id) for id in predicate.ids[0] - banned}) < predicate.kinds:
            return False
        for other in said("used", False):
            if predicate.ids[0] <= other.ids[0] and predicate.kinds >= other.kinds:
                return False
    for predicate in said("together") + said("before"):
        first, second = predicate.ids
        if predicate.name == "before":
            first = first - second  # what is of both cannot go in before itself
        if not _can_meet(first - banned, second - banned, said.separated_groups):
            return False
    for name in ("cooked", "in_container", "on_appliance"):
        # Nothing is cooked but on an appliance.
        ruled_out = said(name, False) + (said("on_appliance", False) if name == "cooked" else [])
        never = banned | union(predicate.ids[0] for predicate in ruled_out)
        if any(not predicate.ids[0] - never for predicate in said(name)):
            return False
    for first, second in (predicate.ids for predicate in said("served_before")):
        if not first - second - banned or not second - banned:
            return False
    return (
        _order_possible(said("before"), said("before", False))
        and _order_possible(said("served_before"), said("served_before", False))
        and _place_possible(said("served_at"), said("served_at", False))
        and _names_possible(said("made"), said("made", False), banned)
        # What was done to something is what it was made by.
        and _names_possible(said("done"), said("done", False) + said("made", False), banned)
    )


def union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def _can_meet(
    first: frozenset[str], second: frozenset[str], apart: Sequence[tuple[frozenset[str], frozenset[str]]]
) -> bool:
    return any(one != other and can_meet(one, other, apart) for one in first for other in second)


def can_meet(one: str, other: str, apart: Sequence[tuple[frozenset[str], frozenset[str]]]) -> bool:
    """Whether two things may come together."""
    return not any((one in a and other in b) or (one in b and other in a) for a, b in apart)


def _order_possible(positive: Sequence[Predicate], negative: Sequence[Predicate]) -> bool:
    for one, other in combinations(positive, 2):
        if one.on_top == other.on_top and one.ids == other.ids[::-1] and one.ids != other.ids:
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
