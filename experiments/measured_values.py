"""What experiments measure: values of episodes and of an experiment's functions, and what takes them of records."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from housewise.core.errors import DataError, UserError, suggest_names
from housewise.core.record import Record
from housewise.core.text_files import read_json
from housewise.experiments.experiment_file import Experiment
from housewise.experiments.functions import load_function
from housewise.experiments.grid import Cell
from housewise.people.memory import Memory, MemoryFolder
from housewise.rollout.scores import USAGE, Score
from housewise.rollout.system import find_system

_NO_VALUES = "not the values of an experiment; delete it to measure them again"


class MeasuredValue(NamedTuple):
    """A measure of an episode, or of what an experiment's function has tried.

    Attributes:
        task: Name of the task.
        repeat: Number among the episodes of the task, from 0.
        measure: Name of the measure.
        value: Value in stored units: a share of 1, not a percentage.
        weight: Weight in means.
    """

    task: str
    repeat: int
    measure: str
    value: float
    weight: float = 1.0


Measurement = tuple[Cell, str, MeasuredValue]
"""Levels, name of the run, and value."""

Measuring = Callable[[str, Record, Memory | None], Iterator[MeasuredValue]]
"""Takes a measure, given its name, of an episode and of the memory that its run started from."""


def find_measures(experiment: Experiment, has_functions: bool) -> dict[str, Measuring]:
    """Return what takes each measure of a record, by name.

    Args:
        experiment: Names the measures.
        has_functions: Whether functions measure some of its cells; they may measure what is no score.

    Raises:
        UserError: The system has no such score, or there is no such function.
    """
    found: dict[str, Measuring] = {}
    scores = {score.name: score for score in (*USAGE, *find_system(experiment.system).scores)}
    for name, measure in experiment.measures_by_name.items():
        if measure is not None and measure.function is not None:
            found[name] = _function_taker(
                measure.function, load_function(measure.function, f"measures.{name}.function")
            )
        elif name in scores:
            found[name] = _score_taker(scores[name])
        elif measure is None or not has_functions:
            raise UserError(f"measures: no score {name!r}; {suggest_names(name, list(scores))}")
    return found


def _score_taker(score: Score) -> Measuring:
    def take(name: str, record: Record, memory: Memory | None) -> Iterator[MeasuredValue]:
        value = score.value_in(record.result)
        if value is not None:
            weight = 1.0 if score.weight is None else float(record.result.scores.get(score.weight, 0.0))
            yield MeasuredValue(record.header.task, record.header.repetition, name, value, weight)

    return take


def _function_taker(reference: str, function: Callable[..., float | tuple[float, float] | None]) -> Measuring:
    needs_memory = "memory" in inspect.signature(function).parameters
    remedy = "return a number, or (number, weight), or None where an episode has no value"

    def take(name: str, record: Record, memory: Memory | None) -> Iterator[MeasuredValue]:
        found = function(record, memory=memory) if needs_memory else function(record)
        if found is not None:
            value, weight = found if isinstance(found, tuple) and len(found) == 2 else (found, 1.0)
            measured = MeasuredValue(record.header.task, record.header.repetition, name, value, weight)
            yield _check_numbers(measured, reference, remedy)

    return take


def call_function(reference: str, settings: Mapping[str, Any]) -> list[MeasuredValue]:
    """Return what an experiment's function measures.

    Args:
        reference: Name of the function.
        settings: Its arguments.

    Raises:
        UserError: There is no such function, or it yields what no table can hold.
    """
    remedy = "yield (task, repeat, measure, value), with a weight behind it if it has one"
    found: dict[tuple[Any, ...], MeasuredValue] = {}
    returned = load_function(reference, "function")(**settings)
    if not isinstance(returned, Iterable):
        raise UserError(f"{reference}: returned {returned!r}; {remedy}")
    for row in returned:
        try:
            measured = MeasuredValue(*row)
            is_duplicate = measured[:3] in found
        except TypeError as error:
            raise UserError(f"{reference}: yielded {row!r}; {remedy}") from error
        if is_duplicate:
            raise UserError(
                f"{reference}: yielded two values of {measured.measure} in {measured.task}, repeat {measured.repeat}; "
                "number the repeats of a task"
            )
        found[measured[:3]] = _check_numbers(measured, reference, "leave it out")
    return list(found.values())


def _check_numbers(measured: MeasuredValue, reference: str, remedy: str) -> MeasuredValue:
    """Return a value of a function, and its weight, as floats.

    Args:
        measured: The value.
        reference: Name of the function.
        remedy: What its author can do.

    Raises:
        UserError: The value or its weight is not a finite number, or the weight is negative.
    """
    for name, number in (("value", measured.value), ("weight", measured.weight)):
        try:
            is_finite = math.isfinite(number)
        except (TypeError, OverflowError):
            is_finite = False
        if not is_finite or (name == "weight" and number < 0):
            problem = "is negative" if is_finite else "is not a finite number"
            raise UserError(
                f"{reference}: {name} {number!r} of {measured.measure} in {measured.task} {problem}; {remedy}"
            )
    return measured._replace(value=float(measured.value), weight=float(measured.weight))


def parse_values(path: Path, measured: Mapping[str, Any]) -> list[MeasuredValue]:
    """Return the values in a function's file, whose path is for the error."""
    try:
        values = [MeasuredValue(**each) for each in measured["values"]]
    except TypeError as error:
        raise DataError(f"{path}: {_NO_VALUES}") from error
    return [value._replace(value=float(value.value)) for value in values]


def read_measured(path: Path) -> dict[str, Any]:
    """Return the settings and values of a function's file."""
    found = read_json(path)
    if not isinstance(found, dict) or not {"settings", "values"} <= found.keys():
        raise DataError(f"{path}: {_NO_VALUES}")
    return found


def read_memory(folder: Path) -> Memory | None:
    """Return the memory that a run started from; None for an empty one, or for those of several people."""
    people = MemoryFolder(folder).people()
    return MemoryFolder(folder).load(people[0]) if len(people) == 1 else None
