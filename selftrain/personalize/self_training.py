"""Self-training of LLM-Personalize: demonstrate, imitate, then grow, filter and improve (ReST, arXiv 2308.08998)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.core.console import print_event, print_note
from housewise.core.errors import UserError
from housewise.core.files import remove_partial, write_json
from housewise.language.adapters import IMITATE, AdapterConfig, adapter_defaults
from housewise.language.embedder import shared_minilm
from housewise.rollout.run import Run, has_episodes
from housewise.rollout.saved_settings import check_user_files, copy_user_files
from housewise.rollout.scores import VERSION
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.selftrain.personalize.filters import FilterSettings, apply_filter, demonstration_statistics
from housewise.selftrain.personalize.lessons import generate_lessons, generate_lessons_about
from housewise.selftrain.personalize.phase_memories import PhaseMemories
from housewise.selftrain.personalize.planned_phases import (
    DEMONSTRATE,
    UNTRAINED,
    iteration_name,
    model_phases,
    next_iteration,
    training_name,
)
from housewise.selftrain.personalize.recipe_checks import check_demonstrations, check_evaluation, check_recipe
from housewise.selftrain.personalize.record_demonstrations import (
    demonstrations_from_record,
    describe_empty_replies,
    familiar_kinds,
    generated_replies,
    sample_per_episode,
)
from housewise.selftrain.personalize.relabelling import PreferenceVotes, relabel
from housewise.selftrain.personalize.settings import (
    LessonsConfig,
    NamedTasksConfig,
    SelfTrainingConfig,
    read_selftraining,
)
from housewise.selftrain.rollouts.engine import open_engine, play_with_model
from housewise.selftrain.rollouts.vllm_process import end_orphan
from housewise.selftrain.trainers import ModelReference, TrainedModel
from housewise.selftrain.trainers.exclusions import TooFewExamplesError
from housewise.selftrain.trainers.settings import TrainingConfig
from housewise.selftrain.training_folder import PAIRS, TrainingFolder, TrainingObserver, play_run
from housewise.systems.personalize.record import read_house_records
from housewise.systems.personalize.settings import PersonalizeSettings
from housewise.systems.personalize.system import Personalize
from housewise.systems.personalize.tasks import list_tasks, load_task
from housewise.worlds.house.tasks import resolve_preferences

# Largest share of a phase's episodes that may fail.
_MAX_FAILED = 0.25
_NOTHING_KEPT = "The filter kept nothing, so the model is that of the phase before."
# Votes exist for few places: an object without a known right place may still have one, so it is not misplaced.
_MEMORY_LESSONS = LessonsConfig(houses=1, each=1, places=(10, 40), things=(8, 20), allow_unplaceable=False)


class SelfTraining:
    """Trains a model in phases: on demonstrations, then in iterations on the best of its own plans.

    The folder has ``config.json``, a line for each phase in ``summary.json``, and a folder for each phase
    (``demonstrate``, ``imitate``, ``iteration-1``, ...) with its runs, its examples ``pairs.jsonl``, ``filter.json``,
    the results of its training and ``evaluation/``. Phases that are done are not repeated. ``engine`` is where its
    models answer.

    Where ``run.memory`` names a memory, all runs read it. Those that are learned from add notes, each to a copy of its
    own, which the next one starts from. The memory itself does not change, and evaluations add no notes.

    Args:
        config: Settings of the self-training.
        folder: Folder of the self-training; it is created if missing.
        observer: Follows the self-training.

    Raises:
        UserError: The folder holds a self-training with other settings.
    """

    def __init__(self, config: SelfTrainingConfig, folder: Path, observer: TrainingObserver) -> None:
        self.config, self.folder = config, folder
        self._observer = observer
        self._template = NotesTemplate.load(config.run.agent.prompt)
        self._context = NotesContext(self._template, config.run.agent.max_steps_per_plan)
        self._memories = PhaseMemories(config.run, folder)
        self._check_folder()
        model, ray, prefix = config.run.models.agent, config.run.execution.ray, self._template.prefix
        self.engine = open_engine(config.rollouts, folder, model, config.training, prefix, ray)
        self._check_settings()

    @property
    def _training(self) -> TrainingFolder:
        model = self.config.run.models.agent
        start = ModelReference(model=model.model, adapter=model.adapter)
        return TrainingFolder(self.folder, start, self._observer, self._seed, model.base_url)

    def _check_settings(self) -> None:
        """Check everything that can be checked before an episode is played."""
        config = self.config
        run = config.run
        check_recipe(config, self._template.judging)
        if not self._training.is_trained(IMITATE):
            check_demonstrations(config)
        if self._untrained_phases:
            if run.execution.ray is None:
                Personalize(run).check_start()
            self._training.check_trainer(config.training, has_rollouts=True)
            self.engine.check(self._training.start)

    def run(self) -> dict[str, Any]:
        """Do the phases that are left.

        Returns:
            The content of ``summary.json``: a line for each phase, in order.

        Raises:
            UserError: Something outside the program is wrong; finished phases are kept.
        """
        training = self._training
        with training.lock_and_check(self._check_folder):
            end_orphan(self.folder)
            for folder in (self.folder, *self.folder.glob("*/evaluation")):
                remove_partial(folder)
            training.write_settings(self.config)
            copy_user_files(Personalize(self.config.run).files(), self.folder, anew=not self._has_begun)
            try:
                return {"phases": self._run_phases()}
            finally:
                self.engine.stop()

    def _run_phases(self) -> list[dict[str, Any]]:
        phases: list[dict[str, Any]] = []
        for name, model in self._models():
            phases.append(self._evaluate(name, model))
            write_json(self.folder / "summary.json", {"phases": phases})
        return phases

    @property
    def _has_begun(self) -> bool:
        """Whether any episode has been played, or any model trained."""
        runs = (run for depth in ("*", "*/*", "*/*/*") for run in self.folder.glob(f"{depth}/episodes"))
        return any(map(has_episodes, runs)) or any(self.folder.glob("*/model.json"))

    @property
    def _untrained_phases(self) -> list[str]:
        """The phases whose models are not finished."""
        return [name for name in model_phases(self.config.iterations) if not self._training.is_trained(name)]

    @property
    def _seed(self) -> int:
        return self.config.run.tasks.seed

    def _models(self) -> Iterator[tuple[str, ModelReference]]:
        """Yield the model after each phase, and train it where it is not finished."""
        training = self._training
        if self.config.evaluation.untrained:
            yield UNTRAINED, training.start
        model = training.finished_model(IMITATE) or self._train_imitation()
        yield IMITATE, model
        for iteration in range(self.config.iterations):
            name = iteration_name(iteration)
            model = training.finished_model(name) or self._train_iteration(iteration, model)
            yield name, model

    def _train_imitation(self) -> TrainedModel:
        """Train a model on demonstrations and lessons."""
        examples = [*self._demonstrations_and_lessons, *self._memory_lessons(0, self.config.imitation_memory_lessons)]
        try:
            return self._train(IMITATE, self._training.start, examples, self.config.imitation_training)
        except TooFewExamplesError as error:
            raise UserError(
                f"{error.problem}; choose another folder with --out and more demonstrations, such as "
                f"demonstrations.repeats={2 * self.config.demonstrations.repeats}"
            ) from error

    def _train_iteration(self, iteration: int, model: ModelReference) -> TrainedModel:
        """Train a model on the best plans of the model before. If they are too few, that model stays as it is."""
        name = iteration_name(iteration)
        kept = self._grow_and_filter(iteration, model)
        if not kept:
            return self._keep_model(name, model, _NOTHING_KEPT)
        lessons = self._memory_lessons(iteration + 1, self.config.memory_lessons)
        examples = [*kept, *lessons, *self._replayed_examples(iteration)]
        try:
            return self._train(name, model, examples, self.config.iteration_training(iteration))
        except TooFewExamplesError as error:
            note = f"{error.problem}; the model stays as it is"
            print_note(f"{self.folder / name}: {note}")
            (self.folder / name / PAIRS).unlink()
            return self._keep_model(name, model, note)

    def _keep_model(self, name: str, model: ModelReference, note: str) -> TrainedModel:
        """Finish a phase that learns nothing with the model of the phase before."""
        stays = TrainedModel(model=model.model, adapter=model.adapter, metrics={"pairs": 0}, notes=(note,))
        return stays.save(self.folder / name)

    @cached_property
    def _demonstrations_and_lessons(self) -> list[EpisodeDemonstration]:
        return [*self._demonstrations(), *self._lessons()]

    def _demonstrations(self) -> list[EpisodeDemonstration]:
        memory = self._memories.learning_settings(UNTRAINED, self.folder / DEMONSTRATE)
        config = self.config.demonstration_settings(**memory)
        demonstrate = Run(Personalize(config), self.folder / DEMONSTRATE)
        play_run(DEMONSTRATE, demonstrate, self._observer, _MAX_FAILED)
        records = read_house_records(self.folder / DEMONSTRATE / "episodes")
        examples = [
            example for record in records for example in demonstrations_from_record(record, self._template.prefix)
        ]
        if self.config.imitation_plans is not None:
            examples = sample_per_episode(examples, self.config.imitation_plans, self._seed)
        if not examples:
            raise UserError("the demonstrations are empty; choose other demonstrations.episodes or more houses")
        write_json(self.folder / IMITATE / "filter.json", {"filter": "all", "kept": demonstration_statistics(examples)})
        return examples

    def _lessons(self) -> list[EpisodeDemonstration]:
        run = self.config.run
        houses = [(kind.seed + house, kind) for kind in self.config.lessons for house in range(kind.houses)]
        examples: list[EpisodeDemonstration] = []
        if not houses:
            return examples
        needs_embedder = any(kind.noted_fraction is not None for _, kind in houses)
        embedder = shared_minilm() if needs_embedder else None
        with self._observer.watch_training("lessons") as progress:
            for done, (seed, kind) in enumerate(houses, start=1):
                person = resolve_preferences(run.tasks.person)
                lessons = generate_lessons(seed, kind, person, embedder, run.tasks.kinds)
                examples += [lesson.demonstration(self._context) for lesson in lessons]
                progress(done, len(houses), f"{len(examples)} lessons")
        return examples

    def _replayed_examples(self, iteration: int) -> list[EpisodeDemonstration]:
        """Return a random share of the demonstrations and lessons, to be learned again."""
        if not self.config.replay_fraction:
            return []
        examples = self._demonstrations_and_lessons
        order = np.random.default_rng([self._seed, iteration]).permutation(len(examples))
        return [examples[index] for index in sorted(order[: round(self.config.replay_fraction * len(examples))])]

    def _grow_and_filter(self, iteration: int, model: ModelReference) -> list[EpisodeDemonstration]:
        """Play the training tasks with a model, and return the replies that the filter keeps."""
        name, settings = iteration_name(iteration), self.config.filter
        self._grow(iteration, model)
        options = FilterSettings(iteration, tuple(settings.thresholds), settings.max_per_object, self._seed + iteration)
        kept, report = apply_filter(settings.name, self._grown_demonstrations(iteration), options)
        write_json(self.folder / name / "filter.json", report)
        replies = [
            each
            for record in read_house_records(self._grow_episodes(iteration))
            for _, each in generated_replies(record)
        ]
        size = f"|D| = {len(kept)} of {len(replies)} plans (filter {settings.name})"
        limit = self.config.run.models.agent.sampling.key("max_tokens")
        nothing = f"; nothing to learn{describe_empty_replies(replies, limit)}, the model stays as it is"
        print_event(f"{self.folder / name}: {size}{'' if kept else nothing}")
        return kept

    def _grow(self, iteration: int, model: ModelReference) -> dict[str, Any]:
        """Play the training tasks with the model of the phase before, and return the figures."""
        before, name = model_phases(self.config.iterations)[iteration : iteration + 2]
        folder = self.folder / name / "grow"
        changes = {**self._model_settings(before, model), **self._memories.learning_settings(before, folder)}
        return self._play_model(f"{name}: grow", before, model, self.config.grow_settings(iteration, **changes), folder)

    def _grown_demonstrations(self, iteration: int) -> list[EpisodeDemonstration]:
        """Return the replies of an iteration, with the text that is learned; see LearningTarget."""
        records = read_house_records(self._grow_episodes(iteration))
        if (target := self.config.target) != "relabelled":
            prefix = self._template.prefix
            return [example for record in records for example in demonstrations_from_record(record, prefix, target)]
        votes, folder = self._votes(iteration + 1), self._grow_episodes(iteration).parent
        tasks = self.config.run_settings(self.config.training_tasks).tasks
        return [
            example
            for record in records
            for example in relabel(
                record, self._context, votes, self._memories.recalled_knowledge(record, folder, tasks)
            )
        ]

    def _memory_lessons(self, iterations: int, count: int) -> list[EpisodeDemonstration]:
        """Return lessons about the preferences known so far, in the houses of the training tasks."""
        if not count:
            return []
        tasks, votes = self.config.run_settings(self.config.training_tasks).tasks, self._votes(iterations)
        houses = list({name.scene: name for name in list_tasks(tasks)}.values())
        examples: list[EpisodeDemonstration] = []
        for index, name in enumerate(houses[:count]):
            scene, rng = load_task(name, tasks).scene, np.random.default_rng([self._seed, iterations, index])
            config = _MEMORY_LESSONS.model_copy(update={"each": len(range(index, count, len(houses)))})
            lessons = generate_lessons_about(scene, votes.placeable_kinds(scene), config, rng)
            examples += [lesson.demonstration(self._context) for lesson in lessons]
        return examples

    def _votes(self, iterations: int) -> PreferenceVotes:
        """Return what is known of people's preferences from the demonstrations and the first iterations."""
        folders = [self.folder / DEMONSTRATE / "episodes", *map(self._grow_episodes, range(iterations))]
        return PreferenceVotes((record for folder in folders for record in read_house_records(folder)), self._context)

    def _grow_episodes(self, iteration: int) -> Path:
        return self.folder / iteration_name(iteration) / "grow" / "episodes"

    def _train(
        self, name: str, start: ModelReference, examples: Sequence[EpisodeDemonstration], config: TrainingConfig
    ) -> TrainedModel:
        run = self.config.run
        settings = {
            "system": run.system,
            **run.agent.model_dump(mode="json"),
            **run.models.agent.model_dump(mode="json"),
            "familiar_kinds": familiar_kinds(start, examples),
        }
        defaults = {key: settings[key] for key in AdapterConfig.model_fields if key in settings}
        self.engine.pause()
        template = {"chat_template_kwargs": run.models.agent.chat_template_kwargs}
        config = self.engine.training_config(config).model_copy(update=template)
        return self._training.train(training_name(name), name, examples, config, start, defaults)

    def _evaluate(self, name: str, model: ModelReference) -> dict[str, Any]:
        """Return a phase's line of the summary: the model, and its figures for each set of tasks."""
        figures = {}
        for tasks in self.config.evaluation.tasks:
            played = self._play_evaluation(name, model, tasks)
            failed = played["failed"]["episodes"]
            figures[tasks.name] = played["overall"] | ({"failed": failed} if failed else {})
        phase = {"version": VERSION, "phase": name, **model.model_dump(), "evaluation": figures}
        write_json(self.folder / name / "evaluation" / "metrics.json", phase)
        self._observer.end_phase(phase)
        return phase

    def _play_evaluation(self, name: str, model: ModelReference, tasks: NamedTasksConfig) -> dict[str, Any]:
        """Return the figures of a phase for some tasks.

        If the next iteration plays the same tasks in the same way, its episodes are played now and are those measured.
        """
        folder = self.folder / name / "evaluation" / tasks.name
        iteration = next_iteration(name, self.config.iterations)
        if iteration is not None and self.config.is_grown(tasks) and not has_episodes(folder / "episodes"):
            return self._grow(iteration, model)
        changes = {**self._model_settings(name, model), **self._memories.frozen_settings(name)}
        config = self.config.evaluation_settings(tasks, **changes)
        return self._play_model(f"{name}: {tasks.name}", name, model, config, folder)

    def _model_settings(self, phase: str, model: ModelReference) -> dict[str, Any]:
        """Return the settings of a run that asks the model of a phase."""
        familiar = adapter_defaults(model.adapter).get("familiar_kinds")
        return {**self.engine.model_settings(phase, model), "familiar_kinds": familiar}

    def _play_model(
        self, name: str, phase: str, model: ModelReference, config: PersonalizeSettings, folder: Path
    ) -> dict[str, Any]:
        """Play a run with the model of a phase; see play_with_model."""
        return play_with_model(
            self.engine,
            phase,
            model,
            self.folder / phase / PAIRS,
            lambda served: Run(Personalize(config.with_changes(**served)), folder),
            lambda run: play_run(name, run, self._observer, _MAX_FAILED),
        )

    def _check_folder(self) -> None:
        """Check that the folder is empty, or that its self-training has the same settings."""
        training = self._training
        if not training.has_begun(IMITATE, "iteration-*"):
            return
        earlier = read_selftraining(training.config_file)
        if not self._has_begun:
            return
        self.config = self.config.model_copy(update={"run": self.config.run.adopt_person(earlier.run)})
        progress = {
            "imitated": training.finished_model(IMITATE) is not None,
            "improved": any(self.folder.glob("iteration-*/model.json")),
            "finished": not self._untrained_phases,
        }
        if progress["imitated"]:
            self.config = self.config.keep_imitation_rate(earlier)
        before, now = earlier.identity(**progress), self.config.identity(**progress)
        training.check_settings({key: before.get(key) for key in now}, now, "self-training")
        check_user_files(Personalize(self.config.run).files(), self.folder)
        if progress["imitated"] and (changes := self.config.describe_rate_changes(earlier)):
            left = ", ".join(self._untrained_phases)
            print_note(f"{self.folder}: {', '.join(changes)} for {left}; the others stay as they are")
        for tasks in self.config.evaluation.tasks:
            check_evaluation(self.config, self.folder, tasks)
