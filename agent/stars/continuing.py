"""What retrieval needs of a language model: going on with a text, and the likeliest alternatives of every token."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

# A sentence ends at the first of these, wherever it stands in a token.
_END = re.compile(r"[.(\[\n\r]")


@dataclass(frozen=True)
class Token:
    """A token that a model wrote or might have written.

    Attributes:
        text: with the space in front of it, as the model writes it.
        probability: of the token at its place, between 0 and 1.
        id: of the token in the model's vocabulary, None where it is not known; branches on ids repeat exactly.
    """

    text: str
    probability: float
    id: int | None = None

    @property
    def ends(self) -> bool:
        """Whether the sentence ends in this token."""
        return _END.search(self.text) is not None

    @property
    def before_end(self) -> str:
        """The text up to the sentence's end."""
        return _END.split(self.text, maxsplit=1)[0]


@dataclass(frozen=True)
class Step:
    """One place of a continuation: what was written there, and what else was likely."""

    token: Token
    alternatives: tuple[Token, ...] = ()


@dataclass(frozen=True)
class Continuation:
    """How a model went on.

    Attributes:
        steps: one for each token behind the prompt and the branch.
        prompt_tokens: tokens sent, as the paper counts them: prompt and branch, read anew or not.
        completion_tokens: tokens received.
    """

    steps: tuple[Step, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def first(self) -> frozenset[Token]:
        """What might have been written first, what was among it."""
        return frozenset(token for step in self.steps[:1] for token in (step.token, *step.alternatives))

    @property
    def text(self) -> str:
        """All that was written."""
        return "".join(step.token.text for step in self.steps)


@dataclass(frozen=True)
class Bounds:
    """How far a model goes on.

    Attributes:
        most_tokens: of a reply.
        stop: texts that end a reply.
        alternatives: how many of the likeliest tokens are told for each place, the written one among them.
    """

    most_tokens: int = 50
    stop: tuple[str, ...] = ()
    alternatives: int = 5


class Continuer(Protocol):
    """A language model that goes on with a text.

    Attributes:
        name: what records call it.
    """

    name: str

    def extend(self, prompt: str, branches: Sequence[Sequence[Token]], bounds: Bounds) -> list[Continuation]:
        """Go on at temperature 0 behind a prompt and each of several beginnings of an answer, all at once.

        Args:
            prompt: what all of them have in common.
            branches: tokens that come behind the prompt; none for the prompt alone.
            bounds: how far to go on.
        """
        ...

    def sample(self, prompt: str, count: int, temperature: float, bounds: Bounds) -> list[Continuation]:
        """Go on in several ways at a temperature."""
        ...

    def answer(self, system: str, questions: Sequence[str]) -> list[Continuation]:
        """One token at temperature 0 for each of several questions whose answers are numbers, all at once."""
        ...


@dataclass(frozen=True)
class Rating:
    """How likely a model finds a text.

    Attributes:
        probability: the geometric mean of its tokens' probabilities, between 0 and 1.
        prompt_tokens: tokens sent: prompt and text.
    """

    probability: float
    prompt_tokens: int = 0
    completion_tokens: int = 0


@runtime_checkable
class Rater(Protocol):
    """A language model that tells how likely it finds given texts."""

    def rate(self, prompt: str, texts: Sequence[str]) -> list[Rating]:
        """How likely each of several texts is behind a prompt."""
        ...


@dataclass
class Usage:
    """Calls and tokens by kind of prompt, as the paper counts them.

    Attributes:
        calls: how often a model was asked.
        prompt_tokens: tokens sent.
        completion_tokens: tokens received.
    """

    calls: dict[str, int] = field(default_factory=dict)
    prompt_tokens: dict[str, int] = field(default_factory=dict)
    completion_tokens: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, replies: Sequence[Continuation | Rating]) -> None:
        """Count replies, a call each."""
        for counted, amount in (
            (self.calls, len(replies)),
            (self.prompt_tokens, sum(reply.prompt_tokens for reply in replies)),
            (self.completion_tokens, sum(reply.completion_tokens for reply in replies)),
        ):
            counted[kind] = counted.get(kind, 0) + amount

    @property
    def total_tokens(self) -> int:
        """Tokens sent and received over all kinds of prompts."""
        return sum(self.prompt_tokens.values()) + sum(self.completion_tokens.values())
