"""Select which of a person's wishes to fulfil, and how, if not all are compatible."""

from __future__ import annotations

from dataclasses import dataclass

from housewise.people.kitchen.conditions import AllOf, Not, Predicate
from housewise.people.kitchen.consistency import Case, LiteralIndex, TooManyCases, are_consistent, expand_cases, union
from housewise.people.kitchen.preference_judge import PreferenceJudge
from housewise.people.kitchen.profiles import KitchenPreference, KitchenProfile
from housewise.worlds.kitchen.trace import Trace

MAX_SEARCH_NODES = 20_000  # bounds the branch-and-bound search

# Predicates over the trajectory that stay true once they are true.
PERMANENT_PREDICATES = frozenset(
    {"used", "together", "before", "made", "done", "cooked", "in_container", "on_appliance", "available", "task_says"}
)


@dataclass(frozen=True)
class WishSelection:
    """What has to become true.

    Attributes:
        said: Literals to make true, or to keep untrue.
        dishes: The task's dishes that can be made.
        given_up: Applicable wishes that cannot be fulfilled together with the others, each with the reason.
    """

    said: LiteralIndex
    dishes: tuple[str, ...]
    given_up: dict[str, str]


def select_wishes(person: KitchenProfile, judge: PreferenceJudge, trace: Trace) -> WishSelection:
    """Return the largest set of wishes that is compatible in this scene, given what has happened so far."""
    kitchen = judge.kitchen
    absent = kitchen.ids - trace.available
    groups = {name: kitchen.groups[kitchen.tasks.dishes[name].of] for name in kitchen.tasks.tasks[judge.task].dishes}
    dishes = tuple(name for name, of in groups.items() if of - absent)
    given_up: dict[str, str] = {}
    wanted: list[tuple[KitchenPreference, list[Case]]] = []
    for preference in person.preferences:
        if judge.task not in preference.tasks:
            continue
        lacking = [dish for dish in judge.concerned_dishes(preference) if dish not in dishes]
        if lacking:
            given_up[preference.id] = f"there is nothing to make {' and '.join(lacking)} of"
            continue
        ways = _ways_to_fulfil(preference, judge, trace, absent)
        if not ways:
            given_up[preference.id] = "the scene or what has happened leaves no way"
        elif () not in ways[:1]:
            wanted.append((preference, ways))
    chosen = max(
        (_best_combination(wanted, base, judge, absent) for base in _ways_to_make(dishes, judge, trace, absent)),
        key=len,
    )
    for preference, _ in wanted:
        if preference.id not in chosen:
            given_up[preference.id] = "it does not go together with the other wishes"
    literals = dict.fromkeys(literal for case in chosen.values() for literal in case)
    return WishSelection(LiteralIndex(literals), dishes, given_up)


def _ways_to_make(dishes: tuple[str, ...], judge: PreferenceJudge, trace: Trace, absent: frozenset[str]) -> list[Case]:
    """Return what has to be true for the dishes to count as made. This has priority over wishes."""

    def decide(predicate: Predicate) -> bool | None:
        return True if judge.holds(predicate, trace) else None

    ways = expand_cases(AllOf(tuple(judge.when_made[dish] for dish in dishes)), decide)
    return [way for way in ways if are_consistent(way, judge.kitchen.kinds, absent)] or [()]


def _ways_to_fulfil(
    preference: KitchenPreference, judge: PreferenceJudge, trace: Trace, absent: frozenset[str]
) -> list[Case]:
    """Return the cases in which a wish is fulfilled, followed by the cases in which it does not apply."""

    def decide(predicate: Predicate) -> bool | None:
        holds = judge.holds(predicate, trace)
        if predicate.name in ("available", "task_says") or (holds and predicate.name in PERMANENT_PREDICATES):
            return holds
        if predicate.name == "served_before":
            return _serving_order_holds(predicate, trace)
        return None

    try:
        ways = expand_cases(preference.wish, decide)
        if preference.condition is not None:
            if not expand_cases(preference.condition, decide):
                return [()]
            ways = ways + expand_cases(Not(preference.condition), decide)
    except TooManyCases:
        return []
    kinds = judge.kitchen.kinds
    base = union(judge.kitchen.groups[judge.kitchen.tasks.dishes[dish].of] for dish in judge.dishes)

    def unnatural(way: Case) -> tuple[int, int]:
        """Ways about what the task asks for come before ways that need a dish of their own."""
        meet = [literal.predicate for literal in way if literal.positive and len(literal.predicate.ids) == 2]
        return (len(way) > 0, sum(not (p.ids[0] & base or p.ids[1] & base) for p in meet))

    return sorted(
        (way for way in ways if are_consistent(way, kinds, absent)), key=lambda way: (*unnatural(way), len(way))
    )


def _serving_order_holds(predicate: Predicate, trace: Trace) -> bool | None:
    """Return whether one group was served before another. None while the later group has not been served."""
    first, second = (
        next((serving.step for serving in trace.servings if serving.sources & group), None) for group in predicate.ids
    )
    return None if second is None else first is not None and first < second


def _best_combination(
    wanted: list[tuple[KitchenPreference, list[Case]]], base: Case, judge: PreferenceJudge, absent: frozenset[str]
) -> dict[str, Case]:
    """Return a way for as many compatible wishes as possible, found by branch and bound."""
    order = sorted(wanted, key=lambda pair: len(pair[1]))
    kinds = judge.kitchen.kinds
    best: dict[str, Case] = {}
    nodes = 0

    def search(index: int, chosen: dict[str, Case], literals: Case) -> None:
        nonlocal best, nodes
        nodes += 1
        if len(chosen) > len(best):
            best = dict(chosen)
        left = len(order) - index
        if not left or len(chosen) + left <= len(best) or nodes > MAX_SEARCH_NODES:
            return
        preference, ways = order[index]
        for way in ways:
            together = tuple(dict.fromkeys((*literals, *way)))
            if are_consistent(together, kinds, absent):
                search(index + 1, {**chosen, preference.id: way}, together)
                if len(best) == len(order):
                    return
        search(index + 1, chosen, literals)

    search(0, {}, base)
    return best
