"""Times the calls of chat models, apart from what callers do between them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from housewise.language.base import ChatModel

# Methods of chat models that compute; all but the first are optional, and callers look them up.
_CALLS = ("complete", "score", "score_tokens")


class ModelTimer:
    """Sums the seconds that calls of models take.

    Attributes:
        seconds: Seconds so far.
    """

    def __init__(self) -> None:
        self.seconds = 0.0

    def wrap(self, model: ChatModel) -> ChatModel:
        """Return a model with the same abilities whose calls are timed."""
        calls = {name: _make_timed_call(name) for name in _CALLS if hasattr(model, name)}
        kind: type[Any] = type("TimedModel", (_TimedModel,), calls)
        timed: ChatModel = kind(model, self)
        return timed

    @contextmanager
    def measure(self) -> Iterator[None]:
        """Count the time that the block takes."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - began


class _TimedModel:
    def __init__(self, model: ChatModel, timer: ModelTimer) -> None:
        self.name, self.model, self.timer = model.name, model, timer

    def close(self) -> None:
        """See `ChatModel.close`."""
        self.model.close()


def _make_timed_call(name: str) -> Callable[..., Any]:
    def call(self: _TimedModel, *args: Any, **named: Any) -> Any:
        with self.timer.measure():
            return getattr(self.model, name)(*args, **named)

    return call
