"""Hyperparameters of Adaptive CLIPR."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator
from typing_extensions import Self

from housewise.core.setting_marks import Affects
from housewise.core.settings import MAX_COUNT, Settings

_IF_ADAPTIVE = Affects(needs=("method", "adaptive"))


class CriticSettings(Settings):
    """Hyperparameters of the critic. The paper's text lacks most values.

    B follows from its efficiency scores. F was chosen by the experiment clipr/feedback_interval.
    """

    batch: int = Field(default=10, ge=1, le=MAX_COUNT)
    """Number of scenarios per batch (B in the paper)."""
    feedback_interval: Annotated[int, _IF_ADAPTIVE] = Field(default=10, ge=1, le=MAX_COUNT)
    """Number of scenarios after which feedback is considered, a multiple of the batch size (F in the paper). The
    default was chosen on training scenarios."""
    sensitivity: Annotated[float, _IF_ADAPTIVE] = Field(default=1.0, ge=0)
    """Drop of accuracy that makes the critic consider feedback, in standard deviations of the accuracies so far (τ in
    the paper)."""
    min_accuracy: Annotated[float | None, _IF_ADAPTIVE] = Field(default=None, ge=0, le=1)
    """Accuracy of a batch below which the critic considers feedback even if accuracy has not dropped. null considers it
    after a drop only, as the paper does."""
    recent_choices: Annotated[int, _IF_ADAPTIVE] = Field(default=10, ge=1, le=MAX_COUNT)
    """Number of recent choices that the critic reads when it words a question (K in the paper)."""
    accuracy_gate: Annotated[bool, _IF_ADAPTIVE] = True
    """Whether a revision must not lower the accuracy on the processed scenarios."""
    max_replayed: Annotated[int | None, _IF_ADAPTIVE] = Field(default=None, ge=1, le=MAX_COUNT)
    """Maximum number of processed scenarios that the accuracy gate replays, drawn by seed. null replays all of them:
    the number of calls grows with the square of the number of scenarios. With a maximum, the accuracy before a revision
    is partly that of choices by older rules, which no replay has brought up to date, so a revision that lowers accuracy
    can pass the gate."""

    @model_validator(mode="after")
    def _check_interval(self) -> Self:
        if self.feedback_interval % self.batch:
            raise ValueError(
                f"feedback every {self.feedback_interval} scenarios: use a multiple of the batch size ({self.batch})"
            )
        return self
