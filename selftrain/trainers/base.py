"""What every trainer offers: pairs and a model in, a better model out, in a folder of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import Self

from housewise.core.errors import UserError
from housewise.core.files import read_bytes, write_bytes, write_json
from housewise.core.text_files import read_text
from housewise.language.adapters import ADAPTER_CONFIG_FILE
from housewise.selftrain.personalize.pairs import Pair

ADAPTER, MODEL = "adapter", "model"
"""Folders, within a training's, of what a local training leaves: an adapter, or all weights."""

MODEL_FILE = "model.json"
"""What a finished training leaves in its folder last."""
# How many levels a training's folder is at most below that of its study: study/fold/learner.
_DEEPEST = 2

Progress = Callable[[int, int, str], None]
"""Told of steps done, steps in all, and how it goes in words."""


def ignore_progress(done: int, total: int, words: str) -> None:
    """Progress that nobody is told of."""


class ModelReference(BaseModel):
    """The model that training goes on from, as ``housewise.language.open_model`` takes it.

    Attributes:
        model: ``"local"``, ``"local:<folder or name>"``, or a server's name of a model.
        adapter: folder of a PEFT adapter for a local model.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    adapter: str | None = None

    @property
    def folders(self) -> dict[str, Path]:
        """Folders that the model and the adapter may be in, by attribute."""
        kind, _, name = self.model.partition(":")
        named = {"model": name if kind == "local" else None, "adapter": self.adapter}
        return {key: Path(place) for key, place in named.items() if place}

    def with_folders(self, places: Mapping[str, Path]) -> Self:
        """Return the same with other folders for some attributes."""
        written = {key: f"local:{place}" if key == "model" else str(place) for key, place in places.items()}
        return self.model_copy(update=written)


class TrainedModel(ModelReference):
    """A model that has been trained.

    Attributes:
        metrics: figures of the training, such as loss, pairs, tokens and seconds.
        notes: Sentences about what was left out of the training.
    """

    metrics: dict[str, float] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def load(cls, folder: Path, base: str | None = None) -> TrainedModel | None:
        """What a finished training left in its folder, which may have been moved since; None where there is none.

        Args:
            folder: Of the training.
            base: Name of the model that training began with, as it is now. An adapter is for that one where there is no
                folder any more under the name that was written down.

        Raises:
            UserError: when the file is damaged.
        """
        path = folder / MODEL_FILE
        if not path.exists():
            return None
        try:
            kept = _StoredModel.model_validate_json(read_text(path))
        except (UserError, ValidationError) as error:
            raise UserError(f"{path}: does not name a trained model; delete it to train again") from error
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
        """Write ``model.json``, which says that the training in this folder is finished.

        The folder's ``housewise.json``, how an adapter is meant to be asked, is copied into an adapter there first.
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
    """What ``model.json`` holds.

    Attributes:
        within: The model's and the adapter's folders, from the training's folder, where they are parts of its study,
            so that a study that was moved or copied finds its own. None in files of earlier versions.
    """

    within: dict[Literal["model", "adapter"], str] | None = None


def check_finished_training(
    folder: Path, finished: TrainedModel, start: ModelReference, changes: Sequence[str] | None
) -> None:
    """Refuse a finished training in a folder that is now to hold another one.

    Args:
        folder: Of the training.
        finished: What the training left.
        start: The model that is to be trained now.
        changes: What is no longer as it was in that training; None where its file does not tell.

    Raises:
        UserError: When something has changed.
    """
    was_local, is_local = (each.model.partition(":")[0] == "local" for each in (finished, start))
    changed = changes or ([] if was_local == is_local else [f"model ({finished.model})"])
    if changed:
        raise UserError(
            f"{folder}: holds a finished training with other {' and '.join(changed)}; choose another folder, or give "
            "what it was trained with to use its model"
        )


def _study_folder(folder: Path) -> Path:
    """The folder of the study that a training is a part of, which has ``config.json``; the training's own if none."""
    above = folder.absolute().parents[:_DEEPEST]
    return next((place for place in above if (place / "config.json").is_file()), folder)


def _relocated_parts(places: Mapping[str, Path], study: Path) -> dict[str, Path]:
    """The folders that are parts of a study now, of those that a file of an earlier version names as they were then."""
    found: dict[str, Path] = {}
    for key, place in places.items():
        ends = (place.parts[start:] for start in range(place.is_absolute(), len(place.parts)))
        now = next((part for end in ends if (part := study.joinpath(*end)).is_dir()), None)
        found |= {} if now is None else {key: now}
    return found


class Trainer(Protocol):
    """Improves a model by supervised learning."""

    def check(self, start: ModelReference) -> None:
        """See whether a model can be trained at all, before anything is done that its training waits for.

        Raises:
            UserError: when it cannot; the message says what to change.
        """
        ...

    def train(self, pairs: Sequence[Pair], start: ModelReference, folder: Path) -> TrainedModel:
        """Train, or go on with the training that was stopped in this folder.

        Args:
            pairs: what to learn.
            start: the model to go on from.
            folder: for everything that the training writes.

        Returns:
            The trained model, which a finished training in this folder has left already.

        Raises:
            UserError: when something outside the program is wrong; the message says what to change.
        """
        ...
