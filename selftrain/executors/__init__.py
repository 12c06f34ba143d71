"""Where episodes are played: in threads or processes of this machine, or on the machines of a Ray cluster."""

from __future__ import annotations

from pathlib import Path

from household.errors import UserError
from selftrain.config import MODEL_PLANNERS, RunConfig
from selftrain.executors.base import Executor, Silent, Watcher

__all__ = ["Executor", "Silent", "Watcher", "open_executor"]


def open_executor(config: RunConfig, episodes: Path, watcher: Watcher) -> Executor:
    """The executor that the settings name.

    Args:
        config: of the run.
        episodes: folder of the records.
        watcher: told of how it goes.

    Raises:
        UserError: when it is not installed, or the settings do not fit.
    """
    if config.ray is None and config.workers > 1 and config.planner not in MODEL_PLANNERS:
        from selftrain.executors.processes import Processes

        return Processes(config, episodes, watcher)
    if config.ray is None:
        from selftrain.executors.threads import Threads

        return Threads(config, episodes, watcher)
    try:
        import ray  # noqa: F401
    except ImportError:
        raise UserError("ray is not installed; run pip install 'housewise[distributed]', or leave out --ray") from None
    from selftrain.executors.ray_cluster import RayCluster

    return RayCluster(config, episodes, watcher)
