"""Going on with a plain text: the tokens that a model writes, what else was likely, and how likely given texts are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from housewise.core.errors import UserError


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


@dataclass(frozen=True)
class DecodingStep:
    """One place of a continuation: what was written there, and what else was likely."""

    token: Token
    alternatives: tuple[Token, ...] = ()


@dataclass(frozen=True)
class Continuation:
    """How a model went on.

    Attributes:
        steps: one for each token behind the prompt and the branch; the end of all text is a line's end.
        prompt_tokens: tokens sent, prompt and branch, read anew or not.
        completion_tokens: tokens received.
        finish_reason: whether the model ended it (``stop``) or it was cut at its bound (``length``).
    """

    steps: tuple[DecodingStep, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    finish_reason: str = "stop"

    @property
    def first(self) -> frozenset[Token]:
        """What might have been written first, what was among it."""
        return frozenset(token for step in self.steps[:1] for token in (step.token, *step.alternatives))

    @property
    def text(self) -> str:
        """All that was written."""
        return "".join(step.token.text for step in self.steps)


@dataclass(frozen=True)
class GenerationLimits:
    """How far a model goes on.

    Attributes:
        most_tokens: of a reply.
        stop: texts that end a reply; the token in which one ends is the last one.
        alternatives: how many of the likeliest tokens are told for each place, the written one among them.
    """

    max_tokens: int = 50
    stop: tuple[str, ...] = ()
    alternatives: int = 5


class CompletionModel(Protocol):
    """A language model that goes on with a text.

    Attributes:
        name: what records call it.
        branches: whether it tells what else was likely and can go on from there; what is behind a server may turn out
            not to, with its first reply.
    """

    name: str

    @property
    def branches(self) -> bool: ...

    def extend(self, prompt: str, branches: Sequence[Sequence[Token]], bounds: GenerationLimits) -> list[Continuation]:
        """Go on at temperature 0 behind a prompt and each of several beginnings of an answer, all at once.

        Args:
            prompt: what all of them have in common.
            branches: tokens that come behind the prompt; none for the prompt alone.
            bounds: how far to go on.

        Raises:
            ChatModelError: when an answer cannot be had; the message says what to do.
        """
        ...

    def sample(self, prompt: str, count: int, temperature: float, bounds: GenerationLimits) -> list[Continuation]:
        """Go on in several ways at a temperature."""
        ...

    def answer(self, system: str, questions: Sequence[str]) -> list[Continuation]:
        """One token at temperature 0 for each of several questions whose answers are numbers, all at once."""
        ...


@dataclass(frozen=True)
class TextScore:
    """How likely a model finds a text.

    Attributes:
        probability: the geometric mean of its tokens' probabilities, between 0 and 1.
        prompt_tokens: tokens sent: prompt and text.
    """

    probability: float
    prompt_tokens: int = 0
    completion_tokens: int = 0


@runtime_checkable
class TextScorer(Protocol):
    """A language model that tells how likely it finds given texts."""

    def rate(self, prompt: str, texts: Sequence[str]) -> list[TextScore]:
        """How likely each of several texts is behind a prompt.

        Raises:
            ChatModelError: when it cannot be had; the message says what to do.
        """
        ...


def require_text_scorer(model: CompletionModel) -> TextScorer:
    """A model that rates texts.

    Raises:
        UserError: when it rates none.
    """
    if not isinstance(model, TextScorer):
        raise UserError(f"model {model.name}: it does not rate texts, which is asked of it; use a local one")
    return model
