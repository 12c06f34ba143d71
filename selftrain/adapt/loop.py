"""Trainings for ADAPT as files in a folder: a warm-up, and for each fold of people the student's rollouts, what was
reflected upon, and what each way of learning made of it. What is there already is not done again."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, closing
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, cast

from pydantic import ValidationError

from housewise.agent.adapt.planner import Conversation
from housewise.agent.adapt.prompts import find_prompts, load_prompts
from housewise.core.errors import UserError
from housewise.core.files import alone, appearing, write_json
from housewise.core.record import FINISHED, Record
from housewise.language.adapters import ASKED_WITH
from housewise.language.base import ChatModel, TokenScorer
from housewise.language.embedder import shared_minilm
from housewise.language.local.weights import SMOLLM2, load, quiet
from housewise.people.invented import invent
from housewise.people.person import PEOPLE, Person, load_people
from housewise.people.topics import most_used_first
from housewise.rollout.executors import Watcher
from housewise.rollout.records import read_record
from housewise.rollout.run import Run, check_files, differing, keep_files
from housewise.selftrain.adapt.demonstrations import conversation_pair, demonstrate
from housewise.selftrain.adapt.reflection import (
    Reflected,
    Reflector,
    Student,
    choice,
    preferences_of,
    teacher_preferences,
    thresholds_for,
)
from housewise.selftrain.adapt.settings import AdaptTrainingConfig, DemonstrationsConfig
from housewise.selftrain.adapt.telling import tell, told_by, without_failures
from housewise.selftrain.personalize.pairs import Pair, read_pairs, write_pairs
from housewise.selftrain.personalize.settings import TrainingConfig
from housewise.selftrain.preferences import Preference, write_preferences
from housewise.selftrain.trainers import Progress, Start, TrainedModel, open_preference_trainer, open_trainer
from housewise.selftrain.trainers.base import unheard
from housewise.systems.adapt.settings import AdaptSettings
from housewise.systems.adapt.system import Adapt

LEARNERS = ("STaR-GATE", "Reflection-DPO", "no reflection", "no DPO", "own asking")
"""What is trained in every fold; own asking imitates the scripted cook."""
WARM_UP = "warm-up"
_MERGED = "merged"
_PATIENCE = 60.0


class Observer(Protocol):
    """Told of how training goes."""

    def playing(self, name: str, session: Run) -> AbstractContextManager[Watcher]:
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
    with observer.playing(name, session) as watcher:
        session.play(watcher)
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
        self.embedder = shared_minilm()
        self.people = {person.name: person for person in load_people(config.run.tasks.people or PEOPLE)}
        self._check_trainers()
        # Commands for other agents may share the folder, and begin together.
        with alone(folder, _PATIENCE):
            self._check_folder()
            write_json(folder / "config.json", config.model_dump(mode="json"))
            keep_files(Adapt(config.run).files(), folder)

    @property
    def seed(self) -> int:
        """Of what is drawn in training."""
        return self.config.run.tasks.seed

    @property
    def _base_url(self) -> str | None:
        return self.config.run.models.agent.base_url

    @cached_property
    def warmed_up(self) -> Start:
        """The model from which all others go on; its adapter is merged, as they learn adapters of their own."""
        folder = self.folder / WARM_UP
        learned = self._named if not self.config.warm_up.people else TrainedModel.load(folder) or self._warm_up(folder)
        return merged(learned, folder / _MERGED)

    @property
    def _named(self) -> Start:
        asked = self.config.run.models.agent
        return Start(model=asked.model, adapter=asked.adapter)

    def _warm_up(self, folder: Path) -> TrainedModel:
        warm_up = self.config.warm_up
        people = [invent(warm_up.seed + number, warm_up.wishes) for number in range(warm_up.people)]
        pairs = self.demonstrated(WARM_UP, people, warm_up, folder)
        return self.imitating(WARM_UP, pairs, warm_up.training, self._named, folder)

    def demonstrated(
        self, name: str, people: Sequence[Person], config: DemonstrationsConfig, folder: Path
    ) -> list[Pair]:
        """The scripted cook's breakfasts for some people, who asks first what most wish; a file for each of them."""
        pairs: list[Pair] = []
        topics = most_used_first(people)
        with self.observer.training(f"{name}: demonstrations") as progress:
            for done, person in enumerate(people, start=1):
                path = folder / "demonstrations" / f"{person.name}.jsonl"
                if not path.exists():
                    write_pairs(path, demonstrate(person, config, topics, self.prompts, self.embedder))
                pairs += read_pairs(path)
                progress(done, len(people), f"{len(pairs)} pairs")
        return pairs

    def imitating(
        self, name: str, pairs: Sequence[Pair], config: TrainingConfig, start: Start, folder: Path
    ) -> TrainedModel:
        """A model that has learned replies."""
        if not pairs:
            raise UserError(f"{folder}: there is nothing to imitate; let the student cook more often")
        write_pairs(folder / "pairs.jsonl", pairs)
        with self.observer.training(f"{name}: train") as progress:
            trainer = open_trainer(config, self.seed, self._base_url, progress)
            return self._told(trainer.train(pairs, start, folder))

    def preferring(self, name: str, preferences: Sequence[Preference], start: Start, folder: Path) -> TrainedModel:
        """A model that has learned preferences."""
        write_preferences(folder / "preferences.jsonl", preferences)
        with self.observer.training(f"{name}: train") as progress:
            trainer = open_preference_trainer(self.config.preference, self.seed, self._base_url, progress)
            return self._told(trainer.train(preferences, start, folder))

    def _told(self, model: TrainedModel) -> TrainedModel:
        """Keep with an adapter how it is meant to be asked."""
        prompt = self.config.run.agent.prompt
        if model.adapter is not None and prompt is not None:
            write_json(Path(model.adapter) / ASKED_WITH, {"system": Adapt.name, "prompt": prompt})
        return model

    def _check_trainers(self) -> None:
        """Find what cannot be trained before anything is played."""
        config = self.config
        for training in (*([config.warm_up.training] if config.warm_up.people else []), config.imitation):
            open_trainer(training, self.seed, self._base_url, unheard).check(self._named)
        open_preference_trainer(config.preference, self.seed, self._base_url, unheard).check(self._named)

    def _check_folder(self) -> None:
        path = self.folder / "config.json"
        if not path.exists():
            return
        try:
            earlier = AdaptTrainingConfig.model_validate_json(path.read_text(encoding="utf-8"))
        except (OSError, ValidationError) as error:
            raise UserError(f"{path}: not the settings of a training for ADAPT; choose another folder") from error
        if changed := differing(earlier.identity, self.config.identity):
            raise UserError(
                f"{self.folder}: holds a training with other settings ({', '.join(changed)}); choose another folder, "
                "or use the same settings to go on with it"
            )
        check_files(Adapt(self.config.run).files(), self.folder)


class Fold:
    """What is learned of some people.

    Args:
        training: where it goes on from.
        name: of the fold, and of its folder.
        people: the names of those of whom is learned.
    """

    def __init__(self, training: AdaptTraining, name: str, people: Sequence[str]) -> None:
        self._training, self._config = training, training.config
        self.name, self._people, self.folder = name, people, training.folder / name
        self._learning: Mapping[str, Callable[[Path], TrainedModel]] = {
            "STaR-GATE": self._star_gate,
            "Reflection-DPO": lambda folder: self._prefer(folder, self._preferences),
            "no reflection": lambda folder: self._prefer(folder, self._drawn(teacher_preferences(self._compared))),
            "no DPO": self._chosen_imitated,
            "own asking": self._own_asking,
        }

    def learned(self, learner: str) -> TrainedModel:
        """The model that one of LEARNERS has become here."""
        folder = self.folder / learner.replace(" ", "-")
        return TrainedModel.load(folder) or self._learning[learner](folder)

    @cached_property
    def rollouts(self) -> list[Record]:
        """The student's own breakfasts."""
        rollouts, model = self._config.rollouts, self._training.warmed_up
        drawn_as = {"temperature": rollouts.temperature, "top_p": rollouts.top_p}
        sampling = self._config.run.models.agent.sampling.model_copy(update=drawn_as)
        settings = self._config.run.changed(
            person=list(self._people), runs=rollouts.runs, model=model.model, adapter=model.adapter, sampling=sampling
        )
        records = play(f"{self.name}: rollouts", settings, self.folder / "rollouts", self._training.observer)
        return sorted(records, key=lambda record: record.header.name)

    @cached_property
    def reflected(self) -> list[Reflected]:
        """All that was reflected upon, a file for each episode."""
        folder, records = self.folder / "reflections", self.rollouts
        left = [record for record in records if not _kept(folder, record).exists()]
        if left:
            with self._training.observer.training(f"{self.name}: reflect") as progress:
                for done, (record, found) in enumerate(self._reflect(left), start=1):
                    write_json(_kept(folder, record), found.model_dump(mode="json"))
                    progress(done, len(left), record.header.name)
        return [_read(_kept(folder, record)) for record in records]

    def _reflect(self, records: Sequence[Record]) -> Iterator[tuple[Record, Reflected]]:
        student = self._config.run.changed(**_names(self._training.warmed_up)).models.agent
        config, workers = self._config.reflection, self._config.run.execution.workers
        with closing(_scoring(student.open(workers))) as model:
            reflector = Reflector(
                model, self._conversation, self._training.people, self._training.embedder, config.most_tokens
            )
            threads = ThreadPoolExecutor(workers)
            try:
                asked = {threads.submit(reflector.reflect, record): record for record in records}
                for done in as_completed(asked):
                    yield asked[done], done.result()
            finally:
                # Who interrupts it does not wait for what was not begun.
                threads.shutdown(cancel_futures=True)

    @property
    def _conversation(self) -> Conversation:
        return Conversation(self._training.prompts, turns=self._config.run.agent.turns)

    @cached_property
    def _compared(self) -> list[Reflected]:
        """What counts of what was reflected upon."""
        if not self._config.reflection.skip_asked:
            return self.reflected
        return [
            each.model_copy(update={"data": tuple(datum for datum in each.data if not datum.asked)})
            for each in self.reflected
        ]

    @cached_property
    def _preferences(self) -> list[Preference]:
        config = self._config.reflection
        data = [datum for each in self._compared for datum in each.data]
        thresholds = thresholds_for(data, config.questions, config.actions)
        chosen = [choice(datum, thresholds) for datum in data]
        figures = {
            "epsilon_1": thresholds.question,
            "epsilon_2": thresholds.action,
            "steps": sum(each.steps for each in self.reflected),
            "compared": len(data),
            "thought_of_a_question": sum(datum.question is not None for datum in data),
            **{f"{name}s": chosen.count(name) for name in ("question", "action")},
            "dropped": chosen.count(None),
        }
        write_json(self.folder / "reflections.json", figures)
        return self._drawn(preferences_of(self._compared, thresholds))

    def _drawn(self, preferences: list[Preference]) -> list[Preference]:
        """As many as are learned at most, in their order."""
        most = self._config.reflection.most
        if most is None or len(preferences) <= most:
            return preferences
        chosen = random.Random(self._training.seed).sample(range(len(preferences)), most)
        return [preferences[index] for index in sorted(chosen)]

    def _prefer(self, folder: Path, preferences: Sequence[Preference]) -> TrainedModel:
        name = f"{self.name}: {folder.name}"
        return self._training.preferring(name, preferences, self._training.warmed_up, folder)

    def _chosen_imitated(self, folder: Path) -> TrainedModel:
        pairs = [Pair(prompt=each.prompt, prefix=each.prefix, reply=each.chosen) for each in self._preferences]
        return self._imitate(folder, pairs)

    def _star_gate(self, folder: Path) -> TrainedModel:
        """Imitates the best of its own breakfasts (STaR-GATE, arXiv 2403.19154, as ADAPT has it)."""
        judged = [record for record in self.rollouts if "satisfaction" in record.result.scores]
        ranked = sorted(judged, key=lambda record: (-record.result.scores["satisfaction"], record.header.name))
        pairs = []
        for record in ranked[: max(round(self._config.best * len(ranked)), 1)]:
            scene, said = told_by(record, self._training.people, self._training.embedder)
            turns = without_failures(tell(scene.world, said))
            if turns:
                pairs.append(conversation_pair(self._conversation, scene, turns))
        return self._imitate(folder, pairs)

    def _own_asking(self, folder: Path) -> TrainedModel:
        people = [self._training.people[name] for name in self._people]
        name = f"{self.name}: {folder.name}"
        return self._imitate(folder, self._training.demonstrated(name, people, self._config.own_asking, folder))

    def _imitate(self, folder: Path, pairs: Sequence[Pair]) -> TrainedModel:
        name = f"{self.name}: {folder.name}"
        return self._training.imitating(name, pairs, self._config.imitation, self._training.warmed_up, folder)


def merged(model: Start, folder: Path) -> Start:
    """A local model without an adapter beside it.

    Args:
        model: any.
        folder: where the weights with the adapter in them go, in float32; what is there is taken.
    """
    if model.adapter is None:
        return model
    if not folder.exists():
        with appearing(folder) as partial, quiet():
            network, tokenizer = load(model.model.partition(":")[2] or SMOLLM2, model.adapter, "cpu", "float32")
            network.save_pretrained(partial)
            tokenizer.save_pretrained(partial)
    return Start(model=f"local:{folder}")


def _names(model: Start) -> dict[str, Any]:
    return {"model": model.model, "adapter": model.adapter}


def _kept(folder: Path, record: Record) -> Path:
    return folder / f"{record.header.name}.json"


def _read(path: Path) -> Reflected:
    try:
        return Reflected.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise UserError(f"{path}: is damaged; delete it to reflect upon that episode again") from error


def _scoring(model: ChatModel) -> Student:
    if not isinstance(model, TokenScorer):
        model.close()
        raise UserError(f"model {model.name}: does not tell how likely given texts are; reflection needs a local model")
    return cast(Student, model)
