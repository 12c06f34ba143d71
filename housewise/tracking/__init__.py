"""Logs metrics to experiment trackers: TensorBoard, Weights & Biases, or trackers of other packages."""

from housewise.tracking.curves import Curves, open_curves
from housewise.tracking.episode_tracking import EpisodeTrackingCallback

__all__ = ["Curves", "EpisodeTrackingCallback", "open_curves"]
