"""Trains an assistant on sessions that the scripted oracle guided (BASIS, stage 2), in a folder that is resumed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from housewise.core.console import print_note
from housewise.core.files import remove_partial
from housewise.rollout.run import Run
from housewise.selftrain.basis.session_examples import SessionLessonsConfig, session_demonstrations
from housewise.selftrain.basis.settings import GuidanceTrainingConfig
from housewise.selftrain.examples import SessionDemonstration
from housewise.selftrain.trainers import ModelReference, TrainedModel
from housewise.selftrain.training_folder import (
    IMITATE,
    PAIRS,
    TrainingFolder,
    TrainingObserver,
    load_or_make_examples,
    play_run,
)
from housewise.systems.basis.system import Basis

SESSIONS = "sessions"
"""Folder of the sessions to learn from."""
_LEARNER_SETTINGS = (
    "perception", "task_knowledge", "object_knowledge", "environment_knowledge", "reasoning", "compact", "grounded"
)  # fmt: skip


class GuidanceTraining:
    """Trains an assistant to guide.

    The folder has ``config.json``; ``sessions/``, a run in which the scripted oracle guides; and ``imitate/`` with the
    examples ``pairs.jsonl``, the training curve and the model. Whatever is finished is not done again.

    Args:
        config: Settings of the training.
        folder: Folder of the training; it is created if missing.
        observer: Follows the training.

    Raises:
        UserError: The settings do not fit this machine, each other, or those of the folder.
    """

    def __init__(self, config: GuidanceTrainingConfig, folder: Path, observer: TrainingObserver) -> None:
        model = config.run.models.agent
        start = ModelReference(model=model.model, adapter=model.adapter)
        self._config, self._observer = config, observer
        self._training = TrainingFolder(folder, start, observer, config.run.tasks.seed, model.base_url)
        self._check_folder()
        if not self._training.is_trained(IMITATE):
            self._training.check_trainer(config.training)

    def run(self) -> TrainedModel:
        """Play the sessions and train the model, as far as either is not finished.

        Raises:
            UserError: Something outside the program is wrong; whatever is finished is kept.
        """
        config, training = self._config, self._training
        with training.lock_and_check(self._check_folder):
            remove_partial(training.path)
            training.write_settings(config)
            pairs = load_or_make_examples(training.path / IMITATE / PAIRS, self._make_examples, SessionDemonstration)
            models, agent = config.run.models.agent, config.run.agent.model_dump(mode="json")
            sampling = models.sampling.model_dump(mode="json", include={"temperature", "top_p", "max_tokens"})
            learner = {key: agent[key] for key in _LEARNER_SETTINGS}
            defaults = {"system": Basis.name, **learner, "sampling": sampling}
            return training.train(f"{IMITATE}: train", IMITATE, pairs, config.training, None, defaults, store=False)

    def _make_examples(self) -> Iterator[SessionDemonstration]:
        """Yield the examples. The sessions are played where they are missing."""
        return self._learn_sessions([Path(each) for each in self._config.sessions.folders] or [self._play_sessions()])

    def _play_sessions(self) -> Path:
        folder = self._training.path / SESSIONS
        play_run(SESSIONS, Run(Basis(self._config.oracle_run), folder), self._observer)
        return folder

    def _learn_sessions(self, folders: list[Path]) -> Iterator[SessionDemonstration]:
        limit = self._config.sessions.max_sessions
        lessons = SessionLessonsConfig(agent=self._config.run.agent).lessons(self._config.sessions.routine_share)
        tasks = self._config.run.tasks
        sessions = session_demonstrations(folders, lessons, print_note, tasks.seed, tasks.variant)
        with self._observer.watch_training(f"{IMITATE}: examples") as progress:
            for done, examples in enumerate(islice(sessions, limit), 1):
                progress(done, limit or done, f"{len(examples)} turns")
                yield from examples

    def _check_folder(self) -> None:
        self._training.check_config(self._config, "a training in guidance")
