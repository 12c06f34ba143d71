"""Curves in the trackers that people follow: TensorBoard, Weights & Biases, or another package's."""

from housewise.tracking.curves import Curves, following
from housewise.tracking.episode_tracking import TrackedEpisodes

__all__ = ["Curves", "TrackedEpisodes", "following"]
