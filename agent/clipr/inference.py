"""Choices in batches: candidates shuffled for each scenario and model, unreadable replies asked again once alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from housewise.agent.clipr.language_steps import ActionChoice, Guidance, JudgedChoice, LanguageSteps
from housewise.worlds.choices.scenario import Scenario, Situation, presentation_order

_Any = TypeVar("_Any")


@dataclass(frozen=True)
class ScoredChoice:
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

    language: LanguageSteps
    batch_size: int = 10
    seed: int = 0

    def decide(self, scenarios: Sequence[Scenario], guidance: Guidance) -> list[ScoredChoice]:
        """One decision for each scenario, in order."""
        choices = self.choose([scenario.situation for scenario in scenarios], guidance)
        return [score_choice(scenario, choice) for scenario, choice in zip(scenarios, choices, strict=True)]

    def decide_one(self, scenario: Scenario, guidance: Guidance) -> ScoredChoice:
        """One scenario in a call of its own."""
        return self.decide([scenario], guidance)[0]

    def choose(self, situations: Sequence[Situation], guidance: Guidance) -> list[ActionChoice]:
        """One choice for each situation, in order; its action counts as the situation's own do."""
        return [
            choice
            for batch in split_batches(situations, self.batch_size)
            for choice in self._choose_batch(batch, guidance)
        ]

    def _choose_batch(self, batch: Sequence[Situation], guidance: Guidance) -> list[ActionChoice]:
        orders = [self._order(situation) for situation in batch]
        shown = [_reorder_actions(situation, order) for situation, order in zip(batch, orders, strict=True)]
        choices = self.language.choose(shown, guidance)
        usage, found = self.language.usage, []
        for order, situation, first in zip(orders, shown, choices, strict=True):
            choice = first
            if not _is_readable(choice, situation):
                usage.malformed += 1
                choice = self.language.choose([situation], guidance)[0]
                if not _is_readable(choice, situation):
                    usage.unreadable += 1
                    choice = ActionChoice(None, choice.reasoning)
            found.append(replace(choice, action=None if choice.action is None else order[choice.action]))
        return found

    def _order(self, situation: Situation) -> list[int]:
        return presentation_order(situation.id, self.language.name, self.seed, len(situation.actions))


def accuracy(decisions: Sequence[ScoredChoice]) -> float:
    """Share of the preferred actions; 0 of none."""
    return sum(decision.right for decision in decisions) / len(decisions) if decisions else 0.0


def judged_choices(scenarios: Sequence[Scenario], decisions: Sequence[ScoredChoice]) -> list[JudgedChoice]:
    """Decisions as the critic may see them: the right action is not among what it is told."""
    return [
        JudgedChoice(scenario.situation, decision.action, decision.right, decision.reasoning)
        for scenario, decision in zip(scenarios, decisions, strict=True)
    ]


def split_batches(items: Sequence[_Any], size: int) -> Iterator[Sequence[_Any]]:
    """So many items at a time, the last time what is left."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _reorder_actions(situation: Situation, order: Sequence[int]) -> Situation:
    return replace(situation, actions=tuple(situation.actions[number] for number in order))


def _is_readable(choice: ActionChoice, situation: Situation) -> bool:
    return choice.action is not None and 0 <= choice.action < len(situation.actions)


def score_choice(scenario: Scenario, choice: ActionChoice) -> ScoredChoice:
    """What a choice is worth; an action that there is not is neither right nor does it satisfy."""
    return ScoredChoice(
        scenario.id,
        choice.action,
        choice.action == scenario.preferred,
        choice.action in scenario.satisfying,
        choice.reasoning,
        choice.confidence,
    )
