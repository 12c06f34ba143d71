"""What a run of an experiment builds on: the memory of another run, or the model of a training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StringConstraints, model_validator
from typing_extensions import Self

from housewise.core.settings import Settings

Name = Annotated[str, StringConstraints(min_length=1, max_length=80, pattern=r"^[^/\\\x00-\x1f]*$")]
"""Name of an axis, a level, a run or a training. It is part of paths."""
FunctionName = Annotated[str, StringConstraints(pattern=r"^[\w.]+:\w+$")]
"""``module:function``. The file of an experiment is trusted as a program of its author is."""
Source = dict[Name, str | dict[Name, Name]]
"""The level to take of each axis: a text in which ``{AXIS}`` stands for the run's level of that axis, or a mapping
from the run's levels of the same axis."""


class MemorySource(Settings):
    """The memory that a run starts from. Several levels of a cell may each set some of the fields; later ones win.

    Attributes:
        run: Name of the run whose final memory is used.
        at: Levels of that run, where they differ from those of the run that uses the memory, by axis.
        notes: Number of notes to take, the earliest first. None takes all.
        function: ``module:function`` that makes the memory in place of a run. It takes the settings of the run that
            uses the memory, and ``settings``, and returns a ``Memory``.
        settings: Arguments of the function.
    """

    run: Name | None = None
    at: Source = Field(default_factory=dict)
    notes: int | None = Field(default=None, ge=0)
    function: FunctionName | None = None
    settings: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_origin(self) -> Self:
        if self.run is not None and self.function is not None:
            raise ValueError("name either the run or the function that the memory comes from, not both")
        return self


class PlayedEpisodes(Settings):
    """Episodes that a training has played, which are measured in place of those of a run.

    Attributes:
        folder: Folder of their run, relative to that of the training.
        at: Levels, by axis, at which the training's episodes are used. All other runs are played.
    """

    folder: Path
    at: dict[Name, Name] = Field(default_factory=dict)


class ModelSource(Settings):
    """A trained model that a run asks. Several levels of a cell may each set some of the fields; later ones win.

    Attributes:
        training: Name of the training.
        phase: Phase of the training whose model is used.
        at: Levels of the training, where they differ from those of the run, by axis; see ``MemorySource``.
        episodes: Episodes of the model that the training has played, in place of those of the run.
    """

    training: Name | None = None
    phase: str | None = None
    at: Source = Field(default_factory=dict)
    episodes: PlayedEpisodes | None = None
