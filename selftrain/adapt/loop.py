"""Trainings for ADAPT as files in a folder: a warm-up, and what the folds that go on from it share. What is there is
not done again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from housewise.agent.adapt.llm_cook import CookingConversation
from housewise.agent.adapt.prompts import find_prompts, load_prompts
from housewise.core.errors import UserError
from housewise.core.files import atomic_output, exclusive_lock, write_json
from housewise.core.record import FINISHED, Record
from housewise.core.text_files import read_text
from housewise.language.adapters import ADAPTER_CONFIG_FILE
from housewise.language.embedder import shared_minilm
from housewise.language.local.adapters import check_adapter
from housewise.language.local.libraries import convert_save_errors, silence_transformers
from housewise.language.local.smollm2 import SMOLLM2
from housewise.language.local.weights import load_model
from housewise.people.kitchen.invented_profiles import invent_profile
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.kitchen.question_topics import sort_by_use
from housewise.people.memory.note import check_person_name
from housewise.rollout.executor import RunCallback
from housewise.rollout.record_reader import read_record
from housewise.rollout.run import Run
from housewise.rollout.saved_settings import check_user_files, copy_user_files, find_changed_settings
from housewise.selftrain.adapt.demonstrations import demonstrate
from housewise.selftrain.adapt.settings import AdaptTrainingConfig, DemonstrationsConfig
from housewise.selftrain.personalize.pairs import Pair, read_pairs, write_pairs
from housewise.selftrain.personalize.settings import TrainingConfig
from housewise.selftrain.preferences import Preference, write_preferences
from housewise.selftrain.trainers import ModelReference, Progress, TrainedModel, open_preference_trainer, open_trainer
from housewise.selftrain.trainers.base import ignore_progress
from housewise.systems.adapt.settings import AdaptSettings
from housewise.systems.adapt.system import Adapt

WARM_UP = "warm-up"
_MERGED = "merged"
_PATIENCE = 60.0


class Observer(Protocol):
    """Told of how training goes."""

    def playing(self, name: str, session: Run) -> AbstractContextManager[RunCallback]:
        """Episodes are about to be played."""
        ...

    def training(self, name: str) -> AbstractContextManager[Progress]:
        """A model is about to be trained, or what it learns from to be made."""
        ...


def play(name: str, settings: AdaptSettings, folder: Path, observer: Observer) -> list[Record]:
    """Play breakfasts, or what is left of them.

    Args:
        name: that they are announced by.
        settings: of the run.
        folder: of the run.
        observer: told of every breakfast.

    Returns:
        Those that the settings name, in order.
    """
    session = Run(Adapt(settings), folder)
    with observer.playing(name, session) as callback:
        session.play(callback)
    return [read_record(session.episodes / f"{job.name}{FINISHED}") for job in session.jobs]


class AdaptTraining:
    """A warm-up and the folds that go on from it.

    Args:
        config: what to do.
        folder: made when it is missing; one in which something was done with other settings is refused.
        observer: told of everything.

    Raises:
        UserError: when the folder does not fit.
    """

    def __init__(self, config: AdaptTrainingConfig, folder: Path, observer: Observer) -> None:
        self.config, self.folder, self.observer = config, folder, observer
        self.prompts = load_prompts(find_prompts(config.run.agent.prompt))
        self.conversation = CookingConversation(self.prompts, turns=config.run.agent.turns)
        self.embedder = shared_minilm()
        self.people = {person.name: person for person in load_profiles(config.run.tasks.people or ADAPT_PROFILES)}
        for name in self.people:
            check_person_name(name)
        self._check_trainers()
        # Commands for other agents may share the folder, and begin together.
        with exclusive_lock(folder, _PATIENCE):
            self._check_folder()
            write_json(folder / "config.json", config.model_dump(mode="json"))
            copy_user_files(Adapt(config.run).files(), folder)

    @property
    def seed(self) -> int:
        """Of what is drawn in training."""
        return self.config.run.tasks.seed

    @property
    def _base_url(self) -> str | None:
        return self.config.run.models.agent.base_url

    @cached_property
    def warmed_up(self) -> ModelReference:
        """The model from which all others go on; its adapter is merged, as they learn adapters of their own."""
        folder = self.folder / WARM_UP
        learned = self._named if not self.config.warm_up.people else self.finished(folder) or self._warm_up(folder)
        return merged(learned, folder / _MERGED)

    def finished(self, folder: Path) -> TrainedModel | None:
        """The model of a training that is over; None where it is not."""
        return TrainedModel.load(folder, self._named.model)

    @property
    def _named(self) -> ModelReference:
        asked = self.config.run.models.agent
        return ModelReference(model=asked.model, adapter=asked.adapter)

    def _warm_up(self, folder: Path) -> TrainedModel:
        warm_up = self.config.warm_up
        people = [invent_profile(warm_up.seed + number, warm_up.wishes) for number in range(warm_up.people)]
        pairs = self.demonstrated(WARM_UP, people, warm_up, folder)
        return self.imitating(WARM_UP, pairs, warm_up.training, self._named, folder)

    def demonstrated(
        self, name: str, people: Sequence[KitchenProfile], config: DemonstrationsConfig, folder: Path
    ) -> list[Pair]:
        """The scripted cook's breakfasts for some people, who asks first what most wish; a file for each of them."""
        pairs: list[Pair] = []
        topics = sort_by_use(people)
        with self.observer.training(f"{name}: demonstrations") as progress:
            for done, person in enumerate(people, start=1):
                path = folder / "demonstrations" / f"{person.name}.jsonl"
                if not path.exists():
                    write_pairs(path, demonstrate(person, config, topics, self.prompts, self.embedder))
                pairs += read_pairs(path)
                progress(done, len(people), f"{len(pairs)} pairs")
        return pairs

    def imitating(
        self, name: str, pairs: Sequence[Pair], config: TrainingConfig, start: ModelReference, folder: Path
    ) -> TrainedModel:
        """A model that has learned replies."""
        if not pairs:
            raise UserError(f"{folder}: there is nothing to imitate; let the student cook more often")
        write_pairs(folder / "pairs.jsonl", pairs)
        with self.observer.training(f"{name}: train") as progress:
            self._keep_prompt(folder)
            return open_trainer(config, self.seed, self._base_url, progress).train(pairs, start, folder)

    def preferring(
        self, name: str, preferences: Sequence[Preference], start: ModelReference, folder: Path
    ) -> TrainedModel:
        """A model that has learned preferences."""
        write_preferences(folder / "preferences.jsonl", preferences)
        with self.observer.training(f"{name}: train") as progress:
            self._keep_prompt(folder)
            trainer = open_preference_trainer(self.config.preference, self.seed, self._base_url, progress)
            return trainer.train(preferences, start, folder)

    def _keep_prompt(self, folder: Path) -> None:
        """Put into a training's folder how its adapter is meant to be asked; see TrainedModel.save."""
        if (prompt := self.config.run.agent.prompt) is not None:
            write_json(folder / ADAPTER_CONFIG_FILE, {"system": Adapt.name, "prompt": prompt})

    def _check_trainers(self) -> None:
        """Find what cannot be trained before anything is played."""
        config = self.config
        if config.warm_up.people:
            open_trainer(config.warm_up.training, self.seed, self._base_url, ignore_progress).check(self._named)
        elif self._named.adapter is not None:
            check_adapter(self._named.model.partition(":")[2] or SMOLLM2, self._named.adapter)
        # All others learn adapters of their own.
        start = ModelReference(model=self._named.model)
        open_trainer(config.imitation, self.seed, self._base_url, ignore_progress).check(start)
        open_preference_trainer(config.preference, self.seed, self._base_url, ignore_progress).check(start)

    def _check_folder(self) -> None:
        path = self.folder / "config.json"
        if not path.exists():
            return
        try:
            earlier = AdaptTrainingConfig.model_validate_json(read_text(path))
        except (UserError, ValidationError) as error:
            raise UserError(f"{path}: not the settings of a training for ADAPT; choose another folder") from error
        free = self._free_rates()
        before, now = (
            {key: value for key, value in config.identity.items() if key not in free}
            for config in (earlier, self.config)
        )
        if changed := find_changed_settings(before, now):
            raise UserError(
                f"{self.folder}: holds a training with other settings ({', '.join(changed)}); choose another folder, "
                "or use the same settings to go on with it"
            )
        check_user_files(Adapt(self.config.run).files(), self.folder)

    def _free_rates(self) -> set[str]:
        """Learning rates with which nothing has been learned yet; what is compared is learned with the same one."""
        learned = [path.parent for path in self.folder.glob("*/*/model.json")]
        has_learned = {
            "warm_up.training": (self.folder / WARM_UP / "model.json").exists(),
            "imitation": any((folder / "pairs.jsonl").exists() for folder in learned),
            "preference": any((folder / "preferences.jsonl").exists() for folder in learned),
        }
        return {f"{section}.learning_rate" for section, is_settled in has_learned.items() if not is_settled}


def merged(model: ModelReference, folder: Path) -> ModelReference:
    """A local model without an adapter beside it.

    Args:
        model: any.
        folder: where the weights with the adapter in them go, in float32; what is there is taken.
    """
    if model.adapter is None:
        return model
    if not folder.exists():
        with atomic_output(folder) as partial, silence_transformers():
            network, tokenizer = load_model(model.model.partition(":")[2] or SMOLLM2, model.adapter, "cpu", "float32")
            with convert_save_errors(partial, folder):
                network.save_pretrained(partial)
                tokenizer.save_pretrained(partial)
    return ModelReference(model=f"local:{folder}")
