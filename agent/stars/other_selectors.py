"""Selectors beside the paper's: likelihood over all rotations of the options, ratings of goals, and a shortlist."""

from __future__ import annotations

import re
from collections.abc import Sequence

from housewise.agent.stars.lessons import GoalSelection, GoalSelector
from housewise.agent.stars.model_usage import SELECTION, ModelUsage
from housewise.agent.stars.prompts import StarsPrompts
from housewise.agent.stars.responses import GoalCandidate, most_probable
from housewise.agent.stars.search_tree import construct_goal_prompt
from housewise.agent.stars.stars_loop import NumberedSelector, construct_selection_prompt
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.language.completion import CompletionModel, require_text_scorer

MAX_OPTIONS = 40
"""Maximum number of goals for one selection. Of more goals the most probable ones are used."""
_NUMBER = re.compile(r"\s*(\d{1,3})")


class RotatedSelector(NumberedSelector):
    """Asks the paper's question with rotated options, because models prefer certain positions.

    Args:
        model: See NumberedSelector.
        templates: See NumberedSelector.
        rotation: Number of places by which the options are rotated.
    """

    def __init__(self, model: CompletionModel, templates: StarsPrompts, rotation: int) -> None:
        super().__init__(model, templates)
        self._rotation = rotation

    def order(self, candidates: Sequence[GoalCandidate]) -> list[GoalCandidate]:
        """See NumberedSelector.order."""
        shown = super().order(candidates)
        places = self._rotation % len(shown)
        return shown[places:] + shown[:places]


class AllRotationsSelector:
    """Selects the goal whose number is most probable as the answer, summed over all rotations of the options.

    Every option appears at every position once, which cancels the model's preference for positions.

    Args:
        model: Reports the most probable first tokens of its answer.
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
        rotations = [shown[places:] + shown[:places] for places in range(len(shown))]
        questions = [
            construct_selection_prompt(self._prompts, task, about, [each.text for each in order]) for order in rotations
        ]
        replies = self._model.answer(self._system, questions)
        usage.add(SELECTION, replies)
        scores = [0.0] * len(shown)
        for rotation, reply in enumerate(replies):
            for token in reply.first:
                said = _NUMBER.fullmatch(token.text)
                if said and 1 <= int(said[1]) <= len(shown):
                    # Option n of an order rotated by r is shown[(r + n - 1) % len(shown)].
                    scores[(rotation + int(said[1]) - 1) % len(shown)] += token.probability
        options = tuple(candidate.text for candidate in shown)
        if not any(scores):
            return GoalSelection(most_probable(candidates), options, "", fallback=True)
        best = scores.index(max(scores))
        return GoalSelection(shown[best], options, str(best + 1))


class RatingSelector:
    """Selects the goal with the highest mean token log-probability after the prompt that asks for a goal.

    The retriever of a goal and its probability at retrieval are ignored.

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
        prompt = construct_goal_prompt(self._prompts, task, about)
        ratings = self._model.score_texts(prompt, [f" {text}" for text in options])
        usage.add(SELECTION, ratings)
        probabilities = [rating.probability for rating in ratings]
        best = probabilities.index(max(probabilities))
        return GoalSelection(candidates[best], options, str(best + 1))


class ShortlistSelector:
    """Lets another selector select among the ``MAX_OPTIONS`` most probable goals.

    Args:
        selector: Selects among them.
    """

    def __init__(self, selector: GoalSelector) -> None:
        self._selector = selector

    def select(
        self, task: StarsTask, about: TaskObject, candidates: Sequence[GoalCandidate], usage: ModelUsage
    ) -> GoalSelection:
        """See GoalSelector.select."""
        best = sorted(candidates, key=lambda each: -each.response.probability)[:MAX_OPTIONS]
        options = [each for each in candidates if each in best] if len(candidates) > MAX_OPTIONS else candidates
        return self._selector.select(task, about, options, usage)
