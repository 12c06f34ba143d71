"""Which of several goals is used: the likeliest, or the one that a model selects (STARS, selection)."""

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
    """What was selected.

    Attributes:
        candidate: the goal.
        options: the goals in the order in which they were shown; empty where nobody was asked.
        answer: the model's words; None where nobody was asked.
        fallback: whether the answer was no option's number, and the likeliest goal was taken instead.
    """

    candidate: GoalCandidate
    options: tuple[str, ...] = ()
    answer: str | None = None
    fallback: bool = False


class GoalSelector(Protocol):
    """Chooses one of several goals; there is at least one."""

    def select(
        self, task: StarsTask, about: TaskObject, candidates: Sequence[GoalCandidate], usage: ModelUsage
    ) -> GoalSelection:
        """The goal to use."""
        ...


class LikeliestSelector:
    """The goal of highest mean token probability; no model is asked."""

    def select(
        self, task: StarsTask, about: TaskObject, candidates: Sequence[GoalCandidate], usage: ModelUsage
    ) -> GoalSelection:
        """The likeliest goal."""
        return GoalSelection(most_probable(candidates))


class NumberedSelector:
    """A numbered question to a model, the likeliest goal last, answered by one token at temperature 0.

    Args:
        model: answers.
        prompts: has the question.
        rotation: by how many places the options are turned; models lean to places.
        hints: whether the model is told what holds in this house (STARS*).
    """

    def __init__(self, model: CompletionModel, prompts: StarsPrompts, rotation: int = 0, hints: bool = False) -> None:
        self._model, self._prompts, self._rotation = model, prompts, rotation
        self._system = prompts.selection.told(hints)

    def select(
        self, task: StarsTask, about: TaskObject, candidates: Sequence[GoalCandidate], usage: ModelUsage
    ) -> GoalSelection:
        """The goal whose number the model says; the likeliest where it says no number of an option."""
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
    """The goal whose number is likeliest as the answer, summed over all rotations of the options.

    Every option stands at every place once, so that a model's leaning to a place says nothing.

    Args:
        model: tells alternatives of its answer's token.
        prompts: has the question.
        hints: whether the model is told what holds in this house (STARS*).
    """

    def __init__(self, model: CompletionModel, prompts: StarsPrompts, hints: bool = False) -> None:
        self._model, self._prompts = model, prompts
        self._system = prompts.selection.told(hints)

    def select(
        self, task: StarsTask, about: TaskObject, candidates: Sequence[GoalCandidate], usage: ModelUsage
    ) -> GoalSelection:
        """The goal of the largest sum; the likeliest where no number is among the alternatives."""
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
    """The goal of the highest mean token log-probability behind the prompt that asks for one: no question is put.

    Who retrieved the goals does not matter, nor how likely they were to them.

    Args:
        model: rates texts.
        prompts: has the prompt that asks for a goal.

    Raises:
        UserError: when it rates none.
    """

    def __init__(self, model: CompletionModel, prompts: StarsPrompts) -> None:
        self._model, self._prompts = require_text_scorer(model), prompts

    def select(
        self, task: StarsTask, about: TaskObject, candidates: Sequence[GoalCandidate], usage: ModelUsage
    ) -> GoalSelection:
        """The likeliest goal to this model."""
        if len(candidates) == 1:
            return GoalSelection(candidates[0])
        options = tuple(candidate.text for candidate in candidates)
        ratings = self._model.rate(self._prompts.for_goal(task, about), [f" {text}" for text in options])
        usage.add("selection", ratings)
        probabilities = [rating.probability for rating in ratings]
        best = probabilities.index(max(probabilities))
        return GoalSelection(candidates[best], options, str(best + 1))


def most_probable(candidates: Sequence[GoalCandidate]) -> GoalCandidate:
    """The goal of highest mean token probability, the one retrieved first where several are."""
    return max(candidates, key=lambda candidate: candidate.response.probability)
