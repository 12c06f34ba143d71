"""ADAPT's agents, each trained where it learns and played for everybody, by folds of people; all of it resumable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from housewise.core.configs import CONFIGS
from housewise.core.errors import UserError
from housewise.core.record import Record
from housewise.core.text_files import read_json
from housewise.core.yaml_files import read_yaml
from housewise.experiments.adapt.lessons import lessons
from housewise.selftrain.adapt.adapt_training import AdaptTraining, play
from housewise.selftrain.adapt.fold_training import LEARNERS, FoldTraining
from housewise.selftrain.adapt.settings import AdaptTrainingConfig
from housewise.selftrain.trainers import ModelReference
from housewise.selftrain.training_folder import TrainingObserver

PUBLISHED: Mapping[str, Any] = read_yaml(CONFIGS / "adapt" / "published.yaml")
FOLDS = 4
_SERIES = 1  # breakfasts in other scenes than those of training


@dataclass(frozen=True)
class StudyAgent:
    """A row of the table.

    Attributes:
        name: of it.
        settings: of ``agent`` in which it differs from the student.
        learner: which of selftrain.adapt.folds.LEARNERS it is; None where it goes by the warm-up alone.
        quiet: whether its warm-up had no questions.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    learner: str | None = None
    quiet: bool = False

    @property
    def folder(self) -> str:
        """Of its breakfasts."""
        return self.name.replace(",", "").replace(" ", "-")

    @property
    def information(self) -> str:
        """What it goes by."""
        planner = self.settings.get("planner", "llm")
        if planner == "teacher":
            return "every wish, what it finds"
        asks = planner != "never" and self.settings.get("asking") != "never"
        scene = "what it finds" if planner == "llm" else "the whole scene"
        return f"answers, {scene}" if asks else scene


AGENTS: Mapping[str, StudyAgent] = {
    agent.name: agent
    for agent in (
        StudyAgent("Never Ask", {"asking": "never"}),
        StudyAgent("Baseline"),
        StudyAgent("ReAct", {"thinks": True}),
        StudyAgent("STaR-GATE", learner="STaR-GATE"),
        StudyAgent("Reflection-DPO", learner="Reflection-DPO"),
        StudyAgent("Reflection-DPO, paraphrased", {"answering": "paraphrase"}, "Reflection-DPO"),
        StudyAgent("Always Ask", {"asking": "always"}),
        StudyAgent("Teacher", {"planner": "teacher"}),
        StudyAgent("no reflection", learner="no reflection"),
        StudyAgent("no DPO", learner="no DPO"),
        StudyAgent("oracle questions", learner="oracle questions"),
        StudyAgent("own asking", learner="own asking"),
        StudyAgent("own asking, at most 2", {"max_questions": 2}, "own asking"),
        StudyAgent("own asking, at most 5", {"max_questions": 5}, "own asking"),
        StudyAgent("own asking, at most 10", {"max_questions": 10}, "own asking"),
        StudyAgent("warm-up without questions", quiet=True),
        StudyAgent("scripted, never asks", {"planner": "never"}),
        *(StudyAgent(f"scripted, at most {n}", {"planner": "always", "max_questions": n}) for n in (2, 5, 10)),
        StudyAgent("scripted, all that matters", {"planner": "always"}),
    )
}
"""Baseline is the warm-up with questions; own asking imitates the scripted cook for the people of the training. Who is
paraphrased is answered in other words than those of training. Scripted ones have no language model: the same person
answers them, in sentences that they understand as they are meant, and they see the scene without looking."""


@dataclass(frozen=True)
class Split:
    """A fold: who is seen in training, and who is not."""

    number: int
    seen: tuple[str, ...]
    unseen: tuple[str, ...]


def split(people: Sequence[str], folds: int = FOLDS) -> list[Split]:
    """The folds of some people: those of the paper for its sixteen, every fourth one for others.

    Raises:
        UserError: when there are too few.
    """
    if len(people) < 2:
        raise UserError("cross-validation takes at least two people: those that are not seen are others")
    printed = PUBLISHED["folds"]
    count = min(folds, len(people))
    own = [tuple(people[number::count]) for number in range(count)]
    unseen = [tuple(fold) for fold in printed] if {*people} == {name for fold in printed for name in fold} else own
    return [
        Split(number, tuple(name for name in people if name not in others), others)
        for number, others in enumerate(unseen)
    ]


class AdaptStudy:
    """All that is trained and played, in a folder.

    Args:
        config: of the trainings, and of the breakfasts.
        folder: of everything.
        observer: told of everything.

    Raises:
        UserError: when something does not fit.
    """

    def __init__(self, config: AdaptTrainingConfig, folder: Path, observer: TrainingObserver) -> None:
        self._config, self._observer, self.folder = config, observer, folder
        self.training = AdaptTraining(config, folder / "with-questions", observer)
        self._names = config.run.tasks.person or tuple(self.training.people)
        self.splits = split(self._names)

    @cached_property
    def _quiet(self) -> AdaptTraining:
        warm_up = self._config.warm_up.model_copy(update={"questions": (0,)})
        config = self._config.model_copy(update={"warm_up": warm_up})
        return AdaptTraining(config, self.folder / "without-questions", self._observer)

    def agents(self) -> list[StudyAgent]:
        """Those that can be played."""
        return [agent for agent in AGENTS.values() if self.missing(agent) is None]

    def missing(self, agent: StudyAgent) -> str | None:
        """What there is not that an agent takes."""
        if agent.quiet and not self._config.warm_up.people:
            return "there is no warm-up, with questions or without (--warm-up makes both)"
        if agent.settings.get("answering") == "paraphrase":
            wishes = (wish for name in self._names for wish in self.training.people[name].preferences)
            if not all(wish.paraphrase for wish in wishes):
                return "not every wish of these people has a paraphrase"
        return None

    def fold(self, number: int) -> FoldTraining:
        """The trainings of a fold."""
        return FoldTraining(self.training, f"fold-{number}", self.splits[number].seen)

    def records(self, agent: StudyAgent, number: int, seen: bool = True) -> list[Record]:
        """An agent's breakfasts for the people of a fold, played where they are not there yet.

        Args:
            agent: who makes them.
            number: of the fold.
            seen: whether also for the people that are seen in training.
        """
        people = [*(self.splits[number].seen if seen else ()), *self.splits[number].unseen]
        learned = agent.learner is not None
        folder = (self.training.folder / f"fold-{number}" if learned else self.folder) / "evaluation" / agent.folder
        changes = {"repeats": 1, "rng_stream": _SERIES, "person": people, **agent.settings}
        if agent.settings.get("planner", "llm") == "llm":
            model = self._model(agent, number)
            changes |= {"model": model.model, "adapter": model.adapter}
        else:
            # Where no model is asked, workers are processes.
            changes |= {"workers": 1}
        settings = self._config.run.with_changes(**changes)
        return play(f"{agent.name}{f', fold {number}' if learned else ''}", settings, folder, self._observer)

    def _model(self, agent: StudyAgent, number: int) -> ModelReference:
        if agent.quiet:
            return self._quiet.warm_up_model
        return self.training.warm_up_model if agent.learner is None else self.fold(number).train(agent.learner)

    def reflections(self, numbers: Sequence[int], oracle: bool = False) -> dict[int, Any]:
        """What became of what was reflected upon, by fold.

        Args:
            numbers: of the folds.
            oracle: whether with an oracle's questions.
        """
        name = f"{'oracle-' if oracle else ''}reflections.json"
        paths = {number: self.training.folder / f"fold-{number}" / name for number in numbers}
        return {number: read_json(path) for number, path in paths.items() if path.is_file()}

    def lessons(self, numbers: Sequence[int]) -> dict[str, dict[int, Any]]:
        """What each learner that was trained has learned from, by fold; see lessons."""
        found: dict[str, dict[int, Any]] = {}
        for learner, number in product(LEARNERS, numbers):
            if counted := lessons(self.fold(number).learner_folder(learner)):
                found.setdefault(learner, {})[number] = counted
        return found
