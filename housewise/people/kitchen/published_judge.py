"""How the authors' published functions decide, where that is not what the text of a wish says.

131 of the 228 published functions of ADAPT decide something else than their text. ``PublishedJudge`` decides as they
do, so that figures can be laid beside the published ones; nothing in Housewise uses it unless it is asked to. People's
files say under ``published`` of each of the 131 what its function asks for. All of the functions besides

- take a dish for made more easily (eggs need not be cooked, cereal and yoghurt need no bowl),
- count things and not kinds (two tomatoes are two vegetables),
- see what is served first only at the dining table and the desk (a comma is missing in their list of places),
- are content when one thing that was made stands where it should.

For one person they count what was not made twice. Two things are only nearly theirs: whether the desk "was used" (3.10)
is whether something stands there in the end, and 13.1 looks at verbs alone, also where a name beside it would have
violated it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from housewise.people.kitchen.conditions import Predicate
from housewise.people.kitchen.preference_judge import PreferenceJudge, PreferenceVerdict, is_served_before
from housewise.people.kitchen.profile_files import KitchenProfile, KitchenPreference
from housewise.worlds.kitchen.kitchen_data import Dish
from housewise.worlds.kitchen.trace import Trace

VISIBLE_DINING_PLACES = frozenset({"table_0", "desk_0"})


class PublishedJudge(PreferenceJudge):
    """A judge that decides as the published functions do."""

    def verdict(self, preference: KitchenPreference, trace: Trace) -> PreferenceVerdict:
        found = super().verdict(to_published(preference), trace)
        return dataclasses.replace(found, preference=preference)

    def satisfaction(self, person: KitchenProfile, trace: Trace) -> float | None:
        """Satisfied of applicable wishes (0 to 1); what was not made counts as often as the functions count it."""
        satisfied = violated = 0
        for verdict in self.verdicts(person, trace):
            undone = verdict.decision == "violated" and verdict.why.startswith("not made")
            satisfied += verdict.decision == "satisfied"
            violated += (person.published_undone_weight if undone else 1) * (verdict.decision == "violated")
        return satisfied / (satisfied + violated) if satisfied + violated else None

    def _when_made(self, dish: Dish) -> str:
        return dish.published

    def _count(self, ids: Iterable[str]) -> int:
        return len(set(ids))

    def _predicate(self, predicate: Predicate, trace: Trace) -> bool:
        if predicate.name == "served_at":
            state = trace.state
            return any(predicate.ids[0].intersection(state.holders(id)) for id in trace.prepared_foods())
        if predicate.name == "served_before":
            seen = [serving for serving in trace.servings if serving.place in VISIBLE_DINING_PLACES]
            return is_served_before(predicate.ids[0], predicate.ids[1], seen)
        return super()._predicate(predicate, trace)


def to_published(preference: KitchenPreference) -> KitchenPreference:
    """The wish with the tasks, condition and predicate of its published function."""
    published = preference.published
    if published is None:
        return preference
    return dataclasses.replace(
        preference,
        tasks=published.tasks,
        condition=published.condition,
        wish=published.wish,
        if_text=published.if_text,
        wants_text=published.wants_text,
    )
