"""Chat models whose requests are counted by a meter, which also checks the limits of the run before each request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from housewise.language.base import ChatModel, ChatRequest, Reply
from housewise.language.completion import (
    CompletionModel,
    Continuation,
    GenerationLimits,
    TextScore,
    Token,
    require_text_scorer,
)
from housewise.rollout.usage_limits import Meter

_T = TypeVar("_T")
# Optional methods of chat models, which callers look up.
_ABILITIES = ("score", "score_tokens")


class _HasTokenCounts(Protocol):
    @property
    def prompt_tokens(self) -> int: ...

    @property
    def completion_tokens(self) -> int: ...


class MeteredModel:
    """A chat model whose requests are counted. Use `meter_model` to keep further abilities of the model.

    Args:
        model: Model that is asked.
        label: Name of the model, as in the settings.
        meter: Meter of the run.
    """

    def __init__(self, model: ChatModel, label: str, meter: Meter) -> None:
        self.name = model.name
        self.model, self.label, self.meter = model, label, meter

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        """See `ChatModel.complete`.

        Raises:
            LimitReachedError: The run reached a limit.
        """
        self.meter.check()
        replies = self.model.complete(requests)
        _count(self.meter, self.label, (reply for some in replies for reply in some))
        return replies

    def close(self) -> None:
        """See `ChatModel.close`."""
        self.model.close()


class MeteredCompletionModel:
    """A completion model whose requests are counted.

    Args:
        model: Model that is asked.
        label: Name of the model, as in the settings.
        meter: Meter of the run.
    """

    def __init__(self, model: CompletionModel, label: str, meter: Meter) -> None:
        self.name = model.name
        self._model, self._label, self._meter = model, label, meter

    @property
    def can_branch(self) -> bool:
        """See CompletionModel."""
        return self._model.can_branch

    def extend(self, prompt: str, branches: Sequence[Sequence[Token]], bounds: GenerationLimits) -> list[Continuation]:
        """See CompletionModel."""
        return self._ask(lambda: self._model.extend(prompt, branches, bounds))

    def sample(self, prompt: str, count: int, temperature: float, bounds: GenerationLimits) -> list[Continuation]:
        """See CompletionModel."""
        return self._ask(lambda: self._model.sample(prompt, count, temperature, bounds))

    def answer(self, system: str, questions: Sequence[str]) -> list[Continuation]:
        """See CompletionModel."""
        return self._ask(lambda: self._model.answer(system, questions))

    def score_texts(self, prompt: str, texts: Sequence[str]) -> list[TextScore]:
        """See TextScorer."""
        return self._ask(lambda: require_text_scorer(self._model).score_texts(prompt, texts))

    def _ask(self, ask: Callable[[], list[_T]]) -> list[_T]:
        self._meter.check()
        found: list[Any] = ask()
        _count(self._meter, self._label, found)
        return found


def meter_model(model: ChatModel, label: str, meter: Meter | None) -> ChatModel:
    """Return a model with the same abilities whose requests are counted, or the model itself without a meter."""
    if meter is None:
        return model
    abilities = {name: _limit_checked(name) for name in _ABILITIES if hasattr(model, name)}
    kind: type[MeteredModel] = type("MeteredModel", (MeteredModel,), abilities)
    return kind(model, label, meter)


def _limit_checked(ability: str) -> Callable[..., Any]:
    """Return a method that checks the limits and then asks the model; these replies state no token counts."""

    def ask(self: MeteredModel, *args: Any) -> Any:
        self.meter.check()
        return getattr(self.model, ability)(*args)

    return ask


def _count(meter: Meter, label: str, found: Iterable[_HasTokenCounts]) -> None:
    taken = list(found)
    if taken:
        meter.count(label, sum(each.prompt_tokens for each in taken), sum(each.completion_tokens for each in taken))
