"""Trainers: on this machine, or behind a fine-tuning API."""

from selftrain.trainers.base import Progress, Start, TrainedModel, Trainer

__all__ = ["Progress", "Start", "TrainedModel", "Trainer"]
