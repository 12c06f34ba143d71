"""The search tree over a model's continuations, and sampling at a temperature. (STARS, search tree; baseline TBP)"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal

from pydantic import Field

from housewise.agent.stars.model_usage import ModelUsage
from housewise.core.settings import Settings
from housewise.language.completion import CompletionModel, Continuation, DecodingStep, GenerationLimits, Token

PromptKind = Literal["initial", "repair"]

# A sentence ends at the first of these characters, even inside a token.
_END = re.compile(r"[.(\[\n\r]")


class TreeThresholds(Settings):
    """Where the search tree branches. All comparisons are strict. (STARS, search tree)"""

    branch_below: float = Field(default=0.90, ge=0, le=1)
    """The tree branches only at tokens that are less probable than this."""
    min_alternative: float = Field(default=0.05, ge=0, le=1)
    """Alternatives to a token have to be more probable than this."""
    min_branch_mean: float = Field(default=0.5, ge=0, le=1)
    """From the second recursion on, branches with a lower mean token probability than this are dropped."""
    levels: int = Field(default=3, ge=1, le=10)
    """Number of levels of completions: the first completion, its branches, and theirs."""
    max_calls: int = Field(default=1500, ge=1, le=10_000)
    """Maximum number of calls of one tree, and of all repairs of an object."""


@dataclass(frozen=True)
class RetrievedGoal:
    """A goal sentence that a model wrote.

    Attributes:
        text: The sentence in lower case, with the object's name hyphenated.
        probability: Arithmetic mean of the tokens' probabilities.
        source: Kind of the prompt, with the suffix ``end_branch`` if the sentence ends with an alternative token.
    """

    text: str
    probability: float
    source: str


@dataclass
class RetrievedTexts:
    """The texts retrieved for an object so far, over all its prompts."""

    name: str
    texts: set[str] = field(default_factory=set)

    def add(self, sentence: str) -> str | None:
        """Normalise a sentence and add it. Return None if it is blank or was retrieved before."""
        text = hyphenate_name(" ".join(sentence.lower().split()), self.name)
        if not text or text in self.texts:
            return None
        self.texts.add(text)
        return text


@dataclass(frozen=True)
class _Sentence:
    """A completion together with the branch it continues, up to the end of the sentence."""

    steps: tuple[DecodingStep, ...]
    first: int  # index of the first token after the branch
    level: int

    @property
    def tokens(self) -> tuple[Token, ...]:
        return tuple(step.token for step in self.steps)


class SearchTree:
    """Grows the tree of responses to a prompt.

    Args:
        model: Completion model.
        bounds: Limits of each completion.
        thresholds: Where the tree branches.
    """

    def __init__(
        self, model: CompletionModel, bounds: GenerationLimits, thresholds: TreeThresholds | None = None
    ) -> None:
        self._model, self._bounds, self._thresholds = model, bounds, thresholds or TreeThresholds()

    def grow(
        self, prompt: str, seen: RetrievedTexts, usage: ModelUsage, kind: PromptKind = "initial", lead: str = ""
    ) -> list[RetrievedGoal]:
        """Return all new responses to a prompt, most probable first. Each level of the tree is one call.

        The first completion of a repair counts as a branch, so that trees of repairs have one level less.

        Args:
            prompt: Prompt that ends where the goal sentence begins.
            seen: Texts retrieved for the object so far. New ones are added.
            usage: Receives calls and tokens.
            kind: Kind of the prompt.
            lead: Words of the goal that the prompt already ends with.
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
            sentences = [_cut_sentence(branch, reply, level) for branch, reply in zip(branches, replies, strict=True)]
            for sentence in sentences:
                _add_goal(found, seen, sentence.tokens, source, lead)
            branches = []
            if level == self._thresholds.levels - 1:
                break
            for sentence in sentences:
                for branch in self._branches(sentence):
                    if is_sentence_end(branch[-1]):
                        _add_goal(found, seen, branch, f"{source}_end_branch", lead)
                    elif (text := _join_tokens(branch).lower()) not in branched:
                        branched.add(text)
                        branches.append(branch)
        return sorted(found, key=lambda response: -response.probability)

    def _branches(self, sentence: _Sentence) -> Iterator[tuple[Token, ...]]:
        """Yield the alternative beginnings of a sentence."""
        rules = self._thresholds
        for place in range(sentence.first, len(sentence.steps)):
            step = sentence.steps[place]
            if step.token.probability >= rules.branch_below:
                continue
            for other in step.alternatives:
                if other.probability <= rules.min_alternative or not _is_different(step.token, other):
                    continue
                branch = (*sentence.tokens[:place], _lowercase_token(other))
                is_inner = sentence.level >= 1 and not is_sentence_end(other)
                if is_inner and _mean_probability(branch) < rules.min_branch_mean:
                    continue
                yield branch


def sample_goals(
    model: CompletionModel,
    prompt: str,
    seen: RetrievedTexts,
    usage: ModelUsage,
    bounds: GenerationLimits,
    lead: str = "",
    kind: PromptKind = "initial",
) -> list[RetrievedGoal]:
    """Template-based prompting: sample until there are three different goals.

    The first reply has temperature 0. Then four replies are sampled at 0.9, and up to four single ones at 1.0.

    Args:
        model: Completion model.
        prompt: Prompt that ends where the goal sentence begins.
        seen: Texts retrieved for the object so far. New ones are added.
        usage: Receives calls and tokens.
        bounds: Limits of each reply.
        lead: Words of the goal that the prompt already ends with.
        kind: Kind of the prompt.
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
                _add_goal(found, seen, _cut_sentence((), reply, 0).tokens, kind, lead)
    return sorted(found, key=lambda response: -response.probability)


def is_sentence_end(token: Token) -> bool:
    """Return whether a token ends the sentence."""
    return _END.search(token.text) is not None


def text_before_end(token: Token) -> str:
    """Return a token's text up to the end of the sentence."""
    return _END.split(token.text, maxsplit=1)[0]


def hyphenate_name(sentence: str, name: str) -> str:
    """Replace the first mention of an object by its hyphenated name, however the model wrote it.

    Forms are tried in this order, as whole words: the name with hyphens or spaces; either side of "a-of-b"; the outer
    and the last two of three words; the name without "box"; its last word.

    Args:
        sentence: Sentence in lower case.
        name: Hyphenated name, for example ``box-of-aluminum-foil``.
    """
    words = name.split("-")
    ways = [words]
    if "of" in words[1:-1]:
        middle = words.index("of", 1)
        ways += [words[:middle], words[middle + 1 :]]
    elif len(words) == 3:
        ways += [[words[0], words[2]], words[1:]]
    ways += [[word for word in words if word != "box"], words[-1:]]
    for way in ways:
        said = "[- ]".join(map(re.escape, way))
        if way and re.search(pattern := rf"(?<![\w-]){said}(?![\w-])", sentence):
            return re.sub(pattern, name, sentence, count=1)
    return sentence


def _add_goal(
    found: list[RetrievedGoal], seen: RetrievedTexts, tokens: Sequence[Token], source: str, lead: str = ""
) -> None:
    said = _join_tokens(tokens)
    # Chat models may repeat the beginning of the sentence in their reply.
    repeated = lead and said.strip().lower().startswith(lead.lower())
    text = seen.add(said if repeated else f"{lead} {said}") if tokens else None
    if text is not None:
        found.append(RetrievedGoal(text, _mean_probability(tokens), source))


def _cut_sentence(branch: Sequence[Token], reply: Continuation, level: int) -> _Sentence:
    """Join a branch and its continuation, up to the end of the sentence."""
    steps = [DecodingStep(token) for token in branch]
    for step in reply.steps:
        if is_sentence_end(step.token):
            if text_before_end(step.token).strip():
                last = Token(text_before_end(step.token), step.token.probability)
                steps.append(DecodingStep(last, step.alternatives))
            break
        steps.append(step)
    return _Sentence(tuple(steps), len(branch), level)


def _join_tokens(tokens: Sequence[Token]) -> str:
    return "".join(text_before_end(token) if is_sentence_end(token) else token.text for token in tokens)


def _mean_probability(tokens: Sequence[Token]) -> float:
    """Return the mean probability of a sentence's tokens.

    The end of the sentence counts only in a branch that chose it.
    """
    return fmean(token.probability for token in tokens) if tokens else 0.0


def _is_different(chosen: Token, other: Token) -> bool:
    """Return whether an alternative token says something else, beyond case, spaces, hyphens and commas."""
    one, two = chosen.text.strip().lower(), other.text.strip().lower()
    return one != two and "-" not in (one, two) and two != ","


def _lowercase_token(token: Token) -> Token:
    text = token.text.lower()
    return token if text == token.text else Token(text, token.probability)
