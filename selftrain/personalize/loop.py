"""Self-training: demonstrate, imitate, then grow, filter and improve (ReST, arXiv 2308.08998), as files in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from housewise.agent.personalize.placement_judgement import find_judged_kinds
from housewise.agent.personalize.prompt import ContextGenerator, PromptTemplate
from housewise.core.console import print_note
from housewise.core.errors import UserError
from housewise.core.files import exclusive_lock, find_paths, remove_partial, write_json
from housewise.core.settings import short_key
from housewise.language.adapters import ADAPTER_CONFIG_FILE, AdapterConfig, adapter_defaults
from housewise.language.embedder import shared_minilm
from housewise.rollout.count_failures import FailedEpisodesError
from housewise.rollout.executor import RunCallback
from housewise.rollout.run import Run, has_episodes
from housewise.rollout.saved_settings import check_user_files, copy_user_files, is_same_setting
from housewise.rollout.scores import VERSION
from housewise.rollout.system import Job
from housewise.selftrain.personalize.filters import FilterSettings, apply, find_filter, statistics
from housewise.selftrain.personalize.hindsight import Experience, corrected
from housewise.selftrain.personalize.lessons import lessons_about, lessons_in
from housewise.selftrain.personalize.memories import DEMONSTRATE, IMITATE, UNTRAINED, PhaseMemories
from housewise.selftrain.personalize.outline import iteration_name
from housewise.selftrain.personalize.pairs import Pair, drawn, pairs_of, write_pairs
from housewise.selftrain.personalize.settings import (
    LessonsConfig,
    NamedTasksConfig,
    SelfTrainingConfig,
    TrainingConfig,
    read_selftraining,
)
from housewise.selftrain.trainers import ModelReference, Progress, TrainedModel, open_trainer
from housewise.selftrain.trainers.base import ignore_progress
from housewise.systems.personalize.record import read_house_records
from housewise.systems.personalize.settings import PersonalizeSettings
from housewise.systems.personalize.system import Personalize
from housewise.systems.personalize.tasks import check_person, list_tasks, load_task
from housewise.worlds.house.tasks import wishes

# Share of the episodes of a phase that may have failed while it still counts.
_MOST_FAILED = 0.25
# Only of a few places is it known what people think: where no right one is known, there may still be one.
_REVIEW = LessonsConfig(houses=1, each=1, places=(10, 40), things=(8, 20), elsewhere=False)


class Observer(Protocol):
    """Told of how self-training goes."""

    def playing(self, name: str, session: Run) -> AbstractContextManager[RunCallback]:
        """Episodes are about to be played."""
        ...

    def training(self, name: str) -> AbstractContextManager[Progress]:
        """A model is about to be trained."""
        ...

    def reached(self, phase: dict[str, Any]) -> None:
        """A phase is over: its line of ``summary.json``."""
        ...


def play(name: str, config: PersonalizeSettings, folder: Path, observer: Observer) -> dict[str, Any]:
    """Play a run, or what is left of it, before an observer.

    Args:
        name: that it is announced by.
        config: what to play.
        folder: of the run.
        observer: told of every episode.

    Returns:
        Its figures, as in ``metrics.json``; a few episodes that failed are left out and counted there.

    Raises:
        FailedEpisodesError: when too many have failed for the others to stand for all.
        UserError: see Run.
    """
    session = Run(Personalize(config), folder)
    with observer.playing(name, session) as callback:
        try:
            return session.play(callback)
        except FailedEpisodesError as error:
            if error.share > _MOST_FAILED:
                raise
            return error.figures


class SelfTraining:
    """Takes a model from what it is to what these people want, a phase after the other.

    In its folder are ``config.json``, a folder for each phase (``demonstrate``, ``imitate``, ``iteration-1``, ...) with
    its runs, its data set ``pairs.jsonl``, ``filter.json``, what its training left and ``evaluation/``, and a line for
    each in ``summary.json``. What is there already is not done again.

    Where ``run.memory`` names a memory, all runs go by it, and those that are learned from add to it: each to a copy of
    its own, from which the next goes on. The memory itself stays as it is, and evaluations teach nothing.

    Args:
        config: what to do.
        folder: made when it is missing; one in which something was done with other settings is refused.
        observer: told of everything.

    Raises:
        UserError: when the folder does not fit.
    """

    def __init__(self, config: SelfTrainingConfig, folder: Path, observer: Observer) -> None:
        self.config, self.folder = config, folder
        self._observer = observer
        self._template = PromptTemplate.load(config.run.agent.prompt)
        self._context = ContextGenerator(self._template, config.run.agent.most_steps_per_plan)
        self._memories = PhaseMemories(config.run, folder)
        self._check_folder()
        self._check_settings()

    def _check_settings(self) -> None:
        """Find what cannot work before anything is played."""
        config = self.config
        run = config.run
        if run.agent.planner != "llm":
            raise UserError(f"run.planner={run.agent.planner}: it is the planner llm that learns; leave it out")
        if config.lessons and run.tasks.data is not None:
            raise UserError(
                "lessons are about generated houses: give run.data=null (or take HOUSEKEEP_DATA away) to teach in "
                "those, or lessons=[] to teach in run.data"
            )
        if config.wording in ("proven", "corrected") and config.training.trainer != "local":
            raise UserError(
                f"wording={config.wording} learns parts of replies, as only trainer=local can; set wording=done"
            )
        if (config.wording == "corrected" or config.review or config.imitation_review) and not self._template.judging:
            raise UserError(
                f"wording=corrected and review are about judgements, of which prompt {run.agent.prompt} has none; set "
                "run.prompt=judging, or wording=done, review=0 and imitation_review=0"
            )
        config.check_houses()
        find_filter(config.filter.name)
        check_person(run.tasks)
        tried = [config.training_tasks] if config.iterations or config.review or config.imitation_review else []
        for tasks in (config.demonstrations, *tried, *config.evaluation.tasks):
            list_tasks(config.playing(tasks).tasks)
        if self._unlearned:
            if run.execution.ray is None:
                Personalize(run).check_start()
            open_trainer(config.training, run.tasks.seed, run.models.agent.base_url, ignore_progress).check(self._start)

    def go(self) -> dict[str, Any]:
        """Do what is left to do.

        Returns:
            What ``summary.json`` holds: a line for each phase, in order.

        Raises:
            UserError: when something outside the program is wrong; what is finished is kept.
        """
        with exclusive_lock(self.folder):
            # Another program may have been at it since.
            self._check_folder()
            return self._go()

    def _go(self) -> dict[str, Any]:
        for folder in (self.folder, *self.folder.glob("*/evaluation")):
            remove_partial(folder)
        write_json(self.folder / "config.json", self.config.model_dump())
        copy_user_files(Personalize(self.config.run).files(), self.folder, anew=not self._begun)
        phases: list[dict[str, Any]] = []
        for name, model in self._models():
            phases.append(self._evaluated(name, model))
            write_json(self.folder / "summary.json", {"phases": phases})
        return {"phases": phases}

    @property
    def _begun(self) -> bool:
        """Whether anything has been played or learned."""
        runs = (run for depth in ("*", "*/*", "*/*/*") for run in self.folder.glob(f"{depth}/episodes"))
        return any(map(has_episodes, runs)) or any(self.folder.glob("*/model.json"))

    @property
    def _unlearned(self) -> list[str]:
        """The phases whose models are still to be trained."""
        names = [IMITATE, *map(iteration_name, range(self.config.iterations))]
        return [name for name in names if not (self.folder / name / "model.json").exists()]

    @property
    def _seed(self) -> int:
        return self.config.run.tasks.seed

    @property
    def _start(self) -> ModelReference:
        acting = self.config.run.models.agent
        return ModelReference(model=acting.model, adapter=acting.adapter)

    def _models(self) -> Iterator[tuple[str, ModelReference]]:
        """The model after each phase, made when it is asked for and not there yet."""
        if self.config.evaluation.untrained:
            yield UNTRAINED, self._start
        model = self._finished(IMITATE) or self._imitating()
        yield IMITATE, model
        for iteration in range(self.config.iterations):
            name = iteration_name(iteration)
            model = self._finished(name) or self._iterated(iteration, model)
            yield name, model

    def _finished(self, name: str) -> TrainedModel | None:
        return TrainedModel.load(self.folder / name, self._start.model)

    def _imitating(self) -> TrainedModel:
        """The model that imitates the demonstrations."""
        shown = [*self._shown, *self._reviewed(0, self.config.imitation_review)]
        return self._improved(IMITATE, self._start, shown, self.config.imitation)

    def _iterated(self, iteration: int, model: ModelReference) -> TrainedModel:
        """The model that has learned from what the one before tried."""
        kept = self._filtered(iteration, model)
        reviewed = self._reviewed(iteration + 1, self.config.review)
        pairs = [*kept, *reviewed, *self._rehearsed(iteration)]
        return self._improved(iteration_name(iteration), model, pairs, self.config.improvement(iteration))

    @cached_property
    def _shown(self) -> list[Pair]:
        """Demonstrations and lessons."""
        return [*self._demonstrations(), *self._lessons()]

    def _demonstrations(self) -> list[Pair]:
        memory = self._memories.adding(UNTRAINED, self.folder / DEMONSTRATE)
        config = self.config.playing(self.config.demonstrations, planner="demonstrator", runs=1, **memory)
        play(DEMONSTRATE, config, self.folder / DEMONSTRATE, self._observer)
        records = read_house_records(self.folder / DEMONSTRATE / "episodes")
        pairs = [pair for record in records for pair in pairs_of(record, self._template.prefix)]
        if self.config.imitation_plans is not None:
            pairs = drawn(pairs, self.config.imitation_plans, self._seed)
        if not pairs:
            raise UserError("the demonstrations are empty; choose other demonstrations.episodes or more houses")
        write_json(self.folder / IMITATE / "filter.json", {"filter": "all", "kept": statistics(pairs)})
        return pairs

    def _lessons(self) -> list[Pair]:
        run = self.config.run
        houses = [(kind.seed + house, kind) for kind in self.config.lessons for house in range(kind.houses)]
        pairs: list[Pair] = []
        if not houses:
            return pairs
        remembering = any(kind.remembered is not None for _, kind in houses)
        embedder = shared_minilm() if remembering else None
        with self._observer.training("lessons") as progress:
            for done, (seed, kind) in enumerate(houses, start=1):
                lessons = lessons_in(seed, kind, wishes(run.tasks.person), embedder)
                pairs += [lesson.pair(self._context) for lesson in lessons]
                progress(done, len(houses), f"{len(pairs)} lessons")
        return pairs

    def _rehearsed(self, iteration: int) -> list[Pair]:
        if not self.config.rehearse:
            return []
        shown = self._shown
        order = np.random.default_rng([self._seed, iteration]).permutation(len(shown))
        return [shown[index] for index in sorted(order[: round(self.config.rehearse * len(shown))])]

    def _filtered(self, iteration: int, model: ModelReference) -> list[Pair]:
        """What is worth learning of what the model tries."""
        name, before = iteration_name(iteration), iteration_name(iteration - 1) if iteration else IMITATE
        grow, settings = self.config.grow, self.config.filter
        drawn_as = {"temperature": grow.temperature, "top_p": grow.top_p, "n": grow.replies}
        sampling = self.config.run.models.agent.sampling.model_copy(update=drawn_as)
        # What is tried anew is to be drawn anew, or a model that has learned little tries the same again.
        series, folder = self.config.run.tasks.series + iteration, self.folder / name / "grow"
        changes = {"runs": grow.runs, "series": series, **_asking(model)}
        changes |= self._memories.adding(before, folder)
        config = self.config.playing(self.config.training_tasks, sampling=sampling, **changes)
        play(f"{name}: grow", config, folder, self._observer)
        tried = self._tried(iteration)
        options = FilterSettings(
            iteration, tuple(settings.thresholds), settings.most_per_object, self._seed + iteration
        )
        kept, report = apply(settings.name, tried, options)
        write_json(self.folder / name / "filter.json", report)
        return kept

    def _tried(self, iteration: int) -> list[Pair]:
        """What the model said in an iteration, in the words that are worth learning."""
        records = read_house_records(self._grown(iteration))
        if self.config.wording == "corrected":
            experience, folder = self._experience(iteration + 1), self._grown(iteration).parent
            tasks = self.config.playing(self.config.training_tasks).tasks
            return [
                pair
                for record in records
                for pair in corrected(record, self._context, experience, self._memories.told(record, folder, tasks))
            ]
        return [pair for record in records for pair in pairs_of(record, self._template.prefix, self.config.wording)]

    def _reviewed(self, iterations: int, count: int) -> list[Pair]:
        """Lessons about what has been learned of people so far, in the houses that the model tries itself in."""
        if not count:
            return []
        tasks, experience = self.config.playing(self.config.training_tasks).tasks, self._experience(iterations)
        houses = list({name.scene: name for name in list_tasks(tasks)}.values())
        pairs: list[Pair] = []
        for index, name in enumerate(houses[:count]):
            scene, rng = load_task(name, tasks).scene, np.random.default_rng([self._seed, iterations, index])
            kind = _REVIEW.model_copy(update={"each": len(range(index, count, len(houses)))})
            pairs += [lesson.pair(self._context) for lesson in lessons_about(scene, experience.kinds(scene), kind, rng)]
        return pairs

    def _experience(self, iterations: int) -> Experience:
        """What has been learned of what people want, from demonstrations and so many iterations."""
        folders = [self.folder / DEMONSTRATE / "episodes", *map(self._grown, range(iterations))]
        return Experience((record for folder in folders for record in read_house_records(folder)), self._context)

    def _grown(self, iteration: int) -> Path:
        return self.folder / iteration_name(iteration) / "grow" / "episodes"

    def _improved(
        self, name: str, start: ModelReference, pairs: Sequence[Pair], training: TrainingConfig
    ) -> TrainedModel:
        folder = self.folder / name
        write_pairs(folder / "pairs.jsonl", pairs)
        run = self.config.run
        asked = {"system": run.system, **run.agent.model_dump(mode="json"), **run.models.agent.model_dump(mode="json")}
        asked["familiar"] = _familiar(start, pairs)
        # TrainedModel.save takes it from there: once a model is named, nothing of it is missing.
        write_json(folder / ADAPTER_CONFIG_FILE, {key: asked[key] for key in AdapterConfig.model_fields})
        with self._observer.training(f"{name}: train") as progress:
            return open_trainer(training, self._seed, run.models.agent.base_url, progress).train(pairs, start, folder)

    def _evaluated(self, name: str, model: ModelReference) -> dict[str, Any]:
        """A phase's line of the summary: the model, and its figures on every named set of tasks."""
        figures = {}
        for tasks in self.config.evaluation.tasks:
            config = self.config.measuring(tasks, **_asking(model), **self._memories.unchanged(name))
            folder = self.folder / name / "evaluation" / tasks.name
            played = play(f"{name}: {tasks.name}", config, folder, self._observer)
            failed = played["failed"]["episodes"]
            figures[tasks.name] = played["overall"] | ({"failed": failed} if failed else {})
        phase = {"version": VERSION, "phase": name, **model.model_dump(), "evaluation": figures}
        write_json(self.folder / name / "evaluation" / "metrics.json", phase)
        self._observer.reached(phase)
        return phase

    def _check_folder(self) -> None:
        path = self.folder / "config.json"
        if not path.exists():
            return
        earlier = read_selftraining(path)
        if not self._begun:
            return
        self.config = self.config.model_copy(update={"run": self.config.run.adopt_person(earlier.run)})
        made = {
            "imitated": TrainedModel.load(self.folder / IMITATE) is not None,
            "improved": any(self.folder.glob("iteration-*/model.json")),
            "finished": not self._unlearned,
        }
        if made["imitated"]:
            self.config = self.config.after_imitation(earlier)
        before, now = earlier.identity(**made), self.config.identity(**made)
        changed = [short_key(key) for key, value in now.items() if not is_same_setting(before.get(key), value)]
        if changed:
            raise UserError(
                f"{self.folder}: holds a self-training with other settings ({', '.join(changed)}); choose another "
                "folder with --out, or use the same settings to go on with it"
            )
        check_user_files(Personalize(self.config.run).files(), self.folder)
        if made["imitated"] and (changes := self.config.changed_rates(earlier)):
            print_note(
                f"{self.folder}: {', '.join(changes)} for {', '.join(self._unlearned)}; the others stay as they are"
            )
        for tasks in self.config.evaluation.tasks:
            self._check_evaluated(tasks)

    def _check_evaluated(self, tasks: NamedTasksConfig) -> None:
        """Figures of other tasks under the same name would be taken for these."""
        episodes = find_paths(self.folder, f"*/evaluation/{tasks.name}/episodes/*.jsonl")
        if not episodes:
            return
        wanted = {Job(name).name.rpartition("-")[0] for name in list_tasks(self.config.playing(tasks).tasks)}
        others = sorted({path.stem.rpartition("-")[0] for path in episodes} - wanted)
        if others:
            raise UserError(
                f"{self.folder}: evaluations named {tasks.name} are of other tasks as well ({', '.join(others[:3])}); "
                "give the new tasks another name in evaluation.tasks, or choose another folder with --out"
            )


def _asking(model: ModelReference) -> dict[str, Any]:
    """The settings of a run that asks a model."""
    familiar = adapter_defaults(model.adapter).get("familiar")
    return {"model": model.model, "adapter": model.adapter, "familiar": familiar}


def _familiar(start: ModelReference, pairs: Sequence[Pair]) -> list[str] | None:
    """The kinds of things that a model has been taught to judge, with what it learns now."""
    kinds = set(adapter_defaults(start.adapter).get("familiar", ())).union(
        *(find_judged_kinds(pair.reply) for pair in pairs)
    )
    return sorted(kinds) or None
