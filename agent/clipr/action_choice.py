"""Choose actions in batches. Candidates are shuffled per scenario; an unreadable reply is asked for again once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from housewise.agent.clipr.language_steps import ActionChoice, Guidance, JudgedChoice, LanguageSteps
from housewise.worlds.choices.scenario import Scenario, Situation, presentation_order

_Any = TypeVar("_Any")


@dataclass(frozen=True)
class ScoredChoice:
    """A choice compared with the scenario's labels.

    Attributes:
        scenario: Id of the scenario.
        action: Index of the chosen candidate, or None if no reply could be parsed.
        right: Whether the chosen action is the preferred one.
        satisfies: Whether the chosen action does what the request says.
        reasoning: Reason that the model gave.
        confidence: Confidence that the model stated, from 1 to 10, or None.
    """

    scenario: str
    action: int | None
    right: bool
    satisfies: bool
    reasoning: str = ""
    confidence: int | None = None


@dataclass(frozen=True)
class Inference:
    """Chooses actions with given language steps.

    Args:
        language: Makes the choices.
        batch_size: Number of scenarios per call.
        seed: Seed for shuffling the candidates, combined with the scenario's id and the model's name.
    """

    language: LanguageSteps
    batch_size: int = 10
    seed: int = 0

    def decide(self, scenarios: Sequence[Scenario], guidance: Guidance) -> list[ScoredChoice]:
        """Choose in each scenario and score the choices, in order."""
        choices = self.choose([scenario.situation for scenario in scenarios], guidance)
        return [score_choice(scenario, choice) for scenario, choice in zip(scenarios, choices, strict=True)]

    def decide_one(self, scenario: Scenario, guidance: Guidance) -> ScoredChoice:
        """Choose in one scenario with a call of its own."""
        return self.decide([scenario], guidance)[0]

    def choose(self, situations: Sequence[Situation], guidance: Guidance) -> list[ActionChoice]:
        """Choose in each situation, in order. The returned indices refer to the unshuffled actions."""
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
    """Return the share of preferred actions; 0 for no choices."""
    return sum(decision.right for decision in decisions) / len(decisions) if decisions else 0.0


def judged_choices(situations: Sequence[Situation], decisions: Sequence[ScoredChoice]) -> list[JudgedChoice]:
    """Return scored choices as the critic may see them, without the correct actions."""
    return [
        JudgedChoice(situation, decision.action, decision.right, decision.reasoning)
        for situation, decision in zip(situations, decisions, strict=True)
    ]


def split_batches(items: Sequence[_Any], size: int) -> Iterator[Sequence[_Any]]:
    """Yield consecutive batches of ``size`` items. The last batch may be smaller."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _reorder_actions(situation: Situation, order: Sequence[int]) -> Situation:
    return replace(situation, actions=tuple(situation.actions[number] for number in order))


def _is_readable(choice: ActionChoice, situation: Situation) -> bool:
    return choice.action is not None and 0 <= choice.action < len(situation.actions)


def score_choice(scenario: Scenario, choice: ActionChoice) -> ScoredChoice:
    """Score a choice. An index outside the candidates is neither right nor satisfying."""
    return ScoredChoice(
        scenario.id,
        choice.action,
        choice.action == scenario.preferred,
        choice.action in scenario.satisfying,
        choice.reasoning,
        choice.confidence,
    )
