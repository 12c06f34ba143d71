"""Selection: which of several goals is used, the most probable one or one that a model selects. (STARS, selection)"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from housewise.agent.stars.model_usage import ModelUsage
from housewise.agent.stars.prompts import StarsPrompts
from housewise.agent.stars.repair import GoalCandidate
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.language.completion import CompletionModel, require_text_scorer

_NUMBER = re.compile(r"\s*(\d{1,3})(?!\d)")


@dataclass(frozen=True)
class GoalSelection:
    """The selected goal.

    Attributes:
        candidate: The goal.
        options: Goals in the order shown to the model; empty if no model was asked.
        answer: Reply of the model, or None if no model was asked.
        fallback: Whether the reply named no option, so that the most probable goal was used.
    """

    candidate: GoalCandidate
    options: tuple[str, ...] = ()
    answer: str | None = None
    fallback: bool = False


class GoalSelector(Protocol):
    """Selects one of at least one goals."""

    def select(
        self, task: StarsTask, about: TaskObject, candidates: Sequence[GoalCandidate], usage: ModelUsage
    ) -> GoalSelection:
        """Return the goal to use."""


class LikeliestSelector:
    """Selects the goal with the highest mean token probability. No model is asked."""

    def select(
        self, task: StarsTask, about: TaskObject, candidates: Sequence[GoalCandidate], usage: ModelUsage
    ) -> GoalSelection:
        """See GoalSelector.select."""
        return GoalSelection(most_probable(candidates))


class NumberedSelector:
    """Asks a model for the number of the best goal, with one token at temperature 0.

    Args:
        model: Answers the question.
        prompts: Prompt templates.
        rotation: Number of places by which the options are rotated, because models prefer certain positions. Without
            rotation the most probable goal is listed last.
        hints: Whether the prompt includes facts about the house (STARS*).
    """

    def __init__(self, model: CompletionModel, prompts: StarsPrompts, rotation: int = 0, hints: bool = False) -> None:
        self._model, self._prompts, self._rotation = model, prompts, rotation
        self._system = prompts.selection.system_message(hints)

    def select(
        self, task: StarsTask, about: TaskObject, candidates: Sequence[GoalCandidate], usage: ModelUsage
    ) -> GoalSelection:
        """Select the goal that the model names, or the most probable goal if it names none."""
        if len(candidates) == 1:
            return GoalSelection(candidates[0])
        shown = sorted(candidates, key=lambda candidate: candidate.response.probability)
        turn = self._rotation % len(shown)
        shown = shown[turn:] + shown[:turn]
        options = tuple(candidate.text for candidate in shown)
        [reply] = self._model.answer(self._system, [self._prompts.for_selection(task, about, options)])
        usage.add("selection", [reply])
        said = _NUMBER.match(reply.text)
        number = int(said[1]) if said else 0
        if 1 <= number <= len(shown):
            return GoalSelection(shown[number - 1], options, reply.text)
        return GoalSelection(most_probable(candidates), options, reply.text, fallback=True)


class RotationSelector:
    """Selects the goal whose number is most probable as the answer, summed over all rotations of the options.

    Every option appears at every position once, which cancels the model's preference for positions.

    Args:
        model: Reports alternatives of its answer's token.
        prompts: Prompt templates.
        hints: Whether the prompt includes facts about the house (STARS*).
    """

    def __init__(self, model: CompletionModel, prompts: StarsPrompts, hints: bool = False) -> None:
        self._model, self._prompts = model, prompts
        self._system = prompts.selection.system_message(hints)

    def select(
        self, task: StarsTask, about: TaskObject, candidates: Sequence[GoalCandidate], usage: ModelUsage
    ) -> GoalSelection:
        """Select the goal with the largest sum, or the most probable goal if no number is among the alternatives."""
        if len(candidates) == 1:
            return GoalSelection(candidates[0])
        shown = sorted(candidates, key=lambda candidate: candidate.response.probability)
        turns = [shown[turn:] + shown[:turn] for turn in range(len(shown))]
        questions = [self._prompts.for_selection(task, about, [each.text for each in order]) for order in turns]
        replies = self._model.answer(self._system, questions)
        usage.add("selection", replies)
        scores = [0.0] * len(shown)
        for turn, reply in enumerate(replies):
            for token in reply.first:
                said = _NUMBER.fullmatch(token.text)
                if said and 1 <= int(said[1]) <= len(shown):
                    scores[(turn + int(said[1]) - 1) % len(shown)] += token.probability
        options = tuple(candidate.text for candidate in shown)
        if not any(scores):
            return GoalSelection(most_probable(candidates), options, "", fallback=True)
        best = scores.index(max(scores))
        return GoalSelection(shown[best], options, str(best + 1))


class RatingSelector:
    """Selects the goal with the highest mean token log-probability after the prompt that asks for a goal.

    Neither who retrieved a goal nor its probability at retrieval matters.

    Args:
        model: Rates texts.
        prompts: Prompt templates.

    Raises:
        UserError: The model cannot rate texts.
    """

    def __init__(self, model: CompletionModel, prompts: StarsPrompts) -> None:
        self._model, self._prompts = require_text_scorer(model), prompts

    def select(
        self, task: StarsTask, about: TaskObject, candidates: Sequence[GoalCandidate], usage: ModelUsage
    ) -> GoalSelection:
        """See GoalSelector.select."""
        if len(candidates) == 1:
            return GoalSelection(candidates[0])
        options = tuple(candidate.text for candidate in candidates)
        ratings = self._model.score_texts(self._prompts.for_goal(task, about), [f" {text}" for text in options])
        usage.add("selection", ratings)
        probabilities = [rating.probability for rating in ratings]
        best = probabilities.index(max(probabilities))
        return GoalSelection(candidates[best], options, str(best + 1))


def most_probable(candidates: Sequence[GoalCandidate]) -> GoalCandidate:
    """Return the goal with the highest mean token probability, and the first retrieved one of equal goals."""
    return max(candidates, key=lambda candidate: candidate.response.probability)
