"""The meter of a run: counts tokens, cost and minutes, stores them in the run's folder, and checks the limits."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from housewise.core.console import print_note
from housewise.core.errors import UserError
from housewise.core.files import write_json
from housewise.core.validation import read_model
from housewise.rollout.record_reader import read_records
from housewise.rollout.run_usage import LimitReachedError, RunUsage
from housewise.rollout.settings import ExecutionSettings
from housewise.rollout.system import System

USAGE_FILE = "spending.json"
"""File in a run's folder with its usage over all sessions."""

_MILLION = 1_000_000
# Minimum seconds between two writes of the usage, which is kept in case the program is killed.
_PAUSE = 1.0


class RunMeter:
    """The meter of a run, in the program that plays it.

    Args:
        limits: Execution settings of the run.
        folder: Folder of the run, where the usage is written.
        usage: Usage of earlier sessions.
    """

    def __init__(self, limits: ExecutionSettings, folder: Path, usage: RunUsage) -> None:
        # Another program that counts for this one may have another working directory.
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
        """Usage so far, over all sessions."""
        return self._now.model_copy(update={"seconds": self._before.seconds + time.monotonic() - self._began})

    def update(self, usage: RunUsage) -> None:
        """Replace the counted tokens by those that another program counted."""
        self._now = usage

    def check(self) -> None:
        """See `Meter.check`."""
        if words := self.describe_reached_limit():
            raise LimitReachedError(words)

    def check_time(self) -> None:
        """See `Meter.check_time`."""
        if words := self._describe_time_limit():
            raise LimitReachedError(words)

    def count(self, model: str, prompt_tokens: int, completion_tokens: int) -> None:
        """See `Meter.count`."""
        if not prompt_tokens + completion_tokens:
            print_note(f"model {model}: its server reports no token counts, so its tokens are not counted")
        with self._lock:
            self._now = self._now.plus(model, prompt_tokens, completion_tokens)
            if time.monotonic() > self._saved + _PAUSE:
                self._save()

    def save(self) -> None:
        """Write the usage to the run's folder."""
        with self._lock:
            self._save()

    def describe_reached_limit(self) -> str:
        """Describe the limit that is reached. The text is empty if none is."""
        limits, now = self._limits, self._now
        if limits.max_total_tokens is not None and now.tokens >= limits.max_total_tokens:
            return f"max_total_tokens={limits.max_total_tokens} is reached with {now.tokens:,} tokens"
        cost = self.cost
        if limits.max_cost is not None and cost is not None and cost >= limits.max_cost:
            return f"max_cost={limits.max_cost:g} is reached with {cost:.4g}"
        return self._describe_time_limit()

    @property
    def cost(self) -> float | None:
        """Cost of the tokens of all models that have a price, or None if no used model has one."""
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
    """Return the meter of a run, or None if it has no limit, no price and no earlier usage.

    Args:
        system: System that plays the run.
        folder: Folder of the run. Without earlier usage, the tokens of its finished episodes are counted.
    """
    execution, path = system.settings.execution, folder / USAGE_FILE
    if path.exists():
        earlier = read_model(path, RunUsage, "delete the file to restart the count", "what a run has spent")
        return RunMeter(execution, folder, earlier)
    if not execution.is_limited and not execution.prices:
        return None
    total, acting = RunUsage(), next((getattr(system.settings.models, role).model for role in system.roles), None)
    if acting is not None and (folder / "episodes").is_dir():
        for record in read_records(folder):
            usage = record.result.usage
            total = total.plus(acting, usage.prompt_tokens, usage.completion_tokens)
    return RunMeter(execution, folder, total)


def check_prices(system: System[Any]) -> None:
    """Check that every model has a price if the cost is limited.

    Raises:
        UserError: A model has no price.
    """
    execution = system.settings.execution
    models = [getattr(system.settings.models, role).model for role in system.roles]
    for name in models if execution.max_cost is not None else []:
        if name not in execution.prices:
            raise UserError(
                f"max_cost={execution.max_cost:g}: model {name} has no price; give it per million tokens, as in "
                f"'prices={{{name}: {{prompt: 0.5, reply: 1.5}}}}'"
            )
