"""Scenes of Introspective Planning (mobile manipulation) and their conversion to scenarios."""

from __future__ import annotations

import re
from typing import Literal

from housewise.core.errors import DataError
from housewise.worlds.choices.data_files import DataRow
from housewise.worlds.choices.scenario import Scenario, Situation

PREPOSITION = re.compile(r"\b(in|into|on|beside|near|next to|by)\b(?: the)?", re.IGNORECASE)


class IntroplanPlacement(DataRow):
    """An object to be put somewhere, or to be brought if it has no location."""

    object: str
    location: str | None = None

    def action(self, request: str) -> str:
        """Return the action in words, with the preposition of the request."""
        if self.location is None:
            return f"bring the {self.object}"
        found = PREPOSITION.search(request)
        where = found.group(1).lower() if found else "at"
        return f"put the {self.object} {where} the {self.location}"


class PlacementOption(IntroplanPlacement):
    """A placement that is an option of a decision."""

    satisfies_request: bool


class SingleDecision(DataRow):
    """The decision of an ambiguous scene."""

    options: tuple[PlacementOption, ...]
    request_type: str
    preferred: IntroplanPlacement | None
    label_from: str


class IntroplanScene(DataRow):
    """One scene of the data set."""

    id: str
    fold: Literal["test", "knowledge"]
    objects: tuple[str, ...]
    request: str
    intent_object: tuple[str, ...] = ()
    intent_location: tuple[str, ...] = ()
    single_decision: SingleDecision | None
    same_as: str

    def scenario(self, tier: Literal["training", "in distribution"]) -> Scenario:
        """Convert the scene to a scenario.

        Raises:
            DataError: It is not ambiguous, or its labels contradict its options.
        """
        decision = self.single_decision
        if decision is None:
            raise DataError(f"scene {self.id}: is not ambiguous; only scenes with single_decision are choices")
        actions = tuple(option.action(self.request) for option in decision.options)
        wanted = decision.preferred.action(self.request) if decision.preferred else None
        if wanted not in actions:
            raise DataError(f"scene {self.id}: single_decision.preferred is not one of its options; mend the label")
        satisfying = frozenset(i for i, option in enumerate(decision.options) if option.satisfies_request)
        situation = Situation(self.id, self.objects, self.request, actions)
        return Scenario(
            situation,
            satisfying,
            actions.index(wanted),
            tier,
            decision.request_type,
            decision.label_from,
            self._annotated_option(decision),
        )

    def _annotated_option(self, decision: SingleDecision) -> int | None:
        """Return the option that the data set's annotator marked, or None unless it is exactly one."""
        marked = [
            number
            for number, option in enumerate(decision.options)
            if option.object in self.intent_object
            and (option.location is None or option.location in self.intent_location)
        ]
        return marked[0] if len(marked) == 1 else None
