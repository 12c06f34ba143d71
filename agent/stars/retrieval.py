"""Retrievers of goals: with the paper's prompts, also from servers without alternatives, or by rating viable goals."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from housewise.agent.stars.analysis_and_repair import GoalAnalyser
from housewise.agent.stars.experiment_conditions import StarsCondition
from housewise.agent.stars.lessons import ResponseRetriever
from housewise.agent.stars.model_usage import ModelUsage
from housewise.agent.stars.nearest_meaning import MeaningRetriever, NearestMeaning
from housewise.agent.stars.prompts import StarsPrompts
from housewise.agent.stars.responses import GoalCandidate, RetrievedGoal, RetrievedTexts
from housewise.agent.stars.search_tree import (
    SearchTree,
    TreeThresholds,
    construct_goal_prompt,
    construct_prompt,
    sample_goals,
)
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.agent.stars.viable_goals import list_viable_goals
from housewise.language.completion import CompletionModel, GenerationLimits, require_text_scorer

# About as many as a search tree returns, so that a numbered question stays readable.
_MAX_RATED_GOALS = 8


@dataclass(frozen=True)
class RetrievalConfig:
    """How goals are retrieved.

    Attributes:
        model: Completion model.
        prompts: Prompt templates.
        thresholds: Where the search tree branches.
        goal_prefix: Words that the model's goal begins with. ``{name}`` is the object and ``{are}`` is "is" or "are".
        max_tokens: Maximum number of tokens of a reply.
        nearest: Baseline that compares meanings, for conditions without a model.
    """

    model: CompletionModel
    prompts: StarsPrompts
    thresholds: TreeThresholds = field(default_factory=TreeThresholds)
    goal_prefix: str = ""
    max_tokens: int = 50
    nearest: NearestMeaning | None = None

    def make_retriever(self, task: StarsTask, analyser: GoalAnalyser, condition: StarsCondition) -> ResponseRetriever:
        """Return what retrieves goals under a condition.

        Args:
            task: The task.
            analyser: Determines which goals are viable, for conditions in which the model only rates goals.
            condition: Determines the kind of retrieval.
        """
        if condition.retrieval == "grounded":
            return RatingRetriever(task, analyser, self.model, self.prompts)
        if condition.retrieval == "meaning":
            assert self.nearest is not None, "a condition that goes by meaning compares meanings"
            return MeaningRetriever(self.nearest, task, analyser)
        return PromptingRetriever(task, self, by_tree=condition.retrieval == "tree")


class PromptingRetriever:
    """Retrieves goals from the model with the search tree, or by sampling as the baseline TBP does.

    The goals begin with given words. Models that return no alternative tokens are sampled from as well.

    Args:
        task: The task.
        how: Model and prompts.
        by_tree: Whether the search tree is used.
    """

    def __init__(self, task: StarsTask, how: RetrievalConfig, by_tree: bool) -> None:
        self._task, self._how, self.max_calls = task, how, how.thresholds.max_calls
        self._bounds = GenerationLimits(how.max_tokens, how.prompts.stop)
        self._tree = SearchTree(how.model, self._bounds, how.thresholds) if by_tree else None

    def retrieve(
        self, about: TaskObject, wrong: GoalCandidate | None, seen: RetrievedTexts, usage: ModelUsage
    ) -> list[RetrievedGoal]:
        """Return new goals for an object, or in place of a goal that is not viable. See ResponseRetriever."""
        model, prompts = self._how.model, self._how.prompts
        prompt, kind = construct_prompt(prompts, self._task, about, wrong)
        seen.lead = self._how.goal_prefix.format(name=about.thing.noun, are="are" if about.plural else "is")
        prompt += f" {seen.lead}" if seen.lead else ""
        found: list[RetrievedGoal] = []
        if self._tree is not None and model.can_branch:
            found = self._tree.grow(prompt, seen, usage, kind)
            if model.can_branch:
                return found
        # Without alternative tokens the tree has only the first reply; further goals are sampled.
        drawn = sample_goals(model, prompt, seen, usage, self._bounds, kind)
        return [*found, *(replace(each, source=f"{each.source}_drawn") if found else each for each in drawn)]


class RatingRetriever:
    """Retrieves the goals that a model finds most probable among all viable ones.

    Args:
        task: The task.
        analyser: Determines which goals are viable.
        model: Rates texts.
        prompts: Prompt templates.
    """

    max_calls = 0

    def __init__(self, task: StarsTask, analyser: GoalAnalyser, model: CompletionModel, prompts: StarsPrompts) -> None:
        self._task, self._analyser, self._model, self._prompts = task, analyser, model, prompts

    def retrieve(
        self, about: TaskObject, wrong: GoalCandidate | None, seen: RetrievedTexts, usage: ModelUsage
    ) -> list[RetrievedGoal]:
        """See ResponseRetriever.retrieve. Nothing has to be repaired."""
        prompt = construct_goal_prompt(self._prompts, self._task, about)
        goals = list_viable_goals(self._task, about, self._analyser)
        ratings = require_text_scorer(self._model).score_texts(prompt, [f" {goal}" for goal in goals])
        usage.add("rating", ratings)
        found = [RetrievedGoal(goal, rate.probability, "grounded") for goal, rate in zip(goals, ratings, strict=True)]
        return sorted(found, key=lambda response: -response.probability)[:_MAX_RATED_GOALS]
