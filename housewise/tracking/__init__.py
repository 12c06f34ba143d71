"""Logs metrics to experiment trackers: TensorBoard, Weights & Biases, or trackers of other packages."""

from housewise.tracking.curves import Curves, following
from housewise.tracking.episode_tracking import TrackedEpisodes

__all__ = ["Curves", "TrackedEpisodes", "following"]
