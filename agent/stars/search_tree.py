"""Template-based prompting (TBP) and the search tree (ST): how STARS retrieves goals from a language model.

Source: Kirk et al., AAAI 2024 (arXiv 2306.06770v4), sections "Prior Baseline: Template-based Prompting" and "The STARS
Approach: Search Tree (ST)"; appendix B, "Prompt Construction", "Search Tree" and "Repair". What the paper calls a log
probability is a probability, and its mean is the arithmetic mean over the tokens of a response.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from housewise.agent.stars.model_usage import ModelUsage
from housewise.agent.stars.prompts import StarsPrompts
from housewise.agent.stars.responses import (
    GoalCandidate,
    Mismatch,
    RetrievedGoal,
    RetrievedTexts,
    Sentence,
    is_sentence_end,
    join_tokens,
    lowercase_token,
    mean_probability,
    says_something_else,
)
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.core.settings import Settings
from housewise.language.completion import CompletionModel, GenerationLimits, Token

PromptKind = Literal["initial", "repair"]


class TreeThresholds(Settings):
    """Where the search tree branches (appendix B, Search Tree)."""

    branch_below: float = Field(default=0.90, ge=0, le=1)
    """The tree branches only at tokens that are less probable than this."""
    min_alternative: float = Field(default=0.05, ge=0, le=1)
    """Alternatives to a token have to be more probable than this."""
    min_branch_mean: float = Field(default=0.5, ge=0, le=1)
    """From the second recursion on, branches with a lower mean token probability than this are dropped. The paper's is
    0.85 (``--config paper``), which hardly any branch of a small model reaches."""
    levels: int = Field(default=3, ge=1, le=10)
    """Number of levels of completions: the first completion, its branches, and theirs."""
    max_calls: int = Field(default=1500, ge=1, le=10_000)
    """Maximum number of calls of one tree, and of all repairs of an object."""


def construct_goal_prompt(templates: StarsPrompts, task: StarsTask, about: TaskObject) -> str:
    """Instantiate the template for a goal with the context of task and object (appendix B, Prompt Construction).

    The prompt has two examples of other tasks, and ends where the goal begins.
    """
    examples = [templates.example_of(each, templates.good_goal(each.goal)) for each in templates.examples.values()]
    return templates.prompt_with(examples, task, about, templates.goal)


def construct_prompt(
    templates: StarsPrompts, task: StarsTask, about: TaskObject, wrong: GoalCandidate | None
) -> tuple[str, PromptKind]:
    """Return the prompt for goals of an object, or for goals in place of one that is not viable (figure 2)."""
    if wrong is None:
        return construct_goal_prompt(templates, task, about), "initial"
    return construct_repair_prompt(templates, task, about, wrong.text, wrong.analysis.mismatches[0]), "repair"


def construct_repair_prompt(
    templates: StarsPrompts, task: StarsTask, about: TaskObject, wrong: str, mismatch: Mismatch
) -> str:
    """Instantiate the template that repairs a kind of mismatch (Analyze and Repair; appendix B, Repair).

    It has an example of repairing that kind of mismatch, and then the offending response with the specific mismatch.
    """
    first, *others = templates.examples.values()
    repaired = templates.repair_example(mismatch) + "\n" + templates.good_goal(templates.mended_goal)
    examples = [templates.example_of(first, repaired, templates.mended_plan)]
    examples += [templates.example_of(each, templates.good_goal(each.goal)) for each in others]
    refused = templates.bad_goal(wrong, templates.reason(mismatch))
    return templates.prompt_with(examples, task, about, refused + "\n" + templates.goal)


def sample_goals(
    model: CompletionModel,
    prompt: str,
    seen: RetrievedTexts,
    usage: ModelUsage,
    bounds: GenerationLimits,
    kind: PromptKind = "initial",
) -> list[RetrievedGoal]:
    """Query the model at varying temperatures until there are three different goals (baseline TBP, figure 1).

    The first reply has temperature 0. Then four replies are sampled at 0.9, and up to four single ones at 1.0.
    """
    found: list[RetrievedGoal] = []
    rounds: list[tuple[float, int]] = [(0.0, 1), (0.9, 4), *[(1.0, 1)] * 4]
    for temperature, count in rounds:
        if len(found) >= 3:
            break
        if temperature:
            replies = model.sample(prompt, count, temperature, bounds)
        else:
            replies = model.extend(prompt, [()], bounds)
        usage.add(kind, replies)
        for reply in replies:
            if len(found) < 3:
                found += seen.add(Sentence.from_reply((), reply).tokens, kind)
    return sorted(found, key=lambda response: -response.probability)


class SearchTree:
    """Grows the tree of responses to a prompt with a beam search (Search Tree, ST; appendix B, tables 9 and 10)."""

    def __init__(
        self, model: CompletionModel, bounds: GenerationLimits, thresholds: TreeThresholds | None = None
    ) -> None:
        self._model, self._bounds, self._thresholds = model, bounds, thresholds or TreeThresholds()

    def grow(
        self, prompt: str, seen: RetrievedTexts, usage: ModelUsage, kind: PromptKind = "initial"
    ) -> list[RetrievedGoal]:
        """Return all new responses to a prompt, most probable first. Each level of the tree is one call.

        The first completion of a repair counts as a branch, so that trees of repairs have one level less.
        """
        found: list[RetrievedGoal] = []
        branched: set[str] = set()
        calls = 0
        branches: list[tuple[Token, ...]] = [()]
        for level in range(0 if kind == "initial" else 1, self._thresholds.levels):
            branches = branches[: self._thresholds.max_calls - calls]
            if not branches:
                break
            calls += len(branches)
            source = kind if branches == [()] else f"{kind}_recursion"
            replies = self._model.extend(prompt, branches, self._bounds)
            usage.add(source, replies)
            sentences = [Sentence.from_reply(*each) for each in zip(branches, replies, strict=True)]
            for sentence in sentences:
                found += seen.add(sentence.tokens, source)
            branches = []
            for sentence in sentences if level < self._thresholds.levels - 1 else ():
                for branch in self._branches(sentence, level):
                    if is_sentence_end(branch[-1]):
                        found += seen.add(branch, f"{source}_end_branch")
                    elif (text := join_tokens(branch).lower()) not in branched:
                        branched.add(text)
                        branches.append(branch)
        return sorted(found, key=lambda response: -response.probability)

    def _branches(self, sentence: Sentence, level: int) -> Iterator[tuple[Token, ...]]:
        """Yield the alternative beginnings of a sentence."""
        rules = self._thresholds
        for place in range(sentence.first, len(sentence.steps)):
            step = sentence.steps[place]
            if step.token.probability >= rules.branch_below:
                continue
            for other in step.alternatives:
                if other.probability <= rules.min_alternative or not says_something_else(step.token, other):
                    continue
                branch = (*sentence.tokens[:place], lowercase_token(other))
                is_inner = level >= 1 and not is_sentence_end(other)
                if not is_inner or mean_probability(branch) >= rules.min_branch_mean:
                    yield branch
