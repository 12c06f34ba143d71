"""Retrieval of goals by the search tree, by sampling, by rating viable goals, or without a model. (STARS, retrieval)"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from housewise.agent.stars.analysis import GoalAnalyser
from housewise.agent.stars.experiment_conditions import StarsCondition
from housewise.agent.stars.model_usage import ModelUsage
from housewise.agent.stars.nearest_meaning import NearestMeaning
from housewise.agent.stars.prompts import StarsPrompts
from housewise.agent.stars.repair import GoalCandidate
from housewise.agent.stars.search_tree import (
    PromptKind,
    RetrievedGoal,
    RetrievedTexts,
    SearchTree,
    TreeThresholds,
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

    @property
    def bounds(self) -> GenerationLimits:
        """Limits of a reply."""
        return GenerationLimits(self.max_tokens, self.prompts.stop)


class GoalRetriever:
    """Retrieves goals for one object after the other.

    Args:
        task: The task.
        analyser: Determines which goals are viable, for conditions in which the model only rates goals.
        condition: Determines the kind of retrieval.
        how: Model and prompts.
    """

    def __init__(
        self, task: StarsTask, analyser: GoalAnalyser, condition: StarsCondition, how: RetrievalConfig
    ) -> None:
        self._task, self._analyser, self._condition, self._how = task, analyser, condition, how
        self._tree = SearchTree(how.model, how.bounds, how.thresholds)

    @property
    def max_calls(self) -> int:
        """Number of calls for one object after which nothing more is repaired."""
        return self._how.thresholds.max_calls

    def goals(self, about: TaskObject, seen: RetrievedTexts, usage: ModelUsage) -> list[RetrievedGoal]:
        """Return new goals for an object, most probable first.

        Args:
            about: The object.
            seen: Texts retrieved for it so far. New ones are added.
            usage: Receives calls and tokens.

        Raises:
            UserError: The model lacks what the condition needs.
        """
        prompt = self._how.prompts.for_goal(self._task, about)
        if self._condition.retrieval == "grounded":
            return self._rate_viable_goals(prompt, about, usage)
        if self._condition.retrieval == "meaning":
            assert self._how.nearest is not None, "a condition that goes by meaning compares meanings"
            return self._how.nearest.goals(self._task, about, self._analyser)
        return self._query_model(prompt, about, seen, usage, "initial")

    def retrieve_repairs(
        self, about: TaskObject, wrong: GoalCandidate, seen: RetrievedTexts, usage: ModelUsage
    ) -> list[RetrievedGoal]:
        """Return new goals in place of one that is not viable; see goals."""
        prompt = self._how.prompts.for_repair(self._task, about, wrong.text, wrong.analysis.mismatches[0])
        return self._query_model(prompt, about, seen, usage, "repair")

    def _query_model(
        self, prompt: str, about: TaskObject, seen: RetrievedTexts, usage: ModelUsage, kind: PromptKind
    ) -> list[RetrievedGoal]:
        how = self._how
        lead = how.goal_prefix.format(name=about.thing.noun, are="are" if about.plural else "is")
        prompt += f" {lead}" if lead else ""
        found: list[RetrievedGoal] = []
        if self._condition.retrieval == "tree" and how.model.can_branch:
            found = self._tree.grow(prompt, seen, usage, kind, lead)
            if how.model.can_branch:
                return found
        # Without alternative tokens the tree has only the first reply; further goals are sampled.
        drawn = sample_goals(how.model, prompt, seen, usage, how.bounds, lead, kind)
        return [*found, *(replace(each, source=f"{each.source}_drawn") if found else each for each in drawn)]

    def _rate_viable_goals(self, prompt: str, about: TaskObject, usage: ModelUsage) -> list[RetrievedGoal]:
        """Return the most probable of all viable goals."""
        goals = list_viable_goals(self._task, about, self._analyser)
        ratings = require_text_scorer(self._how.model).score_texts(prompt, [f" {goal}" for goal in goals])
        usage.add("rating", ratings)
        found = [RetrievedGoal(goal, rate.probability, "grounded") for goal, rate in zip(goals, ratings, strict=True)]
        return sorted(found, key=lambda response: -response.probability)[:_MAX_RATED_GOALS]
