"""The trainings on the people of a fold: the student's rollouts, their reflection, a model for each way of learning.

Which people a fold has is listed in ``experiments/adapt/agents.yaml``.

All of it is kept in files, and whatever is finished is not done again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from housewise.core.record import Record
from housewise.core.record_files import FINISHED
from housewise.rollout.record_reader import read_record
from housewise.rollout.run import Run
from housewise.selftrain.adapt.adapt_training import WARM_UP, AdaptTraining
from housewise.selftrain.adapt.breakfast_replay import drop_failed_turns, play_breakfast, recorded_scene
from housewise.selftrain.adapt.cook_demonstrations import conversation_demonstration
from housewise.selftrain.adapt.reflection_files import ReflectionFiles
from housewise.selftrain.adapt.settings import AdaptTrainingConfig
from housewise.selftrain.examples import EpisodeDemonstration, Example
from housewise.selftrain.rollouts.engine import play_with_model
from housewise.selftrain.rollouts.vllm_process import end_orphan
from housewise.selftrain.trainers import ModelReference, TrainedModel
from housewise.selftrain.training_folder import PAIRS, TrainingObserver, play_run
from housewise.systems.adapt.system import Adapt

REFLECTION_DPO = "Reflection-DPO"
SKIP_ASKED = "Reflection-DPO, asked steps skipped"
OWN_ASKING, FEWER_REPLIES, DPO_ON_OWN_ASKING = "own asking", "own asking, fewer replies", "own asking, then DPO"
LEARNERS = (
    "STaR-GATE",
    REFLECTION_DPO,
    "no reflection",
    "no DPO",
    "oracle questions",
    OWN_ASKING,
    SKIP_ASKED,
    FEWER_REPLIES,
    DPO_ON_OWN_ASKING,
)
"""Names of the models that a fold trains."""
FOLD = "fold"
_BY_PREFERENCES = (REFLECTION_DPO, "no reflection", "oracle questions", SKIP_ASKED, DPO_ON_OWN_ASKING)


class FoldTraining:
    """The trainings on some people.

    Args:
        training: The training that the fold starts from.
        people: Names of the people.
    """

    def __init__(self, training: AdaptTraining, people: Sequence[str]) -> None:
        self._training, self._config = training, training.config
        self._people, self.folder = people, training.folder / FOLD
        self._reflections, oracle = (
            ReflectionFiles(training, self.folder, lambda: self.rollouts, is_oracle) for is_oracle in (False, True)
        )
        unasked = ReflectionFiles(training, self.folder, lambda: self.rollouts, skip_asked=True)
        # For oracle questions it is known that the answer changes the teacher's action.
        self._examples: Mapping[str, Callable[[], Sequence[Example]]] = {
            "STaR-GATE": self._star_gate,
            REFLECTION_DPO: self._reflections.preferences,
            "no reflection": self._reflections.teacher_preferences,
            "no DPO": self._imitate_chosen,
            "oracle questions": oracle.preferences,
            OWN_ASKING: self._own_asking,
            SKIP_ASKED: unasked.preferences,
            FEWER_REPLIES: self._fewer_own_asking,
            DPO_ON_OWN_ASKING: self._reflections.preferences,
        }

    @property
    def start(self) -> ModelReference:
        """The model that all learners start from."""
        return self._training.warm_up_model

    def train(self, learner: str) -> TrainedModel:
        """Return the model of one of ``LEARNERS``, and train it where it is not finished."""
        training, folder = self._training, learner_folder(self.folder, learner)
        if (finished := training.finished_model(folder)) is not None:
            return finished
        config = self._config.preference if learner in _BY_PREFERENCES else self._config.imitation
        start = self.train(OWN_ASKING) if learner == DPO_ON_OWN_ASKING else training.warm_up_model
        return training.train(folder, self._examples[learner](), config, start)

    @cached_property
    def rollouts(self) -> list[Record]:
        """The student's breakfasts."""
        rollouts, model = self._config.rollouts, self._training.warm_up_model
        changed = {"temperature": rollouts.temperature, "top_p": rollouts.top_p}
        sampling = self._config.run.models.agent.sampling.model_copy(update=changed)
        # The server's files are in the fold's folder, because commands for other folds may share that of the training.
        engine, folder = self._training.open_engine(self.folder), self.folder / "rollouts"
        settings = self._config.run.with_changes(
            person=list(self._people),
            repeats=rollouts.repeats,
            sampling=sampling,
            **engine.model_settings(WARM_UP, model),
        )
        end_orphan(self.folder)
        try:
            run = play_with_model(
                engine,
                WARM_UP,
                model,
                self._training.folder / WARM_UP / PAIRS,
                lambda served: Run(Adapt(settings.with_changes(**served)), folder),
                self._play,
            )
        finally:
            engine.stop()
        records = [read_record(run.episodes / f"{job.name}{FINISHED}") for job in run.jobs]
        return sorted(records, key=lambda record: record.header.name)

    def _play(self, run: Run) -> Run:
        play_run(f"{FOLD}: rollouts", run, self._training.observer)
        return run

    def _imitate_chosen(self) -> list[EpisodeDemonstration]:
        return [
            EpisodeDemonstration(prompt=each.prompt, prefix=each.prefix, reply=each.chosen)
            for each in self._reflections.preferences()
        ]

    def _star_gate(self) -> list[EpisodeDemonstration]:
        """Return the best of the student's breakfasts (STaR-GATE, arXiv 2403.19154, as in ADAPT)."""
        scored = [record for record in self.rollouts if "satisfaction" in record.result.scores]
        ranked = sorted(scored, key=lambda record: (-record.result.scores["satisfaction"], record.header.name))
        examples = []
        for record in ranked[: max(round(self._config.best_fraction * len(ranked)), 1)]:
            scene, decide = recorded_scene(record, self._training.people, self._training.embedder)
            turns = drop_failed_turns(play_breakfast(scene.world, decide))
            if turns:
                examples.append(conversation_demonstration(self._training.prompt, scene, turns))
        return examples

    def _own_asking(self) -> list[EpisodeDemonstration]:
        people = [self._training.people[name] for name in self._people]
        folder = learner_folder(self.folder, OWN_ASKING)
        return self._training.cook_demonstrations(folder, people, self._config.own_asking)

    def _fewer_own_asking(self) -> list[EpisodeDemonstration]:
        """Return breakfasts of the asking cook with as many replies as Reflection-DPO learns preferences, or fewer."""
        return draw_replies(self._own_asking(), len(self._reflections.preferences()), self._training.seed)


def draw_replies(
    demonstrations: Sequence[EpisodeDemonstration], max_replies: int, seed: int
) -> list[EpisodeDemonstration]:
    """Return random demonstrations with at most some number of learned replies, in their order.

    Args:
        demonstrations: Single replies, and conversations of which every reply is learned.
        max_replies: Maximum number of replies of all together.
        seed: Seed of the random choice.
    """
    left, chosen = max_replies, set()
    for index in random.Random(seed).sample(range(len(demonstrations)), len(demonstrations)):
        each = demonstrations[index]
        replies = 1 + (sum(turn["role"] == "assistant" for turn in each.prompt) if each.turns else 0)
        if replies <= left:
            left -= replies
            chosen.add(index)
    return [demonstrations[index] for index in sorted(chosen)]


def learner_folder(fold: Path, learner: str) -> Path:
    """Return the folder with the examples and the model of one of ``LEARNERS``."""
    return fold / learner.replace(" ", "-")


def open_fold(config: AdaptTrainingConfig, folder: Path, observer: TrainingObserver) -> FoldTraining:
    """Return the trainings on the people of ``run.tasks.person``, by default all, in a folder; see AdaptTraining."""
    training = AdaptTraining(config, folder, observer)
    training.begin()
    return FoldTraining(training, config.run.tasks.person or tuple(training.people))
