"""Teaches a model to write and to choose goals, as files in a folder."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from housewise.core.errors import UserError
from housewise.core.files import exclusive_lock, remove_partial, write_json
from housewise.core.text_files import read_text
from housewise.rollout.saved_settings import find_changed_settings
from housewise.selftrain.personalize.loop import Observer
from housewise.selftrain.personalize.memories import IMITATE
from housewise.selftrain.personalize.pairs import Pair, read_pairs, write_pairs
from housewise.selftrain.stars.lessons import Lessons
from housewise.selftrain.stars.settings import GoalTrainingConfig
from housewise.selftrain.trainers import ModelReference, TrainedModel, open_trainer


class GoalTraining:
    """Imitation of goals that are right.

    In its folder are ``config.json`` and, in ``imitate/``, the data set ``pairs.jsonl``, the training's curve and the
    model. What is there already is not done again.

    Args:
        config: what to do.
        folder: made when it is missing; one in which something was learned with other settings is refused.
        observer: told of everything.

    Raises:
        UserError: when the folder or the settings do not fit.
    """

    def __init__(self, config: GoalTrainingConfig, folder: Path, observer: Observer) -> None:
        self.config, self.folder = config, folder
        self._observer, self._phase = observer, folder / IMITATE
        if config.training.trainer != "local":
            raise UserError(
                f"training.trainer={config.training.trainer}: goals are learned as texts to go on with, as only "
                "trainer=local can; leave it out"
            )
        self._check_folder()

    def go(self) -> TrainedModel:
        """Do what is left to do.

        Raises:
            UserError: when something outside the program is wrong; what is finished is kept.
        """
        acting = self.config.run.models.agent
        start = ModelReference(model=acting.model, adapter=acting.adapter)
        with exclusive_lock(self.folder), self._observer.training(f"{IMITATE}: train") as progress:
            # Another program may have been at it since.
            self._check_folder()
            trainer = open_trainer(self.config.training, self.config.run.tasks.seed, None, progress)
            trainer.check(start)
            remove_partial(self.folder)
            write_json(self.folder / "config.json", self.config.model_dump(mode="json"))
            return trainer.train(self._pairs(), start, self._phase)

    def _pairs(self) -> list[Pair]:
        """The data set, made where it is not there yet: it follows from the settings alone."""
        path = self._phase / "pairs.jsonl"
        if not path.exists():
            write_pairs(path, Lessons(self.config.run, self.config.lessons).pairs())
        return read_pairs(path)

    def _check_folder(self) -> None:
        path = self.folder / "config.json"
        if not path.exists() or not (self._phase / "pairs.jsonl").exists():
            return
        earlier = _read(path)
        learned = (self._phase / "model.json").exists()
        if changed := find_changed_settings(earlier.identity(learned), self.config.identity(learned)):
            raise UserError(
                f"{self.folder}: holds a training with other settings ({', '.join(changed)}); choose another folder "
                "with --out, or use the same settings to go on with it"
            )


def taught_with(adapter: Path) -> GoalTrainingConfig | None:
    """What an adapter was taught with; None where it is in no folder of a training in goals.

    Raises:
        UserError: when the settings there are damaged.
    """
    path = adapter.parent.parent / "config.json"
    return _read(path) if adapter.parent.name == IMITATE and path.is_file() else None


def _read(path: Path) -> GoalTrainingConfig:
    try:
        return GoalTrainingConfig.model_validate_json(read_text(path))
    except (UserError, ValidationError) as error:
        raise UserError(f"{path}: not the settings of a training in goals; choose another folder") from error
