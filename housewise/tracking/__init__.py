"""Curves in the trackers that people follow: TensorBoard, Weights & Biases, or another package's."""

from housewise.tracking.curves import Curves, following
from housewise.tracking.observers import TrackedEpisodes, TrackedTraining

__all__ = ["Curves", "TrackedEpisodes", "TrackedTraining", "following"]
