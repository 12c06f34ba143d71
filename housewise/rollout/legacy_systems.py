"""Lets systems work that were written for the interface before `EpisodeContext`."""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import Any

from housewise.rollout.episode import EpisodeContext, EpisodeSetup
from housewise.rollout.episode_loop import EpisodeLimits

_RENAMED = {
    "asks_at_need": "lazy_models",
    "completed": "add_missing_scores",
    "essence": "task_key",
    "events_not_repeated": "replayed_events",
    "material": "job_data",
    "remembers": "uses_memory",
    "seconds_each": "seconds_per_episode",
    "talks": "interactive",
    "upgraded": "upgrade_lines",
}


def Opened(world: Any, agent: Any, setting: Any = None, limits: EpisodeLimits | None = None) -> EpisodeSetup:
    """Create an EpisodeSetup with the arguments that it had under its former name."""
    return EpisodeSetup(world, agent, setting, limits or EpisodeLimits())


def adapt_legacy_system(system: type[Any]) -> None:
    """Give a class of systems the current names of its members, and the current signature of `open`.

    Warns:
        DeprecationWarning: The class uses a former name or signature.
    """
    for old, new in _RENAMED.items():
        if old in vars(system) and new not in vars(system):
            _warn(system, f"{old} is now called {new}")
            setattr(system, new, vars(system)[old])
    if "open" in vars(system) and len(inspect.signature(system.open).parameters) > 2:
        _warn(system, "open now takes one EpisodeContext")
        system.open = _take_context(system.open)


def _take_context(legacy: Any) -> Any:
    @functools.wraps(legacy)
    def open(self: Any, context: EpisodeContext) -> EpisodeSetup:
        setup: EpisodeSetup = legacy(
            self, context.job, context.models, context.memory, context.job_data, context.progress
        )
        return setup

    return open


def _warn(system: type[Any], change: str) -> None:
    warnings.warn(f"system {system.__name__}: {change}; see docs/extending.md", DeprecationWarning, stacklevel=5)
