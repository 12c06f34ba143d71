"""The trainings of a fold of people: the student's rollouts, their reflection, and a model for each way of learning.

All of it is kept in files, and whatever is finished is not done again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from housewise.core.record import Record
from housewise.selftrain.adapt.adapt_training import AdaptTraining, play
from housewise.selftrain.adapt.breakfast_replay import drop_failed_turns, play_breakfast, recorded_scene
from housewise.selftrain.adapt.cook_demonstrations import conversation_demonstration
from housewise.selftrain.adapt.reflection_files import ReflectionFiles
from housewise.selftrain.examples import EpisodeDemonstration, Preference
from housewise.selftrain.trainers import TrainedModel

LEARNERS = ("STaR-GATE", "Reflection-DPO", "no reflection", "no DPO", "oracle questions", "own asking")
"""The models that every fold trains. For oracle questions it is known that the answer changes the teacher's action; own
asking imitates the scripted cook."""


class FoldTraining:
    """The trainings on some people.

    Args:
        training: The training that the fold starts from.
        name: Name of the fold, and of its folder.
        people: Names of the people.
    """

    def __init__(self, training: AdaptTraining, name: str, people: Sequence[str]) -> None:
        self._training, self._config = training, training.config
        self.name, self._people, self.folder = name, people, training.folder / name
        self._reflections, oracle = (
            ReflectionFiles(training, name, self.folder, lambda: self.rollouts, is_oracle)
            for is_oracle in (False, True)
        )
        self._learners: Mapping[str, Callable[[Path], TrainedModel]] = {
            "STaR-GATE": self._star_gate,
            "Reflection-DPO": lambda folder: self._prefer(folder, self._reflections.preferences()),
            "no reflection": lambda folder: self._prefer(folder, self._reflections.teacher_preferences()),
            "no DPO": self._imitate_chosen,
            "oracle questions": lambda folder: self._prefer(folder, oracle.preferences()),
            "own asking": self._own_asking,
        }

    def train(self, learner: str) -> TrainedModel:
        """Return the model of one of LEARNERS, and train it where it is not finished."""
        folder = self.learner_folder(learner)
        return self._training.finished_model(folder) or self._learners[learner](folder)

    def learner_folder(self, learner: str) -> Path:
        """Return the folder with the examples and the model of one of LEARNERS."""
        return self.folder / learner.replace(" ", "-")

    @cached_property
    def rollouts(self) -> list[Record]:
        """The student's breakfasts."""
        rollouts, model = self._config.rollouts, self._training.warm_up_model
        changed = {"temperature": rollouts.temperature, "top_p": rollouts.top_p}
        sampling = self._config.run.models.agent.sampling.model_copy(update=changed)
        settings = self._config.run.with_changes(
            person=list(self._people), runs=rollouts.runs, model=model.model, adapter=model.adapter, sampling=sampling
        )
        records = play(f"{self.name}: rollouts", settings, self.folder / "rollouts", self._training.observer)
        return sorted(records, key=lambda record: record.header.name)

    def _prefer(self, folder: Path, preferences: Sequence[Preference]) -> TrainedModel:
        name = f"{self.name}: {folder.name}"
        return self._training.train_preferences(name, preferences, self._training.warm_up_model, folder)

    def _imitate_chosen(self, folder: Path) -> TrainedModel:
        examples = [
            EpisodeDemonstration(prompt=each.prompt, prefix=each.prefix, reply=each.chosen)
            for each in self._reflections.preferences()
        ]
        return self._imitate(folder, examples)

    def _star_gate(self, folder: Path) -> TrainedModel:
        """Imitate the best of the student's breakfasts (STaR-GATE, arXiv 2403.19154, as in ADAPT)."""
        scored = [record for record in self.rollouts if "satisfaction" in record.result.scores]
        ranked = sorted(scored, key=lambda record: (-record.result.scores["satisfaction"], record.header.name))
        examples = []
        for record in ranked[: max(round(self._config.best * len(ranked)), 1)]:
            scene, decide = recorded_scene(record, self._training.people, self._training.embedder)
            turns = drop_failed_turns(list(play_breakfast(scene.world, decide)))
            if turns:
                examples.append(conversation_demonstration(self._training.conversation, scene, turns))
        return self._imitate(folder, examples)

    def _own_asking(self, folder: Path) -> TrainedModel:
        people = [self._training.people[name] for name in self._people]
        name = f"{self.name}: {folder.name}"
        examples = self._training.cook_demonstrations(name, people, self._config.own_asking, folder)
        return self._imitate(folder, examples)

    def _imitate(self, folder: Path, examples: Sequence[EpisodeDemonstration]) -> TrainedModel:
        name, training = f"{self.name}: {folder.name}", self._training
        return training.train_imitation(name, examples, self._config.imitation, training.warm_up_model, folder)
