"""What becomes of retrieved goals: the categories of figure 6, by their definition and as they were published."""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import Enum

from housewise.agent.stars.oversight import closes_what_it_opens, goal_place
from housewise.agent.stars.responses import GoalAnalysis, MismatchKind
from housewise.agent.stars.tasks import StarsTask, TaskObject


class Category(Enum):
    """Categories of viable goals; unviable ones go by their kind of mismatch."""

    RELEVANT = "situationally relevant"
    POST_COMPLETION = "post-completion error"
    NOT_REASONABLE = "viable but not reasonable"
    ALTERNATIVE = "reasonable alternative location"
    EMBODIMENT = "embodiment limitation"
    UNCLASSIFIED = "unclassified"


CATEGORIES = (*(kind.value for kind in MismatchKind), *(each.value for each in Category))
_INSTEAD = {"pantry": "cupboard", "cupboard": "pantry"}
# What the robot cannot see: that dishes are dirty, that bottles are empty.
_UNSEEN = {"cupboard": {"dishwasher", "sink"}, "fridge": {"garbage", "recycling bin"}}
_SLIPS = frozenset({"cupboard", "pantry", "dishwasher"})


def category(analysis: GoalAnalysis, about: TaskObject) -> str:
    """The category of a response by the paper's definitions, on what the sentence says.

    Unviable responses go by the kind of mismatch that decides.
    """
    if analysis.kind is not None:
        return analysis.kind.value
    place = goal_place(analysis, about.thing)
    if place is None:
        return Category.UNCLASSIFIED.value
    return _viable(place, closes_what_it_opens(analysis), about.wanted).value


def published_category(analysis: GoalAnalysis, text: str, about: TaskObject, task: StarsTask) -> str:
    """The category as it was published, mistakes included.

    Of several mismatches the last one counts, and viable sentences were searched for words: one that does not have
    the object's name gets no category, "closed" anywhere closes everything, and no cabinet is ever the right place,
    as the "bin" in it was found.
    """
    if analysis.mismatches:
        return analysis.mismatches[-1].kind.value
    if about.thing.noun not in text:
        return Category.UNCLASSIFIED.value
    place = _searched_place(text, task)
    openable = {fixture.name for fixture in task.fixtures if "openable" in fixture.affordances}
    return _viable(place, "closed" in text or place not in openable, about.wanted).value


def _viable(place: str, closed: bool, wanted: Collection[str]) -> Category:
    right = place in wanted
    alternative = _INSTEAD.get(place) in wanted
    if right and closed:
        return Category.RELEVANT
    if (right or alternative) and place in _SLIPS and not closed:
        return Category.POST_COMPLETION
    if not closed:
        return Category.NOT_REASONABLE
    if alternative:
        return Category.ALTERNATIVE
    return Category.EMBODIMENT if _UNSEEN.get(place, set()) & set(wanted) else Category.NOT_REASONABLE


def _searched_place(text: str, task: StarsTask) -> str:
    """The fixture whose name comes first behind the verb; "" for none, and for a cabinet."""
    said = re.split(r"\b(?:is|are) (?=in |on )", text, maxsplit=1)[-1]
    words = {"refrigerator": "fridge", "trash": "garbage", "bin": "recycling bin"}
    names = words | {fixture.name: fixture.name for fixture in task.fixtures}
    found = [(match.start(), name) for word, name in names.items() if (match := re.search(rf"\b{word}\b", said))]
    place = min(found, default=(0, ""))[1]
    return "" if "cabinet" in said.split(" and ")[0] else place
