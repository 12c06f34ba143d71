"""Retrieval of goals: the search tree, and replies drawn at a temperature (STARS, search tree; baseline TBP)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal

from housewise.agent.stars.model_usage import ModelUsage
from housewise.language.completion import CompletionModel, Continuation, DecodingStep, GenerationLimits, Token

PromptKind = Literal["initial", "repair"]

# A sentence ends at the first of these, wherever it stands in a token.
_END = re.compile(r"[.(\[\n\r]")


@dataclass(frozen=True)
class TreeThresholds:
    """Where the tree branches (STARS, search tree; all comparisons are strict).

    Attributes:
        sure: a token at least this likely does not branch.
        worth: alternatives have to be likelier than this.
        mean: from the second recursion on, a branch has to have a higher mean token probability.
        levels: of completions: the first one, its branches, and theirs.
        most_calls: the tree stops there, whatever is left.
    """

    sure: float = 0.90
    worth: float = 0.05
    mean: float = 0.85
    levels: int = 3
    most_calls: int = 1500


@dataclass(frozen=True)
class RetrievedGoal:
    """A goal sentence that a model wrote.

    Attributes:
        text: in lower case, the object's name hyphenated.
        probability: the arithmetic mean of its tokens' probabilities.
        source: the kind of prompt; ``end_branch`` where it ends with an alternative token.
    """

    text: str
    probability: float
    source: str


@dataclass
class RetrievedTexts:
    """What has been retrieved for an object so far, over all its prompts."""

    name: str
    texts: set[str] = field(default_factory=set)

    def add(self, sentence: str) -> str | None:
        """The sentence as it is compared and analysed, None where it is blank or has been retrieved before."""
        text = hyphenate_name(" ".join(sentence.lower().split()), self.name)
        if not text or text in self.texts:
            return None
        self.texts.add(text)
        return text


@dataclass(frozen=True)
class _Sentence:
    """A completion with the branch that it began with, up to the sentence's end."""

    steps: tuple[DecodingStep, ...]
    first: int  # place of the first token that the branch does not fix
    level: int

    @property
    def tokens(self) -> tuple[Token, ...]:
        return tuple(step.token for step in self.steps)


class SearchTree:
    """Grows the tree of responses to a prompt.

    Args:
        model: goes on with texts.
        bounds: of each completion.
        thresholds: where it branches.
    """

    def __init__(
        self, model: CompletionModel, bounds: GenerationLimits, thresholds: TreeThresholds | None = None
    ) -> None:
        self._model, self._bounds, self._thresholds = model, bounds, thresholds or TreeThresholds()

    def grow(
        self, prompt: str, seen: RetrievedTexts, usage: ModelUsage, kind: PromptKind = "initial", lead: str = ""
    ) -> list[RetrievedGoal]:
        """All new responses to a prompt; every level is asked for in one call.

        The first completion of a repair counts as a branch, so that trees of repairs are one level shallower.

        Args:
            prompt: ends where the goal sentence begins.
            seen: what has been retrieved for the object; what is new is added.
            usage: calls and tokens are added.
            kind: of the prompt.
            lead: words of the goal that the prompt ends with already.
        """
        found: list[RetrievedGoal] = []
        branched: set[str] = set()
        calls = 0
        branches: list[tuple[Token, ...]] = [()]
        for level in range(0 if kind == "initial" else 1, self._thresholds.levels):
            branches = branches[: self._thresholds.most_calls - calls]
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
        """What a sentence so far might have gone on with instead."""
        rules = self._thresholds
        for place in range(sentence.first, len(sentence.steps)):
            step = sentence.steps[place]
            if step.token.probability >= rules.sure:
                continue
            for other in step.alternatives:
                if other.probability <= rules.worth or not _is_different(step.token, other):
                    continue
                branch = (*sentence.tokens[:place], _lowercase_token(other))
                if sentence.level >= 1 and not is_sentence_end(other) and _mean_probability(branch) < rules.mean:
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
    """Template-based prompting: the likeliest reply, then others at higher temperatures until there are three.

    Four replies are drawn at 0.9, of which two new ones at most are taken, then up to four single ones at 1.0.

    Args:
        model: goes on with texts.
        prompt: ends where the goal sentence begins.
        seen: what has been retrieved for the object; what is new is added.
        usage: calls and tokens are added.
        bounds: of each reply.
        lead: words of the goal that the prompt ends with already.
        kind: of the prompt.
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
    """Whether the sentence ends in a token."""
    return _END.search(token.text) is not None


def text_before_end(token: Token) -> str:
    """A token's text up to the sentence's end."""
    return _END.split(token.text, maxsplit=1)[0]


def hyphenate_name(sentence: str, name: str) -> str:
    """A sentence in which an object is called by its hyphenated name, however a model wrote it.

    The first of these that occurs as whole words is replaced, once: the name itself, with hyphens or spaces; either
    side of "a-of-b"; the outer and the last two of three words; the name without "box"; its last word.

    Args:
        sentence: in lower case.
        name: for example ``box-of-aluminum-foil``.
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
    # Who answers in a turn of their own may begin the sentence anew.
    repeated = lead and said.strip().lower().startswith(lead.lower())
    text = seen.add(said if repeated else f"{lead} {said}") if tokens else None
    if text is not None:
        found.append(RetrievedGoal(text, _mean_probability(tokens), source))


def _cut_sentence(branch: Sequence[Token], reply: Continuation, level: int) -> _Sentence:
    """A branch and how it went on, up to the sentence's end."""
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
    """The mean probability of a sentence's tokens; of a branch that ends it, that of the end that was taken as well."""
    return fmean(token.probability for token in tokens) if tokens else 0.0


def _is_different(chosen: Token, other: Token) -> bool:
    """Whether an alternative says something else: not only in other case or spaces, no hyphen, no comma."""
    one, two = chosen.text.strip().lower(), other.text.strip().lower()
    return one != two and "-" not in (one, two) and two != ","


def _lowercase_token(token: Token) -> Token:
    text = token.text.lower()
    return token if text == token.text else Token(text, token.probability)
