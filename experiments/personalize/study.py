"""One scene's share of LLM-Personalize (arXiv 2404.14285): how robots are taught there and measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from housewise.agent.personalize.prompt import PromptTemplate
from housewise.core.errors import UserError
from housewise.core.record import Result
from housewise.experiments.personalize import oracle
from housewise.experiments.results import Cell, Figure, published_figure
from housewise.selftrain.examples import EpisodeDemonstration, read_examples
from housewise.selftrain.personalize.learning_curve import draw_learning_curve
from housewise.selftrain.personalize.phases import UNTRAINED
from housewise.selftrain.personalize.quick_settings import QUICK, first_tasks
from housewise.selftrain.personalize.self_training import SelfTraining, play
from housewise.selftrain.personalize.settings import (
    EvaluationConfig,
    NamedTasksConfig,
    SelfTrainingConfig,
    TasksConfig,
    load_selftraining,
)
from housewise.selftrain.trainers import ModelReference
from housewise.selftrain.training_folder import IMITATE, TrainingObserver
from housewise.systems.personalize.record import read_house_records
from housewise.systems.personalize.settings import PersonalizeSettings
from housewise.systems.personalize.tasks import list_tasks
from housewise.worlds.house.spoken_names import kind_from_name

SCENES, GENERATED = oracle.SCENES, oracle.GENERATED
RECOVERED = ("Pomaria_1_int", "Rs_int")
"""Scenes whose episodes have to be made from recovered tasks; see housewise.worlds.house.housekeep.recovered_tasks."""

ALL_SCENES = (*SCENES, *RECOVERED, GENERATED)

BASELINES = {"SayCan": "saycan", "SayPlan": "sayplan", "LLM-Planner": "llm"}
START = "start"
PHASES = {START: UNTRAINED, "IL": IMITATE, "ST1": "iteration-1", "ST2": "iteration-2"}
"""The phase of self-training that each row is measured after; ``start`` is the adapter that it starts from."""

TASKS = ("train", "test")

Measure = Callable[[Result], float]

_HOUSES = {"train": {"houses": 20, "seed": 2000}, "test": {"houses": 5, "seed": 0}}
_RUNS = 5
"""How often tests are played; the four times as many training tasks are measured once."""


def success(result: Result) -> float:
    """Success rate, percent."""
    return 100 * result.scores["success_rate"]


def executability(result: Result) -> float:
    """Share of the steps that were tried or skipped that succeeded, percent."""
    return 100 * result.scores.get("executability", 0.0)


def unique_placements(result: Result) -> float:
    """How many placements (thing, place) were tried out."""
    return result.scores["unique_placements"]


def recipe(
    quick: bool, config: Path | None = None, given: Mapping[str, Any] | None = None, overrides: Sequence[str] = ()
) -> SelfTrainingConfig:
    """How models are taught and measured: as by default, with each test played five times as in the paper.

    Args:
        quick: one task each, played once, for a few steps.
        config: a YAML file with other settings.
        given: settings from the command line, by key.
        overrides: ``key=value`` texts.

    Raises:
        UserError: when a setting does not fit.
    """
    number = {"houses": 1} if quick else {}
    measured = [{"name": name, "episodes": name, **_HOUSES[name], **number} for name in TASKS]
    runs = {"train": 1, "test": 1 if quick else _RUNS}
    evaluation = {"tasks": [{**tasks, "repeats": runs[str(tasks["name"])]} for tasks in measured], "repeats": 1}
    settings = {**(QUICK if quick else {}), "evaluation": evaluation}
    for key, value in (given or {}).items():
        settings[key] = {**settings.get(key, {}), **value}
    return load_selftraining(config, settings, overrides)


def scene_recipe(recipe: SelfTrainingConfig, scene: str, few: bool) -> SelfTrainingConfig:
    """A recipe for the tasks of one scene.

    Args:
        recipe: with the data, where there are any.
        scene: its name, or GENERATED: there what would be played several times is played once in as many more houses.
        few: only the first task of each set.

    Raises:
        UserError: when there is no such scene, or tests are among what is learned from.
    """
    if scene == GENERATED:
        alone = recipe.run.with_changes(data=None, scenes=None)
        config = recipe.model_copy(update={"run": alone, "evaluation": _spread_over_houses(recipe.evaluation)})
    elif recipe.run.tasks.data is None:
        raise UserError(
            f"{scene}: name the Housekeep folder with --data or HOUSEKEEP_DATA, or play --scene {GENERATED}"
        )
    else:
        config = recipe.model_copy(update={"run": recipe.run.with_changes(scenes=[scene])})
        config = first_tasks(config) if few else config
    _keep_apart(config)
    return config


def _spread_over_houses(evaluation: EvaluationConfig) -> EvaluationConfig:
    """As many episodes, each in a house of its own: more houses tell more than playing the same ones again."""

    def spread(tasks: NamedTasksConfig) -> NamedTasksConfig:
        return tasks.model_copy(update={"houses": tasks.houses * (tasks.repeats or evaluation.repeats), "repeats": 1})

    return evaluation.model_copy(update={"tasks": [spread(tasks) for tasks in evaluation.tasks]})


def _keep_apart(config: SelfTrainingConfig) -> None:
    """Refuse tests that are learned from."""

    def names(tasks: TasksConfig) -> set[tuple[str, int]]:
        return {(task.scene, task.episode) for task in list_tasks(config.run_settings(tasks).tasks)}

    tests = set().union(*(names(tasks) for tasks in config.evaluation.tasks if tasks.name == "test"))
    both = tests & (names(config.demonstrations) | names(config.training_tasks))
    if both:
        scene, episode = min(both)
        raise UserError(f"{scene} {episode} is a test and is learned from as well; choose other tasks for one of them")


class SceneStudy:
    """One scene's share of the paper: baselines, and a self-training with a measurement after each phase.

    Args:
        config: for this scene; see placed().
        scene: its name.
        folder: that all scenes share.
    """

    def __init__(self, config: SelfTrainingConfig, scene: str, folder: Path) -> None:
        # An adapter's own figures belong in the table; without one they are the LLM-Planner's.
        untrained = {"untrained": config.run.models.agent.adapter is not None}
        self.config = config.model_copy(update={"evaluation": config.evaluation.model_copy(update=untrained)})
        self.scene, self.folder = scene, folder / scene

    def play(self, rows: Iterable[str], observer: TrainingObserver) -> None:
        """Play, and learn, what some rows still need.

        Raises:
            UserError: when something outside the program is wrong; what is finished is kept.
        """
        rows = list(rows)
        alone = {row: _untaught(planner, self.config.run) for row, planner in BASELINES.items()} | {START: {}}
        for row in [row for row in alone if row in rows]:
            for tasks in self.config.evaluation.tasks:
                config = self.config.evaluation_settings(tasks, **alone[row])
                play(f"{self.scene}: {row}, {tasks.name}", config, self.records(row, tasks.name).parent, observer)
        if taught := [row for row in rows if row not in alone]:
            self.models(taught, observer)

    def models(self, rows: Iterable[str], observer: TrainingObserver) -> dict[str, ModelReference]:
        """The model of each row, of IL and the iterations after it, taught where that has not been done."""
        iterations = max(list(PHASES).index(row) - list(PHASES).index("IL") for row in rows)
        config = self.config.model_copy(update={"iterations": min(iterations, self.config.iterations)})
        lines = SelfTraining(config, self.folder / "selftraining", observer).run()["phases"]
        draw_learning_curve(lines, self.folder / "selftraining" / "learning_curve.png")
        rows_of = {phase: row for row, phase in PHASES.items()}
        return {rows_of[line["phase"]]: ModelReference(model=line["model"], adapter=line["adapter"]) for line in lines}

    def records(self, row: str, tasks: str) -> Path:
        """Folder of the records of a row over some tasks."""
        if row in BASELINES:
            return self.folder / BASELINES[row] / tasks / "episodes"
        return self.folder / "selftraining" / PHASES[row] / "evaluation" / tasks / "episodes"

    def familiar(self, row: str) -> set[str] | None:
        """Kinds of object moved in what a row's model learned from here; None for models that did not learn."""
        if row in BASELINES or row == START:
            return None
        phases = [phase for phase in PHASES.values() if phase != UNTRAINED]
        learned = phases[: phases.index(PHASES[row]) + 1]
        paths = [self.folder / "selftraining" / phase / "pairs.jsonl" for phase in learned]
        return {
            kind_from_name(name)
            for path in paths
            if path.exists()
            for pair in read_examples(path, EpisodeDemonstration)
            for name in pair.moved
        }

    @property
    def notes(self) -> list[str]:
        """What has to be said of the scene's figures."""
        if self.scene not in RECOVERED:
            return []
        return [f"{self.scene}: placements as published, poses ours; ten of the training tasks are demonstrated"]

    def is_marked(self, row: str) -> bool:
        """Whether a row's model had also learned beforehand."""
        return self.config.run.models.agent.adapter is not None and row in PHASES

    def cell(self, row: str, tasks: str, measure: Measure, name: str) -> Cell:
        """A row's figure over some tasks.

        Args:
            row: of BASELINES or PHASES.
            tasks: ``"train"`` or ``"test"``.
            measure: of an episode.
            name: of the measure among published figures.
        """
        ours = Figure.from_records(read_house_records(self.records(row, tasks)), measure)
        theirs = self.published_figure(name, self.scene, row, tasks)
        return Cell(row, f"{self.scene} {tasks}", ours, theirs, self.is_marked(row), self.expected_episodes(tasks))

    def published_figure(self, measure: str, scene: str, row: str, tasks: str) -> Figure | None:
        """What the paper says, whose robots were all taught for the majority; see results.published_figure."""
        return published_figure(measure, scene, row, tasks) if self.config.run.tasks.person == "majority" else None

    def expected_episodes(self, tasks: str) -> int:
        """How many episodes a row's figure over some tasks takes."""
        named = next(chosen for chosen in self.config.evaluation.tasks if chosen.name == tasks)
        config = self.config.evaluation_settings(named)
        return len(list_tasks(config.tasks)) * config.tasks.repeats


def _untaught(planner: str, run: PersonalizeSettings) -> dict[str, Any]:
    """What sets a baseline's run apart: the model as it comes, with the planner's own words, and as many steps."""
    # A plan of SayCan is one step, and a recipe's limits are about plans of several.
    times = run.agent.max_steps_per_plan if planner == "saycan" else 1
    limits = {key: times * getattr(run.agent, key) for key in ("max_plans", "max_idle_plans")}
    wrappers = [name for name in run.agent.wrappers if name != "verify_completion"]
    return {"planner": planner, "adapter": None, "prompt": PromptTemplate.default_name, "wrappers": wrappers, **limits}
