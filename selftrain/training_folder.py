"""The folder of a self-training: its settings, a folder for each phase, and models that are trained once and resumed.

All systems' trainings share this layout::

    config.json                          settings, which resuming compares
    PHASE/pairs.jsonl, preferences.jsonl examples of a phase
    PHASE/curve.csv, adapter/, model/    results of its training
    PHASE/model.json                     written last: the phase's model is finished
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from housewise.core.console import print_note
from housewise.core.errors import DataError, UserError
from housewise.core.files import write_json
from housewise.core.folder_locks import exclusive_lock
from housewise.core.migrations.settings import migrate_settings
from housewise.core.settings import Settings
from housewise.core.text_files import read_json
from housewise.core.validation import convert_validation_errors
from housewise.language.adapters import ADAPTER_CONFIG_FILE, EXAMPLES_FILE, IMITATE, adapter_defaults
from housewise.rollout.executor import RunCallback
from housewise.rollout.failures import FailedEpisodesError
from housewise.rollout.run import Run
from housewise.rollout.saved_settings import find_changed_settings
from housewise.selftrain.examples import Example, ExampleT, read_examples, write_examples
from housewise.selftrain.trainers import (
    ModelReference,
    Progress,
    TrainedModel,
    Trainer,
    open_preference_trainer,
    open_trainer,
)
from housewise.selftrain.trainers.base import ignore_progress
from housewise.selftrain.trainers.settings import OnePhaseSettings, PreferenceConfig, TrainingConfig
from housewise.selftrain.trainers.trained_model import MODEL_FILE

CONFIG = "config.json"
PAIRS, PREFERENCES = EXAMPLES_FILE, "preferences.jsonl"

SettingsT = TypeVar("SettingsT", bound=Settings)


class TrainingObserver(Protocol):
    """Follows a self-training, to show or to track its progress."""

    def watch_episodes(self, name: str, run: Run) -> AbstractContextManager[RunCallback]:
        """Return a context in which the episodes of a phase are played."""

    def watch_training(self, name: str) -> AbstractContextManager[Progress]:
        """Return a context in which a model is trained, or its examples are made."""

    def end_phase(self, phase: dict[str, Any]) -> None:
        """Receive the line of ``summary.json`` of a phase that has ended."""


def play_run(name: str, run: Run, observer: TrainingObserver, max_failed: float = 0.0) -> dict[str, Any]:
    """Play the episodes of a run that are left.

    Args:
        name: Name of the phase for the observer.
        run: The run.
        observer: Follows every episode.
        max_failed: Largest share of episodes that may fail and are left out.

    Returns:
        The figures of the run, as in ``metrics.json``.

    Raises:
        FailedEpisodesError: More episodes have failed.
        UserError: See Run.play.
    """
    with observer.watch_episodes(name, run) as watcher:
        try:
            return run.play(watcher)
        except FailedEpisodesError as error:
            if error.share > max_failed:
                raise
            return error.figures


def read_training_settings(path: Path, kind: type[SettingsT], description: str) -> SettingsT:
    """Read the settings in a training's ``config.json``, which may have former names.

    Args:
        path: Path of the file.
        kind: Class of the settings.
        description: What the file should hold, for the error.

    Raises:
        UserError: The file holds no such settings.
    """
    remedy = "choose another folder"
    content = read_json(path, remedy)
    # Every other setting has a default, so an empty file would be valid.
    if not isinstance(content, dict) or "run" not in content:
        raise DataError(f"{path}: not the settings of {description} (field run: is missing); {remedy}")
    content = migrate_settings(content, kind().model_dump(mode="json"), str(path))
    with convert_validation_errors(path, remedy, f"the settings of {description}", model=kind):
        return kind.model_validate(content)


def load_or_make_examples(path: Path, make: Callable[[], Iterable[ExampleT]], kind: type[ExampleT]) -> list[ExampleT]:
    """Read the examples of a file; make and write them where it does not exist."""
    if not path.exists():
        write_examples(path, make())
    return read_examples(path, kind)


@dataclass(frozen=True)
class TrainingFolder:
    """The folder of a training, in which every phase is done once.

    Attributes:
        path: Path of the folder; it is created when something is written.
        start: The model that the first phase starts from.
        observer: Follows the training.
        seed: Seed of all trainings.
        base_url: Address of a fine-tuning API.
    """

    path: Path
    start: ModelReference
    observer: TrainingObserver
    seed: int = 0
    base_url: str | None = None

    @property
    def config_file(self) -> Path:
        """Path of the settings."""
        return self.path / CONFIG

    def has_begun(self, *phases: str) -> bool:
        """Return whether the folder has settings of a training.

        Args:
            phases: Patterns of the folders of phases.

        Raises:
            UserError: It has none, but trained models, so that nobody knows by which settings they were trained.
        """
        if self.config_file.exists():
            return True
        if any(found for phase in phases for found in self.path.glob(f"{phase}/{MODEL_FILE}")):
            raise UserError(
                f"{self.path}: has trained models, but no {CONFIG}; restore that file, or choose another folder"
            )
        return False

    def is_trained(self, phase: str | Path) -> bool:
        """Return whether the model of a phase is finished."""
        return (self.path / phase / MODEL_FILE).exists()

    def finished_model(self, phase: str | Path) -> TrainedModel | None:
        """Return the model of a phase, or None where it is not finished."""
        return TrainedModel.load(self.path / phase, self.start.model)

    @contextmanager
    def lock_and_check(self, check: Callable[[], object], patience: float = 0.0) -> Iterator[None]:
        """Lock the folder against other programs, and check it again: another program may have changed it.

        Args:
            check: Raises a UserError where the folder does not fit the settings.
            patience: Seconds to wait for another program.
        """
        with exclusive_lock(self.path, patience):
            check()
            yield

    def write_settings(self, config: Settings) -> None:
        """Write the settings that the next command compares; see check_settings."""
        write_json(self.config_file, config.model_dump(mode="json"))

    def check_settings(
        self, earlier: Mapping[str, Any], now: Mapping[str, Any], noun: str, option: str = " with --out"
    ) -> None:
        """Check that settings are those that the folder was begun with.

        Args:
            earlier: The identity of the folder's settings, by dotted key.
            now: The identity of the current settings.
            noun: What the folder holds, for the error.
            option: How a folder is chosen, for the error.

        Raises:
            UserError: They differ; the message names the keys.
        """
        if changed := find_changed_settings(earlier, now):
            raise UserError(
                f"{self.path}: holds a {noun} with other settings ({', '.join(changed)}); choose another folder"
                f"{option}, or use the same settings to go on with it"
            )

    def check_config(self, config: OnePhaseSettings, description: str) -> None:
        """Check that the settings of a training in one phase, IMITATE, are those that the folder was begun with.

        Args:
            config: The current settings.
            description: What the folder's file of settings should hold, for the error.

        Raises:
            UserError: They differ, or the file holds no such settings.
        """
        if not self.has_begun(IMITATE):
            return
        learned = self.is_trained(IMITATE)
        earlier = read_training_settings(self.config_file, type(config), description)
        self.check_settings(earlier.identity(learned), config.identity(learned), "training")

    def check_adapter(self, system: str) -> None:
        """Check that the adapter that the first phase starts from was not trained in another system.

        Args:
            system: System of this training.

        Raises:
            ChatModelError: It was; the message names its system.
        """
        adapter_defaults(self.start.adapter, system)

    def check_trainer(self, config: TrainingConfig, has_rollouts: bool = False) -> None:
        """Check that a model can be trained with some settings, before anything is played; see Trainer.check.

        Args:
            config: Settings of the training.
            has_rollouts: Whether servers can play the episodes of this training; see RolloutsConfig.

        Raises:
            UserError: It cannot.
        """
        if self.base_url and config.trainer == "local":
            remedy = f"leave it out, or set {config.key('trainer')}=openai"
            if has_rollouts:
                remedy += (
                    "; to train here and play behind a vLLM server, use --model local:FOLDER_OR_HUB_NAME --rollouts "
                    "vllm=URL"
                )
            raise UserError(f"base_url: training on this machine asks no server; {remedy}")
        self._open_trainer(config, ignore_progress).check(self.start)
        if unused := config.unused_keys:
            print_note(f"{', '.join(unused)}: without effect with {config.key('trainer')}={config.trainer}")

    def train(
        self,
        name: str,
        phase: str | Path,
        examples: Sequence[Example],
        config: TrainingConfig,
        start: ModelReference | None = None,
        adapter_defaults: Mapping[str, Any] | None = None,
        store: bool = True,
    ) -> TrainedModel:
        """Train the model of a phase, or return it where it is finished.

        Args:
            name: Name of the phase for the observer.
            phase: Folder of the phase, relative to this folder.
            examples: Demonstrations, or preferences where the settings are a PreferenceConfig.
            config: Settings of the training.
            start: The model to start from; by default that of the folder.
            adapter_defaults: Settings for using the adapter, which are stored with it.
            store: Whether to write the examples to the phase's folder.

        Raises:
            UserError: See Trainer.train, or another program trains this phase.
        """
        folder = self.path / phase
        with exclusive_lock(folder):
            if store:
                write_examples(folder / (PREFERENCES if isinstance(config, PreferenceConfig) else PAIRS), examples)
            if adapter_defaults is not None:
                # TrainedModel.save copies this file into the adapter before the model counts as finished.
                write_json(folder / ADAPTER_CONFIG_FILE, adapter_defaults)
            with self.observer.watch_training(name) as progress:
                return self._open_trainer(config, progress).train(examples, start or self.start, folder)

    def _open_trainer(self, config: TrainingConfig, progress: Progress) -> Trainer[Any]:
        if isinstance(config, PreferenceConfig):
            return open_preference_trainer(config, self.seed, self.base_url, progress)
        return open_trainer(config, self.seed, self.base_url, progress)
