"""What is learned of the people of a fold: the student's rollouts, what was reflected upon, and what each way of
learning made of it, as files in a folder. What is there already is not done again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from housewise.core.record import Record
from housewise.selftrain.adapt.demonstrations import conversation_pair
from housewise.selftrain.adapt.loop import AdaptTraining, play
from housewise.selftrain.adapt.reflections import Reflections
from housewise.selftrain.adapt.telling import tell, told_by, without_failures
from housewise.selftrain.personalize.pairs import Pair
from housewise.selftrain.preferences import Preference
from housewise.selftrain.trainers import TrainedModel

LEARNERS = ("STaR-GATE", "Reflection-DPO", "no reflection", "no DPO", "oracle questions", "own asking")
"""What is trained in every fold. Of oracle questions it is known that the teacher's action turns on their answers; own
asking imitates the scripted cook."""


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
        self._reflections, oracle = (
            Reflections(training, name, self.folder, lambda: self.rollouts, whose) for whose in (False, True)
        )
        self._learning: Mapping[str, Callable[[Path], TrainedModel]] = {
            "STaR-GATE": self._star_gate,
            "Reflection-DPO": lambda folder: self._prefer(folder, self._reflections.preferences()),
            "no reflection": lambda folder: self._prefer(folder, self._reflections.teachers()),
            "no DPO": self._chosen_imitated,
            "oracle questions": lambda folder: self._prefer(folder, oracle.preferences()),
            "own asking": self._own_asking,
        }

    def learned(self, learner: str) -> TrainedModel:
        """The model that one of LEARNERS has become here."""
        folder = self.folder_of(learner)
        return self._training.finished(folder) or self._learning[learner](folder)

    def folder_of(self, learner: str) -> Path:
        """Of what one of LEARNERS learns from, and becomes."""
        return self.folder / learner.replace(" ", "-")

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

    def _prefer(self, folder: Path, preferences: Sequence[Preference]) -> TrainedModel:
        name = f"{self.name}: {folder.name}"
        return self._training.preferring(name, preferences, self._training.warmed_up, folder)

    def _chosen_imitated(self, folder: Path) -> TrainedModel:
        chosen = self._reflections.preferences()
        return self._imitate(folder, [Pair(prompt=one.prompt, prefix=one.prefix, reply=one.chosen) for one in chosen])

    def _star_gate(self, folder: Path) -> TrainedModel:
        """Imitates the best of its own breakfasts (STaR-GATE, arXiv 2403.19154, as ADAPT has it)."""
        judged = [record for record in self.rollouts if "satisfaction" in record.result.scores]
        ranked = sorted(judged, key=lambda record: (-record.result.scores["satisfaction"], record.header.name))
        pairs = []
        for record in ranked[: max(round(self._config.best * len(ranked)), 1)]:
            scene, said = told_by(record, self._training.people, self._training.embedder)
            turns = without_failures(tell(scene.world, said))
            if turns:
                pairs.append(conversation_pair(self._training.conversation, scene, turns))
        return self._imitate(folder, pairs)

    def _own_asking(self, folder: Path) -> TrainedModel:
        people = [self._training.people[name] for name in self._people]
        name = f"{self.name}: {folder.name}"
        return self._imitate(folder, self._training.demonstrated(name, people, self._config.own_asking, folder))

    def _imitate(self, folder: Path, pairs: Sequence[Pair]) -> TrainedModel:
        name = f"{self.name}: {folder.name}"
        return self._training.imitating(name, pairs, self._config.imitation, self._training.warmed_up, folder)
