"""Choices in batches: candidates shuffled for each scenario and model, unreadable replies asked again once alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from housewise.agent.clipr.language import Choice, Guidance, Judged, Language
from housewise.worlds.choices.scenario import Scenario, Situation, shown_order

_Any = TypeVar("_Any")


@dataclass(frozen=True)
class Decision:
    """A choice with its score.

    Attributes:
        scenario: id.
        action: number of the candidate, None where no reply could be read.
        right: whether it is the preferred one.
        satisfies: whether it does what the request says.
        reasoning: the model's.
        confidence: the model's, 1 to 10.
    """

    scenario: str
    action: int | None
    right: bool
    satisfies: bool
    reasoning: str = ""
    confidence: int | None = None


@dataclass(frozen=True)
class Inference:
    """Chooses with a language model or components.

    Args:
        language: what chooses.
        batch_size: scenarios a call.
        seed: of the shuffling, beside the scenario's id and the model's name.
    """

    language: Language
    batch_size: int = 10
    seed: int = 0

    def decide(self, scenarios: Sequence[Scenario], guidance: Guidance) -> list[Decision]:
        """One decision for each scenario, in order."""
        return [decision for batch in batches(scenarios, self.batch_size) for decision in self._batch(batch, guidance)]

    def decide_one(self, scenario: Scenario, guidance: Guidance) -> Decision:
        """One scenario in a call of its own."""
        return self._batch([scenario], guidance)[0]

    def _batch(self, batch: Sequence[Scenario], guidance: Guidance) -> list[Decision]:
        orders = [self._order(scenario) for scenario in batch]
        shown = [_shown(scenario.situation, order) for scenario, order in zip(batch, orders, strict=True)]
        choices = self.language.choose(shown, guidance)
        usage, decisions = self.language.usage, []
        for scenario, order, situation, first in zip(batch, orders, shown, choices, strict=True):
            choice = first
            if not _readable(choice, situation):
                usage.malformed += 1
                choice = self.language.choose([situation], guidance)[0]
                if not _readable(choice, situation):
                    usage.unreadable += 1
                    choice = Choice(None, choice.reasoning)
            decisions.append(_scored(scenario, order, choice))
        return decisions

    def _order(self, scenario: Scenario) -> list[int]:
        return shown_order(scenario.id, self.language.name, self.seed, len(scenario.situation.actions))


def accuracy(decisions: Sequence[Decision]) -> float:
    """Share of the preferred actions; 0 of none."""
    return sum(decision.right for decision in decisions) / len(decisions) if decisions else 0.0


def judged(scenarios: Sequence[Scenario], decisions: Sequence[Decision]) -> list[Judged]:
    """Decisions as the critic may see them: the right action is not among what it is told."""
    return [
        Judged(scenario.situation, decision.action, decision.right, decision.reasoning)
        for scenario, decision in zip(scenarios, decisions, strict=True)
    ]


def batches(items: Sequence[_Any], size: int) -> Iterator[Sequence[_Any]]:
    """So many items at a time, the last time what is left."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _shown(situation: Situation, order: Sequence[int]) -> Situation:
    return replace(situation, actions=tuple(situation.actions[number] for number in order))


def _readable(choice: Choice, situation: Situation) -> bool:
    return choice.action is not None and 0 <= choice.action < len(situation.actions)


def _scored(scenario: Scenario, order: Sequence[int], choice: Choice) -> Decision:
    action = None if choice.action is None else order[choice.action]
    return Decision(
        scenario.id,
        action,
        action == scenario.preferred,
        action in scenario.satisfying,
        choice.reasoning,
        choice.confidence,
    )
