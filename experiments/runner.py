"""Plays the runs of an experiment that are left, and takes its measures."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import yaml

from housewise.core.errors import UserError, suggest_names
from housewise.core.files import write_json
from housewise.core.folder_locks import exclusive_lock
from housewise.core.formatting import format_duration
from housewise.core.provenance import provenance
from housewise.core.settings import map_texts, merge_nested, nest_value
from housewise.experiments.episode_provenance import MeasurementOrigin
from housewise.experiments.experiment_file import Experiment
from housewise.experiments.functions import check_arguments, check_function_file, copy_function_file, load_function
from housewise.experiments.grid import (
    Cell,
    Grid,
    PlannedRun,
    PlannedTraining,
    cell_folder,
    cell_label,
    memory_chain,
)
from housewise.experiments.measured_values import (
    MeasuredValue,
    Measurement,
    Measuring,
    call_function,
    find_measures,
    parse_values,
    read_measured,
    read_memory,
)
from housewise.experiments.published import read_published
from housewise.experiments.trainings import OpenedTraining, check_run_overrides, check_training_overrides, open_training
from housewise.language.adapters import NONE
from housewise.people.memory import Memory, MemoryFolder, Note
from housewise.rollout.record_reader import read_records
from housewise.rollout.run import Run, has_episodes, load_run
from housewise.rollout.settings import RunSettings
from housewise.rollout.system import System, find_system
from housewise.selftrain.rollouts.engine import RolloutEngine, play_with_model
from housewise.selftrain.trainers import ModelReference
from housewise.selftrain.training_folder import TrainingObserver, play_run

MEMORY, MEMORY_AT_START = "memory", "memory_at_start"

_OF_TRAINED = ("model", "adapter", "models.agent.model", "models.agent.adapter")
_INPUT = re.compile(r"\$\{(\w+)\}")


class _MeasuredEpisode(NamedTuple):
    task: str
    origin: MeasurementOrigin
    values: list[MeasuredValue]


@dataclass(frozen=True)
class ExperimentRunner:
    """Plays an experiment in a folder.

    Args:
        experiment: The experiment, already reduced if ``quick``.
        folder: Folder of its runs.
        observer: Follows every episode and training.
        overrides: Settings of every run, those of trainings included, as ``key=value``, and settings of a training as
            ``TRAINING.key=value``. They win over those of the file.
        execution: Execution settings of every run.
        inputs: Paths of the user's files and folders by the name of the input.
        quick: Whether the settings of ``--quick`` hold.
    """

    experiment: Experiment
    folder: Path
    observer: TrainingObserver
    overrides: Sequence[str] = ()
    execution: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    quick: bool = False

    @cached_property
    def grid(self) -> Grid:
        """The runs of the experiment."""
        return Grid(self.experiment, self.quick)

    def check(self) -> None:
        """Check everything that can be checked before an episode is played.

        Raises:
            UserError: Settings are invalid, a folder holds a run with other settings, or something is not available.
        """
        known = self.experiment.inputs
        if unknown := sorted(self.inputs.keys() - known.keys()):
            raise UserError(f"--input {unknown[0]}: no such input; {suggest_names(unknown[0], known)}")
        asked = {(run.model[0].folder, run.model[1]): run.model for run in self.grid.runs if run.model is not None}
        trainings = self.experiment.trainings.keys()
        check_run_overrides(self.experiment.system, self._overrides_of(), trainings)
        check_training_overrides(self.overrides, trainings - {training.name for training, _ in asked.values()})
        opened = {key: self._open_training(*model) for key, model in asked.items()}
        here = {key for key, training in opened.items() if training.answers_here(key[1])}
        if self.experiment.published is not None:
            read_published(self.experiment.published.file)
        for cell, function in self.grid.function_cells:
            check_arguments(function, self._fill_in(self.function_settings(cell)))
        self.measures  # noqa: B018 (loads the functions)
        for planned in self.grid.runs:
            if planned.memory_function is not None:
                load_function(planned.memory_function.function, f"runs.{planned.name}.memory.function")
                if MemoryFolder(self.folder / planned.folder / MEMORY_AT_START).people():
                    check_function_file(planned.memory_function.function, self.folder / planned.folder)
            key = planned.model and (planned.model[0].folder, planned.model[1])
            # A model that is trained later is not there yet.
            if planned.model is None:
                self._open(planned, {}).check_start()
            elif key in here:
                training, folder, phase = opened[key], self.folder / key[0], key[1]
                engine = training.find_engine(phase, folder, self.observer)
                model = training.train(folder, self.observer)[phase]
                self._open(planned, _agent_settings(engine, phase, model)).check_start()
        for folder, training in {key[0]: training for key, training in opened.items() if key not in here}.items():
            try:
                training.check(self.folder / folder, self.observer)
            except UserError as error:
                raise type(error)(f"trainings.{folder}: {error}") from error

    def play(self) -> None:
        """Play what is left, or call the experiment's function for the cells that are left.

        Raises:
            UserError: A problem that the user can fix. Finished episodes and trainings are kept.
        """
        with exclusive_lock(self.folder):
            for cell, function in self.grid.function_cells:
                self._call_function(cell, function)
            seconds: list[float] = []  # of each run that was played
            for index, planned in enumerate(self.grid.runs):
                many = len(self.grid.runs)
                left = f", {format_duration((many - index) * mean(seconds))} left" if seconds else ""
                seconds += self._play_run(planned, f"{index + 1} of {many}{left}: {planned.label}")

    def _play_run(self, planned: PlannedRun, label: str) -> list[float]:
        """Train the model of a run where it has one, play what is left, and return the seconds of playing, if any."""

        def play(run: Run) -> list[float]:
            began, is_open = time.monotonic(), bool(run.open_jobs)
            play_run(label, run, self.observer)
            return [time.monotonic() - began] if is_open else []

        if planned.model is None:
            self._copy_memory(planned)
            return play(self._open(planned, {}))
        training, phase = planned.model
        opened, folder = self._open_training(training, phase), self.folder / training.folder
        model = opened.train(folder, self.observer)[phase]
        if planned.episodes is not None:
            return []
        self._copy_memory(planned)
        engine, examples = opened.find_engine(phase, folder, self.observer), opened.examples_file(folder, phase)
        # The folder of a learner of ADAPT has its name without spaces.
        name = examples.parent.name

        def open_run(served: Mapping[str, Any]) -> Run:
            return self._open(planned, _agent_settings(engine, name, model, served))

        try:
            return play_with_model(engine, name, model, examples, open_run, play)
        finally:
            engine.stop()

    def measure(self) -> tuple[list[Measurement], list[MeasurementOrigin]]:
        """Return every measure of every finished call and episode of the measured runs, and where these come from.

        Raises:
            UserError: A record is damaged.
        """
        found: list[Measurement] = []
        origins: list[MeasurementOrigin] = []
        for cell, _ in self.grid.function_cells:
            path = self._values_file(cell)
            if not path.exists():
                continue
            measured = read_measured(path)
            # A function may measure more than an experiment is about, such as a control of several experiments.
            known = (each for each in parse_values(path, measured) if each.measure in self.experiment.measures_by_name)
            found.extend((cell, "", value) for value in known)
            origins.append(MeasurementOrigin.of_call(measured.get("made", {})))
        taken: dict[Path, list[_MeasuredEpisode]] = {}
        for planned in self.grid.measured_runs:
            # Levels with patterns of tasks share a run, and follow each other.
            if planned.folder not in taken:
                taken = {planned.folder: list(self._measure_episodes(self.folder / planned.folder))}
            for task, origin, values in taken[planned.folder]:
                if planned.measures_task(task):
                    origins.append(origin)
                    found.extend((planned.cell, planned.name, value) for value in values)
        return found, origins

    def _measure_episodes(self, run: Path) -> Iterator[_MeasuredEpisode]:
        """Yield every measure of every finished episode in the folder of a run."""
        if not (run / "episodes").is_dir():
            return
        memory = read_memory(run / MEMORY_AT_START)
        for record in read_records(run / "episodes"):
            values = [value for name, measure in self.measures.items() for value in measure(name, record, memory)]
            yield _MeasuredEpisode(record.header.task, MeasurementOrigin.of_episode(record.header), values)

    def count_missing_calls(self) -> int:
        """Return how many calls of functions are not finished."""
        return sum(not self._values_file(cell).exists() for cell, _ in self.grid.function_cells)

    def find_run(self, planned: PlannedRun) -> Run:
        """Return a run as far as it is played. That of a trained model is as it was started, if it was."""
        folder = self.folder / planned.folder
        if planned.model is not None and has_episodes(folder / "episodes"):
            return load_run(folder, trust_code=True)
        return self._open(planned, {})

    def settings(self, planned: PlannedRun, model: Mapping[str, Any] | None = None) -> RunSettings:
        """Return the settings of a run.

        Args:
            planned: The run.
            model: Settings of a trained model.
        """
        learn = {"learn": "run" if planned.learns else "never"}
        layers: list[Mapping[str, Any]] = [{"memory": learn}, *planned.settings, {"execution": dict(self.execution)}]
        layers += [model] if model else []
        merged: dict[str, Any] = {}
        for layer in layers:
            for key, value in layer.items():
                merged = merge_nested(merged, nest_value(key, self._fill_in(value)))
        system = find_system(self.experiment.system)
        # What the command line says of the model holds for what is trained.
        overrides = [word for word in self._overrides_of() if not model or word.partition("=")[0] not in _OF_TRAINED]
        found: RunSettings = system.load(self.experiment.config, merged, overrides)
        if not planned.has_memory and not planned.learns:
            return found
        return found.with_changes(memory=self._memory_settings(planned, system(found)))

    def _open(self, planned: PlannedRun, model: Mapping[str, Any]) -> Run:
        system = find_system(self.experiment.system)
        try:
            return Run(system(self.settings(planned, model)), self.folder / planned.folder)
        except UserError as error:
            raise type(error)(f"{planned.label}: {error}") from error

    def _fill_in(self, value: Any) -> Any:
        """Return a setting with the paths of inputs in place of their names."""
        return map_texts(value, lambda text: _INPUT.sub(self._path_of_input, text))

    def _path_of_input(self, reference: re.Match[str]) -> str:
        name, known = reference[1], self.experiment.inputs
        if name not in known:
            hint = suggest_names(name, known) if known else "describe it in the section inputs"
            raise UserError(f"${{{name}}}: no such input; {hint}")
        path = self.inputs.get(name) or os.environ.get(known[name].environment or "")
        if not path:
            variable = f" or set {known[name].environment}" if known[name].environment else ""
            part = "or leave its levels out with --only AXIS=LEVEL,..."
            raise UserError(f"needs {known[name].description}; give --input {name}=PATH{variable}, {part}")
        return path

    # Functions

    def _values_file(self, cell: Cell) -> Path:
        return self.folder / cell_folder("values", cell) / "values.json"

    def function_settings(self, cell: Cell) -> dict[str, Any]:
        """Return the arguments of a function for some levels. The names of inputs stand in place of their paths."""
        experiment = self.experiment
        layers = [experiment.settings, *(experiment.axes[axis][level].settings for axis, level in cell)]
        layers += [experiment.quick.settings] if self.quick else []
        layers += [dict(map(_parse_override, self.overrides))]
        return {key: value for layer in layers for key, value in layer.items()}

    def training_settings(self, training: PlannedTraining, phase: str) -> dict[str, Any]:
        """Return all settings of a training but where and how its runs are played."""
        settings = dict(self._open_training(training, phase).settings)
        runs = {key: value for key, value in settings.pop("run", {}).items() if key not in ("execution", "memory")}
        if (rollouts := settings.get("rollouts", {})).get("engine") == "vllm":
            settings["rollouts"] = {"engine": rollouts["engine"]}
        return {"run": runs, **settings}

    def _call_function(self, cell: Cell, reference: str) -> None:
        """Call a function for some levels, and keep what it measures."""
        path, settings = self._values_file(cell), self._fill_in(self.function_settings(cell))
        if path.exists():
            earlier = read_measured(path)["settings"]
            if other := [key for key in {**settings, **earlier} if settings.get(key) != earlier.get(key)]:
                raise UserError(f"{path}: measured with other settings ({other[0]}); give another folder with --out")
            check_function_file(reference, path.parent)
            return
        copy_function_file(reference, path.parent)
        made = provenance()
        with self.observer.watch_training(cell_label(cell)):
            values = call_function(reference, settings)
        write_json(path, {"settings": settings, "values": [value._asdict() for value in values], "made": made})

    # Memories

    def _memory_settings(self, planned: PlannedRun, system: System[Any]) -> Mapping[str, Any]:
        """Return the settings of a memory in the run's folder, which starts empty or from that of another run."""
        people = MemoryFolder(self.folder / planned.folder / MEMORY_AT_START).people() if planned.has_memory else []
        if not planned.has_memory and not system.uses_memory:
            people = list({system.respondents(job)[-1] for job in system.jobs()})
        folder = {"folder": str(self.folder / planned.folder / MEMORY), "new": True}
        return {**folder, **({"start": people[0]} if len(people) == 1 else {})}

    def _copy_memory(self, planned: PlannedRun) -> None:
        """Copy the memory that a run starts from into its folder, once."""
        folder = self.folder / planned.folder / MEMORY_AT_START
        if MemoryFolder(folder).people():
            return
        # It gets its name when it is complete: a part of it would be taken for the whole.
        partial = folder.with_name(f".{MEMORY_AT_START}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        target = MemoryFolder(partial)
        if planned.memory_function is not None:
            source_function = planned.memory_function
            function = load_function(source_function.function, f"runs.{planned.name}.memory.function")
            copy_function_file(source_function.function, folder.parent)
            target.save(function(self.settings(planned), **source_function.settings))
        if planned.memory is not None:
            source, count = planned.memory
            there = MemoryFolder(self.folder / source.folder / MEMORY)
            for person in there.people():
                memory = there.load(person)
                target.save(memory if count is None else Memory(person, self._sort_notes(source, memory)[:count]))
        if target.people():
            shutil.rmtree(folder, ignore_errors=True)
            partial.rename(folder)

    def _sort_notes(self, planned: PlannedRun, memory: Memory) -> list[Note]:
        """Return the notes of a run's final memory in the order of its episodes, after those that it started from.

        A memory has its notes by time, which depends on how many episodes were played at once.
        """
        runs = map(self.find_run, reversed(list(memory_chain(planned))))
        learned = [
            each.note.id for run in runs for changes in run.memory_changes_of_finished_jobs() for each in changes
        ]
        ranks = {id: rank for rank, id in enumerate(learned)}
        return sorted(memory.notes, key=lambda note: ranks.get(note.id, -1))

    def _open_training(self, training: PlannedTraining, phase: str) -> OpenedTraining:
        words = self._fill_in(self._training_overrides(training.name))
        filled = replace(training, settings=self._fill_in(training.settings))
        return open_training(self.experiment.system, filled, phase, self.execution, words)

    def _training_overrides(self, training: str) -> list[str]:
        return [*(f"run.{word}" for word in self._overrides_of()), *self._overrides_of(training)]

    def _overrides_of(self, training: str | None = None) -> list[str]:
        """Return the overrides ``TRAINING.KEY=VALUE`` of a training, without its name, or those of every run."""
        named = {
            name: [word for word in self.overrides if word.startswith(f"{name}.")] for name in self.experiment.trainings
        }
        if training is not None:
            return [word.removeprefix(f"{training}.") for word in named[training]]
        return [word for word in self.overrides if not any(word in words for words in named.values())]

    # Measures

    @cached_property
    def measures(self) -> dict[str, Measuring]:
        """What takes each measure of a record, by name.

        Raises:
            UserError: The system has no such score, or there is no such function.
        """
        return find_measures(self.experiment, bool(self.grid.function_cells))


def _agent_settings(
    engine: RolloutEngine, phase: str, model: ModelReference, served: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the settings of a run that asks the model of a phase."""
    settings = engine.model_settings(phase, model)
    # Where the adapter is null, a model may get one that fits it.
    return {"models": {"agent": {**settings, "adapter": settings["adapter"] or NONE, **(served or {})}}}


def _parse_override(word: str) -> tuple[str, Any]:
    key, _, value = word.partition("=")
    return key, yaml.safe_load(value)
