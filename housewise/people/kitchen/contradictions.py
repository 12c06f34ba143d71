"""Wishes of one person that no breakfast can fulfil together, found from their conditions alone.

Everything that could be there is taken to be there: what only a scene's lacks make impossible is no contradiction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from housewise.people.kitchen.conditions import AllOf, AnyOf, Condition, Not, Predicate, normalize_words, parse_condition
from housewise.people.kitchen.consistency import TooManyCases, expand_cases, are_consistent
from housewise.worlds.kitchen.kitchen_data import Kitchen, KitchenTask

if TYPE_CHECKING:
    from housewise.people.kitchen.profile_files import KitchenPreference


def find_contradiction(preferences: Sequence[KitchenPreference], kitchen: Kitchen) -> str | None:
    """The first wish that cannot be fulfilled, or two that cannot be fulfilled together, in words; None without any."""
    made = {name: parse_condition(dish.made, kitchen.find_ids) for name, dish in kitchen.tasks.dishes.items()}
    for one in preferences:
        for number in one.tasks:
            if not _possible([one], kitchen.tasks.tasks[number], kitchen, made):
                return f"preference {one.id} can never be satisfied; change what it wants ({one.wants_text})"
    for first, second in combinations(preferences, 2):
        for number in sorted(set(first.tasks) & set(second.tasks)):
            task = kitchen.tasks.tasks[number]
            if not _possible([first, second], task, kitchen, made):
                return (
                    f"preferences {first.id} and {second.id} contradict each other where the task is {task.text!r}; "
                    f"change one ({first.wants_text} against {second.wants_text})"
                )
    return None


def _possible(preferences: Sequence[KitchenPreference], task: KitchenTask, kitchen: Kitchen, made: Mapping[str, Condition]) -> bool:
    """Whether a breakfast can fulfil all of them; of several, one with a condition is fulfilled where that is false.

    Args:
        made: for each dish the condition under which it counts as made.
    """

    def decide(predicate: Predicate) -> bool | None:
        if predicate.name == "available":
            return len({kitchen.kinds[id] for id in predicate.ids[0]}) >= predicate.kinds
        if predicate.name == "task_says":
            return any(word in normalize_words(task.text) for word in predicate.words)
        if predicate.name == "done" and not any(kitchen.verbs.matching_verbs(word) for word in predicate.words):
            return False
        able = kitchen.usable if predicate.name == "used" else kitchen.foods
        if predicate.name != "served_at" and not all(ids & able for ids in predicate.ids):
            return False
        return None

    wanted: list[Condition] = []
    for preference in preferences:
        if preference.condition is None:
            wanted.append(preference.wish)
        elif len(preferences) > 1:
            wanted.append(AnyOf((Not(preference.condition), preference.wish)))
        elif expand_cases(preference.condition, decide):
            wanted.append(AllOf((preference.condition, preference.wish)))
        wanted += [made[dish] for dish in preference.dishes if dish in task.dishes]
    try:
        return any(are_consistent(case, kitchen.kinds) for case in expand_cases(AllOf(tuple(wanted)), decide))
    except TooManyCases:
        return True
