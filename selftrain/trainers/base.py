"""What every trainer offers: pairs and a model in, a better model out, in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from housewise.core.errors import UserError
from housewise.core.files import read_bytes, write_bytes, write_json
from housewise.core.reading import read_text
from housewise.language.adapters import ASKED_WITH
from housewise.selftrain.personalize.pairs import Pair

ADAPTER, MODEL = "adapter", "model"
"""Folders, within a training's, of what a local training leaves: an adapter, or all weights."""

MODEL_FILE = "model.json"
"""What a finished training leaves in its folder last."""

Progress = Callable[[int, int, str], None]
"""Told of steps done, steps in all, and how it goes in words."""


def unheard(done: int, total: int, words: str) -> None:
    """Progress that nobody is told of."""


class Start(BaseModel):
    """The model that training goes on from, as ``housewise.language.open_model`` takes it.

    Attributes:
        model: ``"local"``, ``"local:<folder or name>"``, or a server's name of a model.
        adapter: folder of a PEFT adapter for a local model.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    adapter: str | None = None


class TrainedModel(Start):
    """A model that has been trained.

    Attributes:
        metrics: figures of the training, such as loss, pairs, tokens and seconds.
    """

    metrics: dict[str, float] = Field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> TrainedModel | None:
        """What a finished training left in its folder, which may have been moved since; None where there is none.

        Raises:
            UserError: when the file is damaged.
        """
        path = folder / MODEL_FILE
        if not path.exists():
            return None
        try:
            trained = cls.model_validate_json(read_text(path))
        except (UserError, ValidationError) as error:
            raise UserError(f"{path}: does not name a trained model; delete it to train again") from error
        changes = {}
        if Path(trained.adapter or "").name == ADAPTER and (folder / ADAPTER).is_dir():
            changes["adapter"] = str(folder / ADAPTER)
        if Path(trained.model).name == MODEL and (folder / MODEL).is_dir():
            changes["model"] = f"local:{folder / MODEL}"
        return trained.model_copy(update=changes)

    def save(self, folder: Path, name: str = MODEL_FILE) -> TrainedModel:
        """Write ``model.json``, which says that the training in this folder is finished.

        The folder's ``housewise.json``, how an adapter is meant to be asked, is copied into an adapter there first.
        """
        asked = folder / ASKED_WITH
        if self.adapter is not None and folder in Path(self.adapter).parents and asked.exists():
            write_bytes(Path(self.adapter) / ASKED_WITH, read_bytes(asked))
        write_json(folder / name, self.model_dump())
        return self


class Trainer(Protocol):
    """Improves a model by supervised learning."""

    def check(self, start: Start) -> None:
        """See whether a model can be trained at all, before anything is done that its training waits for.

        Raises:
            UserError: when it cannot; the message says what to change.
        """
        ...

    def train(self, pairs: Sequence[Pair], start: Start, folder: Path) -> TrainedModel:
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
