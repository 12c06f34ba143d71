"""Where episodes are played: in threads or processes of this machine, or on the machines of a Ray cluster."""

from __future__ import annotations

from pathlib import Path

from housewise.core.errors import UserError
from housewise.rollout.executors.base import Executor, Silent, Watcher
from housewise.systems.personalize.config import MODEL_PLANNERS, RunConfig

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
        from housewise.rollout.executors.processes import Processes

        return Processes(config, episodes, watcher)
    if config.ray is None:
        from housewise.rollout.executors.threads import Threads

        return Threads(config, episodes, watcher)
    try:
        import ray  # noqa: F401
    except ImportError:
        raise UserError("ray is not installed; run pip install 'housewise[distributed]', or leave out --ray") from None
    from housewise.rollout.executors.ray_cluster import RayCluster

    return RayCluster(config, episodes, watcher)
