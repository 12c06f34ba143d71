"""Models whose requests a meter counts, and before which it checks the limits of their run."""

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
# What models offer besides replies; who asks looks for it.
_ABILITIES = ("score", "score_tokens")


class _HasTokenCounts(Protocol):
    @property
    def prompt_tokens(self) -> int: ...

    @property
    def completion_tokens(self) -> int: ...


class MeteredModel:
    """A chat model whose requests are counted; metered() makes those that can do more than reply.

    Args:
        model: Is asked.
        label: Of the model, as settings name it.
        meter: Counts.
    """

    def __init__(self, model: ChatModel, label: str, meter: Meter) -> None:
        self.name = model.name
        self.model, self.label, self.meter = model, label, meter

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        """See ChatModel.complete.

        Raises:
            LimitReachedError: When a limit of the run is reached.
        """
        self.meter.check()
        replies = self.model.complete(requests)
        _count(self.meter, self.label, (reply for some in replies for reply in some))
        return replies

    def close(self) -> None:
        """See ChatModel.close."""
        self.model.close()


class MeteredCompletionModel:
    """A model that goes on with texts, whose requests are counted; see Continuer and Rater.

    Args:
        model: Is asked.
        label: Of the model, as settings name it.
        meter: Counts.
    """

    def __init__(self, model: CompletionModel, label: str, meter: Meter) -> None:
        self.name = model.name
        self._model, self._label, self._meter = model, label, meter

    @property
    def branches(self) -> bool:
        """See Continuer."""
        return self._model.branches

    def extend(self, prompt: str, branches: Sequence[Sequence[Token]], bounds: GenerationLimits) -> list[Continuation]:
        """See Continuer."""
        return self._ask(lambda: self._model.extend(prompt, branches, bounds))

    def sample(self, prompt: str, count: int, temperature: float, bounds: GenerationLimits) -> list[Continuation]:
        """See Continuer."""
        return self._ask(lambda: self._model.sample(prompt, count, temperature, bounds))

    def answer(self, system: str, questions: Sequence[str]) -> list[Continuation]:
        """See Continuer."""
        return self._ask(lambda: self._model.answer(system, questions))

    def rate(self, prompt: str, texts: Sequence[str]) -> list[TextScore]:
        """See Rater."""
        return self._ask(lambda: require_text_scorer(self._model).rate(prompt, texts))

    def _ask(self, ask: Callable[[], list[_T]]) -> list[_T]:
        self._meter.check()
        found: list[Any] = ask()
        _count(self._meter, self._label, found)
        return found


def meter_model(model: ChatModel, label: str, meter: Meter | None) -> ChatModel:
    """A model that can do what it can, and whose requests are counted; the model itself without a meter."""
    if meter is None:
        return model
    abilities = {name: _limit_checked(name) for name in _ABILITIES if hasattr(model, name)}
    kind: type[MeteredModel] = type("MeteredModel", (MeteredModel,), abilities)
    return kind(model, label, meter)


def _limit_checked(ability: str) -> Callable[..., Any]:
    """A method that checks the limits and asks the model, which tells no tokens there."""

    def ask(self: MeteredModel, *args: Any) -> Any:
        self.meter.check()
        return getattr(self.model, ability)(*args)

    return ask


def _count(meter: Meter, label: str, found: Iterable[_HasTokenCounts]) -> None:
    taken = list(found)
    if taken:
        meter.count(label, sum(each.prompt_tokens for each in taken), sum(each.completion_tokens for each in taken))
