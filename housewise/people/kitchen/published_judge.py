"""Evaluates preferences as the functions that ADAPT's authors published do.

131 of the 228 published functions decide something else than the text of their preference. ``PublishedJudge`` decides
as they do, so that results can be compared with the published ones. It is used only on request. The profile files say
under ``published`` what each of the 131 functions checks. In addition, all functions

- count a dish as made more easily (eggs need not be cooked, cereal and yoghurt need no bowl),
- count things instead of kinds (two tomatoes are two vegetables),
- notice servings only at the dining table and the desk (their list of places lacks a comma),
- accept a final place if one of the prepared foods is there.

For one person they count a dish that was not made twice. Two functions are only approximated: 3.10 (whether the desk
"was used") checks whether something stands there at the end, and 13.1 checks verbs alone, although the published
function would also count a name as a violation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from housewise.people.kitchen.conditions import Predicate
from housewise.people.kitchen.preference_judge import PreferenceJudge, PreferenceVerdict, is_served_before
from housewise.people.kitchen.profiles import KitchenPreference, KitchenProfile
from housewise.worlds.kitchen.kitchen_data import Dish
from housewise.worlds.kitchen.trace import Trace

VISIBLE_DINING_PLACES = frozenset({"table_0", "desk_0"})
"""The places at which the published functions notice that food is served."""


class PublishedJudge(PreferenceJudge):
    """A ``PreferenceJudge`` that decides as the published functions do."""

    def verdict(self, preference: KitchenPreference, trace: Trace) -> PreferenceVerdict:
        """Decide about one preference as its published function does."""
        return dataclasses.replace(super().verdict(preference.published or preference, trace), preference=preference)

    def satisfaction(self, profile: KitchenProfile, trace: Trace) -> float | None:
        """Return the share of satisfied among applicable preferences (0 to 1), or None if none is applicable.

        Dishes that were not made are weighted with ``published_undone_weight``.
        """
        satisfied = violated = 0
        for verdict in self.verdicts(profile, trace):
            undone = verdict.decision == "violated" and verdict.why.startswith("not made")
            satisfied += verdict.decision == "satisfied"
            violated += (profile.published_undone_weight if undone else 1) * (verdict.decision == "violated")
        return satisfied / (satisfied + violated) if satisfied + violated else None

    def _made_condition(self, dish: Dish) -> str:
        return dish.published

    def _count_kinds(self, ids: Iterable[str]) -> int:
        return len(set(ids))

    def _predicate_holds(self, predicate: Predicate, trace: Trace) -> bool:
        if predicate.name == "served_at":
            return any(predicate.ids[0].intersection(trace.state.holders(id)) for id in trace.prepared_foods())
        if predicate.name == "served_before":
            servings = [serving for serving in trace.servings if serving.place in VISIBLE_DINING_PLACES]
            return is_served_before(predicate.ids[0], predicate.ids[1], servings)
        return super()._predicate_holds(predicate, trace)
