"""Choose actions in batches. Candidates are shuffled per scenario; an unreadable reply is asked for again once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from housewise.agent.clipr.actions import ChooseActions, CliprObservation, Play
from housewise.agent.clipr.language_steps import ActionChoice, Guidance, LanguageSteps
from housewise.worlds.choices.scenario import Situation, presentation_order

_Any = TypeVar("_Any")


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

    def choose_actions(self, situations: Sequence[Situation], guidance: Guidance) -> ChooseActions:
        """Choose in a batch, as an action that says how many calls it took."""
        before = self.language.usage.calls
        choices = tuple(self.choose(situations, guidance))
        return ChooseActions(choices, self.language.usage.calls - before)

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
        found = []
        for order, situation, first in zip(orders, shown, choices, strict=True):
            choice = first
            if not _is_readable(choice, situation):
                choice = self.language.choose([situation], guidance)[0]
                if not _is_readable(choice, situation):
                    self.language.usage.unreadable += 1
                    choice = ActionChoice(None, choice.reasoning)
            found.append(replace(choice, action=None if choice.action is None else order[choice.action]))
        return found

    def _order(self, situation: Situation) -> list[int]:
        return presentation_order(situation.id, self.language.name, self.seed, len(situation.actions))


def choose_all(inference: Inference, seen: CliprObservation, guidance: Guidance) -> Play[None]:
    """Choose in every batch by the same guidance (section 3)."""
    while seen.batch:
        seen = yield inference.choose_actions(seen.batch, guidance)


def split_batches(items: Sequence[_Any], size: int) -> Iterator[Sequence[_Any]]:
    """Yield consecutive batches of ``size`` items. The last batch may be smaller."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _reorder_actions(situation: Situation, order: Sequence[int]) -> Situation:
    return replace(situation, actions=tuple(situation.actions[number] for number in order))


def _is_readable(choice: ActionChoice, situation: Situation) -> bool:
    return choice.action is not None and 0 <= choice.action < len(situation.actions)
