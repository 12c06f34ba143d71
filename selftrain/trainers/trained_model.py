"""References to models, and ``model.json``: the file that a finished training leaves in its folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field
from typing_extensions import Self

from housewise.core.errors import UserError
from housewise.core.files import read_bytes, write_bytes, write_json
from housewise.core.validation import StrictModel, read_model
from housewise.language.adapters import ADAPTER_CONFIG_FILE

ADAPTER, MODEL = "adapter", "model"
"""Subfolders of a local training with its result: an adapter, or all weights."""

MODEL_FILE = "model.json"
"""The last file that a finished training writes."""
# A training's folder is at most this many levels below that of its study, as in study/fold/learner.
_DEEPEST = 2


class ModelReference(StrictModel):
    """A model and its adapter, as arguments for ``housewise.language.open_model``.

    Attributes:
        model: ``"local"``, ``"local:<folder or name>"``, or the name of a server's model.
        adapter: Folder of a PEFT adapter for a local model.
    """

    model: str
    adapter: str | None = None

    @property
    def folders(self) -> dict[str, Path]:
        """The paths of the model and the adapter, by attribute, where they may be folders."""
        kind, _, name = self.model.partition(":")
        named = {"model": name if kind == "local" else None, "adapter": self.adapter}
        return {key: Path(place) for key, place in named.items() if place}

    def with_folders(self, places: Mapping[str, Path]) -> Self:
        """Return a copy with other folders for some attributes."""
        written = {key: f"local:{place}" if key == "model" else str(place) for key, place in places.items()}
        return self.model_copy(update=written)


class TrainedModel(ModelReference):
    """A model that has been trained.

    Attributes:
        metrics: Figures of the training, such as loss, pairs, tokens and seconds.
        notes: Sentences about examples that were left out.
    """

    metrics: dict[str, float] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def load(cls, folder: Path, base: str | None = None) -> TrainedModel | None:
        """Load the model of a finished training, or return None where no training has finished.

        The folder may have been moved since.

        Args:
            folder: Folder of the training.
            base: Current name of the model that training started from. It replaces the recorded name of an adapter's
                model where no folder of that name exists any more.

        Raises:
            UserError: The file is damaged.
        """
        path = folder / MODEL_FILE
        if not path.exists():
            return None
        kept = read_model(path, _StoredModel, "delete it to train again", "the description of a trained model")
        trained = cls(**kept.model_dump(exclude={"within"}))
        if kept.within is None:
            own = _relocated_parts(trained.folders, _study_folder(folder))
        else:
            own = {key: Path(os.path.normpath(folder / place)) for key, place in kept.within.items()}
        found, model = trained.with_folders(own), trained.folders.get("model")
        is_gone = model is not None and "model" not in own and not model.is_dir()
        if base is not None and is_gone and found.adapter is not None:
            return found.model_copy(update={"model": base})
        return found

    def save(self, folder: Path, name: str = MODEL_FILE) -> TrainedModel:
        """Write ``model.json``, which marks the training in this folder as finished.

        The folder's file of adapter defaults is copied into an adapter there first.
        """
        asked = folder / ADAPTER_CONFIG_FILE
        if self.adapter is not None and folder in Path(self.adapter).parents and asked.exists():
            write_bytes(Path(self.adapter) / ADAPTER_CONFIG_FILE, read_bytes(asked))
        study, here = _study_folder(folder).resolve(), folder.resolve()
        places = {key: place.resolve() for key, place in self.folders.items() if place.is_dir()}
        within = {key: os.path.relpath(place, here) for key, place in places.items() if place.is_relative_to(study)}
        write_json(folder / name, self.model_dump() | {"within": within})
        return self


class _StoredModel(TrainedModel):
    """The content of ``model.json``.

    Attributes:
        within: Paths of the model and the adapter relative to the training's folder, where they are parts of its study,
            so that a study can be moved or copied. None in files of earlier versions.
    """

    within: dict[Literal["model", "adapter"], str] | None = None


def check_finished_training(
    folder: Path, finished: TrainedModel, start: ModelReference, changes: Sequence[str] | None
) -> None:
    """Check that a folder's finished training is the one that is asked for now.

    Args:
        folder: Folder of the training.
        finished: Its model.
        start: The model that should be trained now.
        changes: What differs from that training; None where its file does not tell.

    Raises:
        UserError: Something differs.
    """
    was_local, is_local = (each.model.partition(":")[0] == "local" for each in (finished, start))
    changed = changes or ([] if was_local == is_local else [f"model ({finished.model})"])
    if changed:
        raise UserError(
            f"{folder}: holds a finished training with other {' and '.join(changed)}; choose another folder, or use "
            "what it was trained with to get its model"
        )


def _study_folder(folder: Path) -> Path:
    """Return the folder of the study that a training belongs to, which has ``config.json``; or the training's own."""
    above = folder.absolute().parents[:_DEEPEST]
    return next((place for place in above if (place / "config.json").is_file()), folder)


def _relocated_parts(places: Mapping[str, Path], study: Path) -> dict[str, Path]:
    """Return the current folders of a study's parts, given the paths in a file of an earlier version."""
    found: dict[str, Path] = {}
    for key, place in places.items():
        ends = (place.parts[start:] for start in range(place.is_absolute(), len(place.parts)))
        now = next((part for end in ends if (part := study.joinpath(*end)).is_dir()), None)
        found |= {} if now is None else {key: now}
    return found
