"""Limits of a run: tokens, cost and minutes, counted between requests and kept with the run."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from pydantic import Field, ValidationError

from housewise.core.console import print_note
from housewise.core.errors import UserError
from housewise.core.files import write_json
from housewise.core.record import Frozen, Seconds, Tokens
from housewise.core.text_files import read_json
from housewise.rollout.failures import RunEndedError
from housewise.rollout.record_reader import read_records
from housewise.rollout.settings import ExecutionSettings
from housewise.rollout.system import System

USAGE_FILE = "spending.json"
"""In a run's folder: what it has taken so far, in all its sessions."""

_MILLION = 1_000_000
# Seconds between two times at which what is spent is written down, in case the program is killed.
_PAUSE = 1.0


class LimitReachedError(RunEndedError):
    """A run has reached one of its limits and can be resumed with a higher one."""

    exit_code = 4


class Meter(Protocol):
    """Counts what the models of a run take; any number of threads may ask."""

    def check(self) -> None:
        """Check the limits before a request.

        Raises:
            LimitReachedError: When one is reached.
        """
        ...

    def check_time(self) -> None:
        """Check the limit of minutes while no model is asked; see check."""
        ...

    def count(self, model: str, prompt_tokens: int, completion_tokens: int) -> None:
        """Add what a request took.

        Args:
            model: As settings name it.
            prompt_tokens: Tokens read.
            completion_tokens: Tokens written.
        """
        ...


class ModelTokens(Frozen):
    """Tokens that a model has read and written."""

    prompt_tokens: Tokens = 0
    completion_tokens: Tokens = 0

    @property
    def total(self) -> int:
        """Both."""
        return self.prompt_tokens + self.completion_tokens


class RunUsage(Frozen):
    """What a run has taken.

    Attributes:
        models: Tokens by model, as settings name it.
        seconds: In which episodes were played.
    """

    models: Mapping[str, ModelTokens] = Field(default_factory=dict)
    seconds: Seconds = 0.0

    @property
    def tokens(self) -> int:
        """Of all models."""
        return sum(each.total for each in self.models.values())

    def plus(self, model: str, prompt_tokens: int, completion_tokens: int) -> RunUsage:
        """The same with another request."""
        before = self.models.get(model, ModelTokens())
        now = ModelTokens(
            prompt_tokens=before.prompt_tokens + prompt_tokens,
            completion_tokens=before.completion_tokens + completion_tokens,
        )
        return self.model_copy(update={"models": {**self.models, model: now}})


class RunMeter:
    """The meter of a run, in the program that plays it.

    Args:
        limits: Of the run.
        folder: Of the run; what is spent is written there.
        spent: In earlier sessions.
    """

    def __init__(self, limits: ExecutionSettings, folder: Path, usage: RunUsage) -> None:
        # Where others count for this program, they need not have its working directory.
        self._limits, self._path, self._before = limits, folder.absolute() / USAGE_FILE, usage
        self._now, self._saved = usage, 0.0
        self._began = time.monotonic()
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    @property
    def usage(self) -> RunUsage:
        """So far, in all sessions."""
        return self._now.model_copy(update={"seconds": self._before.seconds + time.monotonic() - self._began})

    def update(self, usage: RunUsage) -> None:
        """Take over what another program has counted."""
        self._now = usage

    def check(self) -> None:
        """See Meter."""
        if words := self.describe_reached_limit():
            raise LimitReachedError(words)

    def check_time(self) -> None:
        """See Meter."""
        if words := self._describe_time_limit():
            raise LimitReachedError(words)

    def count(self, model: str, prompt_tokens: int, completion_tokens: int) -> None:
        """See Meter."""
        if not prompt_tokens + completion_tokens:
            print_note(f"model {model}: its server does not say how many tokens it takes, so that they are not counted")
        with self._lock:
            self._now = self._now.plus(model, prompt_tokens, completion_tokens)
            if time.monotonic() > self._saved + _PAUSE:
                self._save()

    def save(self) -> None:
        """Write down what is spent."""
        with self._lock:
            self._save()

    def describe_reached_limit(self) -> str:
        """The limit that is reached, in words; empty for none."""
        limits, now = self._limits, self._now
        if limits.max_total_tokens is not None and now.tokens >= limits.max_total_tokens:
            return f"max_total_tokens={limits.max_total_tokens} is reached with {now.tokens:,} tokens"
        cost = self.cost
        if limits.max_cost is not None and cost is not None and cost >= limits.max_cost:
            return f"max_cost={limits.max_cost:g} is reached with {cost:.4g}"
        return self._describe_time_limit()

    @property
    def cost(self) -> float | None:
        """What the tokens cost of models that have a price; None where none has."""
        prices = self._limits.prices
        if not self._now.models.keys() & prices.keys():
            return None
        return sum(
            (prices[name].prompt * each.prompt_tokens + prices[name].reply * each.completion_tokens) / _MILLION
            for name, each in self._now.models.items()
            if name in prices
        )

    def __str__(self) -> str:
        cost = self.cost
        return f"{self._now.tokens:,} tokens" + ("" if cost is None else f", cost {cost:.4g}")

    def _describe_time_limit(self) -> str:
        most = self._limits.max_minutes
        return "" if most is None or self.usage.seconds < 60 * most else f"max_minutes={most:g} is reached"

    def _save(self) -> None:
        self._saved = time.monotonic()
        write_json(self._path, self.usage.model_dump(mode="json"))


def open_meter(system: System[Any], folder: Path) -> RunMeter | None:
    """The meter of a run; None where nothing is limited, nothing has a price and nothing was counted before.

    Args:
        system: Plays the run.
        folder: Of the run. Where nothing was counted before, the tokens of its finished episodes are.
    """
    execution, path = system.settings.execution, folder / USAGE_FILE
    if path.exists():
        return RunMeter(execution, folder, _read(path))
    if not execution.is_limited and not execution.prices:
        return None
    usage, acting = RunUsage(), next((getattr(system.settings.models, role).model for role in system.roles), None)
    if acting is not None and (folder / "episodes").is_dir():
        for record in read_records(folder):
            usage = record.result.usage
            usage = usage.plus(acting, usage.prompt_tokens, usage.completion_tokens)
    return RunMeter(execution, folder, usage)


def check_prices(system: System[Any]) -> None:
    """Check that all models of a run have a price where its cost is limited.

    Raises:
        UserError: When one has none.
    """
    execution = system.settings.execution
    models = [getattr(system.settings.models, role).model for role in system.roles]
    for name in models if execution.max_cost is not None else []:
        if name not in execution.prices:
            raise UserError(
                f"max_cost={execution.max_cost:g}: model {name} has no price; give it per million tokens, as in "
                f"'prices={{{name}: {{prompt: 0.5, reply: 1.5}}}}'"
            )


def _read(path: Path) -> RunUsage:
    try:
        return RunUsage.model_validate(read_json(path))
    except (UserError, ValidationError) as error:
        raise UserError(f"{path}: not what a run has spent; delete the file to count anew") from error
