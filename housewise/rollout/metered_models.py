"""Chat models whose requests are counted by a meter, which also checks the limits of the run before each request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from housewise.language.base import ChatModel, ChatRequest, Reply, RequestError
from housewise.rollout.run_usage import Meter

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
        try:
            replies = self.model.complete(requests)
        except RequestError as error:
            self.count_failure(error)
            raise
        self.count(reply for some in replies for reply in some)
        return replies

    def count(self, answers: Iterable[_HasTokenCounts]) -> None:
        """Count the tokens of answers."""
        taken = list(answers)
        if taken:
            read, written = sum(each.prompt_tokens for each in taken), sum(each.completion_tokens for each in taken)
            self.meter.count(self.label, read, written)

    def count_failure(self, error: RequestError) -> None:
        """Count the tokens of replies that were of no use. A request that the model did not answer has none."""
        if error.prompt_tokens or error.completion_tokens:
            self.count([error])

    def close(self) -> None:
        """See `ChatModel.close`."""
        self.model.close()


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
