"""Trains a model to write and to choose goals, in a folder that the same command resumes."""

from __future__ import annotations

from pathlib import Path

from housewise.agent.stars.data_files import KNOWN_PLACES
from housewise.core.errors import UserError
from housewise.core.files import remove_partial, write_json
from housewise.language.adapters import IMITATE
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.selftrain.stars.goal_lessons import GoalLessons
from housewise.selftrain.stars.settings import GoalTrainingConfig
from housewise.selftrain.trainers import ModelReference, TrainedModel
from housewise.selftrain.training_folder import (
    PAIRS,
    TrainingFolder,
    TrainingObserver,
    load_or_make_examples,
)


class GoalTraining:
    """Trains a model on right goals.

    The folder has ``config.json`` and, in ``imitate/``, the examples ``pairs.jsonl``, where their objects belong
    (``known_places.json``), the training curve and the model.
    Whatever is finished is not done again.

    Args:
        config: Settings of the training.
        folder: Folder of the training; it is created if missing.
        observer: Follows the training.

    Raises:
        UserError: The settings do not fit this machine, each other, or those of the folder.
    """

    def __init__(self, config: GoalTrainingConfig, folder: Path, observer: TrainingObserver) -> None:
        model = config.run.models.agent
        start = ModelReference(model=model.model, adapter=model.adapter)
        self._config, self._training = config, TrainingFolder(folder, start, observer, config.run.tasks.seed)
        if config.training.trainer != "local":
            raise UserError(
                f"training.trainer={config.training.trainer}: goals are learned as plain texts to continue, as only "
                "trainer=local can; leave it out"
            )
        self._check_folder()
        if not self._training.is_trained(IMITATE):
            self._training.check_adapter(config.system)
            self._training.check_trainer(config.training)

    def run(self) -> TrainedModel:
        """Train the model, or return it where it is finished.

        Raises:
            UserError: Something outside the program is wrong; whatever is finished is kept.
        """
        config, training = self._config, self._training
        with training.lock_and_check(self._check_folder):
            remove_partial(training.path)
            training.write_settings(config)
            # The examples depend on the settings alone.
            pairs = load_or_make_examples(
                training.path / IMITATE / PAIRS,
                lambda: GoalLessons(config.run, config.lessons).demonstrations(),
                EpisodeDemonstration,
            )
            known = training.path / IMITATE / KNOWN_PLACES
            if not known.exists():
                write_json(
                    known, {"name": training.path.name, "seen": GoalLessons(config.run, config.lessons).known_places()}
                )
            return training.train(f"{IMITATE}: train", IMITATE, pairs, config.training, store=False)

    def _check_folder(self) -> None:
        training = self._training
        if (training.path / IMITATE / PAIRS).exists():
            training.check_config(self._config, "a training in goals")
