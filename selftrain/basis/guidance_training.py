"""Trains an assistant on sessions that the scripted oracle guided (BASIS, stage 2), in a folder that is resumed.

Afterwards the assistant may guide itself and be corrected, as often as wanted.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from housewise.core.console import print_note
from housewise.core.files import remove_partial
from housewise.language.adapters import IMITATE
from housewise.rollout.run import Run
from housewise.selftrain.basis.session_examples import Replies, SessionLessonsConfig, session_demonstrations
from housewise.selftrain.basis.settings import GuidanceTrainingConfig
from housewise.selftrain.examples import SessionDemonstration
from housewise.selftrain.trainers import ModelReference, TrainedModel
from housewise.selftrain.training_folder import (
    PAIRS,
    TrainingFolder,
    TrainingObserver,
    load_or_make_examples,
    play_run,
)
from housewise.systems.basis.assistants import phase_names
from housewise.systems.basis.settings import BasisSettings
from housewise.systems.basis.system import Basis

SESSIONS = "sessions"
"""Folder of the sessions to learn from."""
_LEARNER_SETTINGS = (
    "wording", "perception", "task_knowledge", "object_knowledge", "environment_knowledge", "reasoning", "compact",
    "grounded",
)  # fmt: skip


class GuidanceTraining:
    """Trains an assistant to guide.

    The folder has ``config.json``; ``sessions/``, a run in which the scripted oracle guides; ``imitate/`` with the
    examples ``pairs.jsonl``, the training curve and the model; and for each round of corrections such a folder,
    ``correct-1/``, with its own sessions. Whatever is finished is not done again.

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
        if not all(map(self._training.is_trained, phase_names(config.corrections.rounds))):
            self._training.check_adapter(Basis.name)
            self._training.check_trainer(config.training)

    def run(self, last: str | None = None) -> TrainedModel:
        """Play the sessions and train the models, as far as they are not finished, and return the last one.

        Args:
            last: Phase after which to stop. None does all.

        Raises:
            UserError: Something outside the program is wrong; whatever is finished is kept.
        """
        config, training = self._config, self._training
        with training.lock_and_check(self._check_folder):
            remove_partial(training.path)
            training.write_settings(config)
            names = phase_names(config.corrections.rounds)
            model = self._train(IMITATE, 0, None)
            for number, phase in enumerate(names[1 : names.index(last or names[-1]) + 1], 1):
                model = self._train(phase, number, model)
            return model

    def _train(self, phase: str, number: int, start: TrainedModel | None) -> TrainedModel:
        """Train the model of a phase from that of the phase before, or return it where it is finished."""
        config = self._config
        make = self._imitation_examples if start is None else partial(self._correction_examples, phase, number, start)
        pairs = load_or_make_examples(self._training.path / phase / PAIRS, make, SessionDemonstration)
        models, agent = config.run.models.agent, config.run.agent.model_dump(mode="json")
        sampling = models.sampling.model_dump(mode="json", include={"temperature", "top_p", "max_tokens"})
        learner = {key: agent[key] for key in _LEARNER_SETTINGS}
        defaults = {"system": Basis.name, **learner, "sampling": sampling}
        return self._training.train(f"{phase}: train", phase, pairs, config.training, start, defaults, store=False)

    def _imitation_examples(self) -> Iterator[SessionDemonstration]:
        """Yield the examples of the oracle's sessions, which are played where they are missing."""
        chosen, path = self._config.sessions, self._training.path / SESSIONS
        folders = [Path(each) for each in chosen.folders] or [self._play(SESSIONS, self._config.oracle_run, path)]
        return self._learn(IMITATE, folders, "recorded", chosen.max_sessions)

    def _correction_examples(self, phase: str, number: int, model: TrainedModel) -> Iterator[SessionDemonstration]:
        """Yield what the oracle would have said in sessions that a model guides."""
        run, path = self._config.corrected_run(number, model), self._training.path / phase / SESSIONS
        return self._learn(phase, [self._play(f"{phase}: {SESSIONS}", run, path)], "oracle", None)

    def _play(self, name: str, settings: BasisSettings, folder: Path) -> Path:
        play_run(name, Run(Basis(settings), folder), self._observer)
        return folder

    def _learn(
        self, phase: str, folders: list[Path], replies: Replies, limit: int | None
    ) -> Iterator[SessionDemonstration]:
        config, tasks = self._config, self._config.run.tasks
        lessons = SessionLessonsConfig(agent=config.run.agent, replies=replies).lessons(config.sessions.routine_share)
        sessions = session_demonstrations(folders, lessons, print_note, tasks.seed, tasks.variant)
        with self._observer.watch_training(f"{phase}: examples") as progress:
            turns = 0
            for done, examples in enumerate(islice(sessions, limit), 1):
                turns += len(examples)
                progress(done, limit or done, f"{turns} turns")
                yield from examples

    def _check_folder(self) -> None:
        self._training.check_config(self._config, "a training in guidance")
