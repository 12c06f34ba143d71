"""Types of responses: retrieved goals, their analyses, and the candidates that are repaired and selected from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from statistics import fmean

from housewise.agent.stars.goal_clauses import GoalClause, NounPhrase
from housewise.agent.stars.situation import PerceivedThing
from housewise.language.completion import Continuation, DecodingStep, Token

# A sentence ends at the first of these characters, even inside a token.
_END = re.compile(r"[.(\[\n\r]")


class MismatchKind(Enum):
    """Reasons why a goal is not viable. If several apply, the first of them decides."""

    UNINTERPRETABLE = "uninterpretable"
    UNKNOWN_WORD = "unknown-word"
    UNGROUNDED = "ungrounded-object"
    AFFORDANCE = "affordance-mismatch"


@dataclass(frozen=True)
class Mismatch:
    """One reason why a goal is not viable.

    Attributes:
        kind: Kind of the mismatch.
        what: The unknown word, the ungrounded noun, or the missing property (``grabbable``, ``receptacle``, ``surface``
            or a state). None for an uninterpretable sentence.
        thing: Noun of the thing that lacks the property, or None.
    """

    kind: MismatchKind
    what: str | None = None
    thing: str | None = None


@dataclass(frozen=True)
class GoalAnalysis:
    """The result of analysing a goal sentence.

    Attributes:
        mismatches: All mismatches, deciding one first. Empty for a viable goal.
        clauses: Clauses of the sentence; empty if it could not be parsed.
        things: Perceived things that each noun phrase can mean.
    """

    mismatches: tuple[Mismatch, ...] = ()
    clauses: tuple[GoalClause, ...] = ()
    things: Mapping[NounPhrase, tuple[PerceivedThing, ...]] = field(default_factory=dict)

    def first_thing(self, phrase: NounPhrase) -> PerceivedThing | None:
        """Return the first perceived thing that a noun phrase can mean, or None."""
        return next(iter(self.things.get(phrase, ())), None)

    @property
    def viable(self) -> bool:
        """Whether the goal can be understood, perceived and done."""
        return not self.mismatches

    @property
    def kind(self) -> MismatchKind | None:
        """The deciding kind of mismatch, or None for a viable goal."""
        return self.mismatches[0].kind if self.mismatches else None


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


@dataclass(frozen=True)
class GoalCandidate:
    """A retrieved goal and its analysis.

    Attributes:
        response: Retrieved goal.
        analysis: Analysis of the goal.
        parent: Text of the goal that it repairs, or None for goals of the first prompt.
        repairs: Number of repairs that led to it.
    """

    response: RetrievedGoal
    analysis: GoalAnalysis
    parent: str | None = None
    repairs: int = 0

    @property
    def text(self) -> str:
        """The goal sentence."""
        return self.response.text


def most_probable(candidates: Sequence[GoalCandidate]) -> GoalCandidate:
    """Return the goal with the highest mean token probability, and the first retrieved one of equal goals."""
    return max(candidates, key=lambda candidate: candidate.response.probability)


@dataclass
class RetrievedTexts:
    """The texts retrieved for an object so far, over all its prompts.

    Attributes:
        name: Hyphenated name of the object.
        texts: The texts.
        lead: Words of the goal that prompts already end with.
    """

    name: str
    texts: set[str] = field(default_factory=set)
    lead: str = ""

    def add(self, tokens: Sequence[Token], source: str) -> list[RetrievedGoal]:
        """Normalise a sentence and return it as a goal. Return nothing if it is blank or was retrieved before."""
        said = join_tokens(tokens)
        # Chat models may repeat the beginning of the sentence in their reply.
        repeated = self.lead and said.strip().lower().startswith(self.lead.lower())
        sentence = said if repeated else f"{self.lead} {said}"
        text = hyphenate_name(" ".join(sentence.lower().split()), self.name) if tokens else ""
        if not text or text in self.texts:
            return []
        self.texts.add(text)
        return [RetrievedGoal(text, mean_probability(tokens), source)]


@dataclass(frozen=True)
class Sentence:
    """A completion together with the branch that it continues, up to the end of the sentence.

    Attributes:
        steps: Tokens with their alternatives.
        first: Index of the first token after the branch.
    """

    steps: tuple[DecodingStep, ...]
    first: int

    @classmethod
    def from_reply(cls, branch: Sequence[Token], reply: Continuation) -> Sentence:
        """Join a branch and its continuation, up to the end of the sentence."""
        steps = [DecodingStep(token) for token in branch]
        for step in reply.steps:
            if is_sentence_end(step.token):
                if text_before_end(step.token).strip():
                    last = Token(text_before_end(step.token), step.token.probability)
                    steps.append(DecodingStep(last, step.alternatives))
                break
            steps.append(step)
        return cls(tuple(steps), len(branch))

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens without their alternatives."""
        return tuple(step.token for step in self.steps)


def mean_probability(tokens: Sequence[Token]) -> float:
    """Return the mean probability of a sentence's tokens.

    The end of the sentence counts only in a branch that chose it.
    """
    return fmean(token.probability for token in tokens) if tokens else 0.0


def join_tokens(tokens: Sequence[Token]) -> str:
    """Return the text of tokens up to the end of the sentence."""
    return "".join(text_before_end(token) if is_sentence_end(token) else token.text for token in tokens)


def is_sentence_end(token: Token) -> bool:
    """Return whether a token ends the sentence."""
    return _END.search(token.text) is not None


def text_before_end(token: Token) -> str:
    """Return a token's text up to the end of the sentence."""
    return _END.split(token.text, maxsplit=1)[0]


def says_something_else(chosen: Token, other: Token) -> bool:
    """Return whether an alternative token differs from the chosen one beyond case, spaces, hyphens and commas."""
    one, two = chosen.text.strip().lower(), other.text.strip().lower()
    return one != two and "-" not in (one, two) and two != ","


def lowercase_token(token: Token) -> Token:
    """Return a token in lower case. Its id is kept only if the text is the same."""
    text = token.text.lower()
    return token if text == token.text else Token(text, token.probability)


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
