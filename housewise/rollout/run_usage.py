"""Tokens and seconds that a run has used, and the interface that counts them; ``run_meter`` checks the limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pydantic import Field

from housewise.core.record import Frozen, Seconds, Tokens
from housewise.rollout.failures import RunEndedError


class LimitReachedError(RunEndedError):
    """A run reached one of its limits. It can be resumed with a higher one."""

    exit_code = 4


class Meter(Protocol):
    """Counts the tokens that the models of a run use; thread-safe."""

    def check(self) -> None:
        """Check the limits before a request.

        Raises:
            LimitReachedError: A limit is reached.
        """

    def check_time(self) -> None:
        """Check the limit on minutes between requests; raises the same error as `check`."""

    def count(self, model: str, prompt_tokens: int, completion_tokens: int) -> None:
        """Add the tokens of a request.

        Args:
            model: Name of the model, as in the settings.
            prompt_tokens: Number of tokens read.
            completion_tokens: Number of tokens written.
        """


class ModelTokens(Frozen):
    """Tokens that one model has read and written."""

    prompt_tokens: Tokens = 0
    completion_tokens: Tokens = 0

    @property
    def total(self) -> int:
        """Tokens read and written."""
        return self.prompt_tokens + self.completion_tokens


class RunUsage(Frozen):
    """Resources that a run has used.

    Attributes:
        models: Tokens by model name, as in the settings.
        seconds: Seconds in which episodes were played.
    """

    models: Mapping[str, ModelTokens] = Field(default_factory=dict)
    seconds: Seconds = 0.0

    @property
    def tokens(self) -> int:
        """Tokens of all models."""
        return sum(each.total for each in self.models.values())

    def plus(self, model: str, prompt_tokens: int, completion_tokens: int) -> RunUsage:
        """Return the usage with another request added."""
        before = self.models.get(model, ModelTokens())
        now = ModelTokens(
            prompt_tokens=before.prompt_tokens + prompt_tokens,
            completion_tokens=before.completion_tokens + completion_tokens,
        )
        return self.model_copy(update={"models": {**self.models, model: now}})
