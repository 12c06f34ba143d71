"""Chooses where episodes are played: in threads or processes of this machine, or on a Ray cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from housewise.core.errors import UserError
from housewise.core.processes import can_start_processes
from housewise.rollout.executor import Executor, RunCallback
from housewise.rollout.run_meter import RunMeter
from housewise.rollout.system import System


def open_executor(
    system: System[Any], episodes: Path, callback: RunCallback, meter: RunMeter | None = None
) -> Executor:
    """Return the executor that a system's settings select.

    Args:
        system: System that plays the episodes.
        episodes: Folder of the records.
        callback: Called when episodes start and end.
        meter: Meter of the run, or None for a run without limits.

    Raises:
        UserError: Ray is selected but not installed.
    """
    execution = system.settings.execution
    if execution.ray is None and execution.workers > 1 and not system.roles and can_start_processes():
        from housewise.rollout.process_executor import ProcessExecutor

        return ProcessExecutor(system, episodes, callback, meter)
    if execution.ray is None:
        from housewise.rollout.thread_executor import ThreadExecutor

        return ThreadExecutor(system, episodes, callback, meter)
    try:
        import ray  # noqa: F401
    except ImportError:
        raise UserError("ray is not installed; run pip install 'housewise[distributed]', or leave out --ray") from None
    from housewise.rollout.ray_executor import RayExecutor

    return RayExecutor(system, episodes, callback, meter)
