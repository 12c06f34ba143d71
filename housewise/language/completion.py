"""The interface of models that complete plain texts: tokens, their alternatives, and the likelihood of texts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from housewise.core.errors import UserError

NUMBER_ALTERNATIVES = 20
"""Number of likeliest tokens to return for each position of an answer that is a number."""
MAX_TOKENS_OF_A_NUMBER = 3
"""Maximum number of tokens of such an answer, including a space or a mark before the number."""


@dataclass(frozen=True)
class Token:
    """A token that a model wrote or could have written.

    Attributes:
        text: Text of the token, including a leading space.
        probability: Probability of the token at its position, in [0, 1].
        id: Id of the token in the model's vocabulary; None if unknown. Branches on ids repeat exactly.
    """

    text: str
    probability: float
    id: int | None = None


@dataclass(frozen=True)
class DecodingStep:
    """A position of a continuation: the token that was written, and other likely tokens."""

    token: Token
    alternatives: tuple[Token, ...] = ()


@dataclass(frozen=True)
class Continuation:
    """A model's continuation of a text.

    Attributes:
        steps: One step for each token after the prompt and the branch. The end of the text is represented as a line
            feed.
        prompt_tokens: Number of tokens of prompt and branch, also if they were cached.
        completion_tokens: Number of tokens written.
        finish_reason: ``stop`` if the model ended the text, ``length`` if it was cut at its limit.
    """

    steps: tuple[DecodingStep, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    finish_reason: str = "stop"

    @property
    def first(self) -> frozenset[Token]:
        """Tokens that were likely at the first position, including the token that was written."""
        return frozenset(token for step in self.steps[:1] for token in (step.token, *step.alternatives))

    @property
    def text(self) -> str:
        """The continuation as text."""
        return "".join(step.token.text for step in self.steps)


@dataclass(frozen=True)
class GenerationLimits:
    """Limits of a continuation.

    Attributes:
        max_tokens: Maximum number of tokens.
        stop: Texts that end a continuation. The token that completes one is the last.
        alternatives: Number of likeliest tokens to return for each position, including the token that was written.
    """

    max_tokens: int = 50
    stop: tuple[str, ...] = ()
    alternatives: int = 5


class CompletionModel(Protocol):
    """A language model that continues plain texts.

    Attributes:
        name: Name of the model in records.
    """

    name: str

    @property
    def can_branch(self) -> bool:
        """Whether the model returns alternatives and can continue from them.

        For a model behind a server this may turn False with its first reply.
        """

    def extend(self, prompt: str, branches: Sequence[Sequence[Token]], bounds: GenerationLimits) -> list[Continuation]:
        """Continue a prompt followed by each of several branches, greedily and all at once.

        Args:
            prompt: Text that all continuations share.
            branches: Tokens that follow the prompt; empty for the prompt alone.
            bounds: Limits of each continuation.

        Raises:
            ChatModelError: If a continuation cannot be generated; the message says what to do.
        """
        ...

    def sample(self, prompt: str, count: int, temperature: float, bounds: GenerationLimits) -> list[Continuation]:
        """Sample several continuations of a prompt at a temperature."""
        ...

    def answer(self, system: str, questions: Sequence[str]) -> list[Continuation]:
        """Return one greedy token for each of several questions whose answers are numbers, all at once."""
        ...


@runtime_checkable
class CompletesTexts(Protocol):
    """A chat model that can also continue plain texts, as local models on other machines do."""

    def completion_model(self, seed: int) -> CompletionModel:
        """Return this model as a completion model.

        Args:
            seed: Seed for sampling.
        """
        ...


@dataclass(frozen=True)
class TextScore:
    """How likely a model finds a text.

    Attributes:
        probability: Geometric mean of the probabilities of its tokens, in [0, 1].
        prompt_tokens: Number of tokens of prompt and text.
        completion_tokens: Number of tokens written; 0 for local models, which write none.
    """

    probability: float
    prompt_tokens: int = 0
    completion_tokens: int = 0


@runtime_checkable
class TextScorer(Protocol):
    """A language model that computes how likely given texts are."""

    def score_texts(self, prompt: str, texts: Sequence[str]) -> list[TextScore]:
        """Return how likely each of several texts is after a prompt.

        Raises:
            ChatModelError: If a score cannot be computed; the message says what to do.
        """
        ...


class DelegatingCompletionModel(ABC):
    """Base of completion models that let another one answer: every request is a call of ``_ask``."""

    def extend(self, prompt: str, branches: Sequence[Sequence[Token]], bounds: GenerationLimits) -> list[Continuation]:
        """See ``CompletionModel.extend``."""
        return self._ask("extend", prompt, branches, bounds)

    def sample(self, prompt: str, count: int, temperature: float, bounds: GenerationLimits) -> list[Continuation]:
        """See ``CompletionModel.sample``."""
        return self._ask("sample", prompt, count, temperature, bounds)

    def answer(self, system: str, questions: Sequence[str]) -> list[Continuation]:
        """See ``CompletionModel.answer``."""
        return self._ask("answer", system, questions)

    def score_texts(self, prompt: str, texts: Sequence[str]) -> list[TextScore]:
        """See ``TextScorer.score_texts``."""
        return self._ask("score_texts", prompt, texts)

    @abstractmethod
    def _ask(self, method: str, *args: Any) -> list[Any]:
        """Return what a method of the other model returns."""


def require_text_scorer(model: CompletionModel) -> TextScorer:
    """Return the model as a ``TextScorer``.

    Raises:
        UserError: If the model cannot score texts.
    """
    if not isinstance(model, TextScorer):
        raise UserError(f"model {model.name}: it cannot score texts, which these settings need; use a local model")
    return model
