"""Understanding of answers in human words: which option does an AmbiK annotator's answer mean?"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from housewise.agent.clipr.local_steps.answer_meaning import MeaningWeights, find_meant_options
from housewise.core.errors import DataError
from housewise.experiments.measured_values import MeasuredValue
from housewise.language.embedder import shared_minilm
from housewise.language.words import content_words
from housewise.worlds.choices.ambik import AmbikTask, intended_options, read_ambik

GRID = tuple(
    MeaningWeights(meaning, least) for meaning in (0.0, 0.25, 0.5, 1.0) for least in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)
)
FOLDS = 5
SEED = 0

Reader = Callable[[AmbikTask], tuple[int, ...]]


def measure_reader(reader: str, scenarios: str) -> Iterator[MeasuredValue]:
    """Measure how many answers of AmbiK's annotators are understood.

    What is right comes from the annotator's marked intent, never from the answer.

    Args:
        reader: ``meaning``, ``cross-validated`` (its weights are chosen on other tasks), or a control that understands
            nothing: ``first option``, or ``words`` (the option with the most words of the answer).
        scenarios: File of AmbiK's tasks.
    """
    tasks = [task for task in read_ambik(Path(scenarios)) if len(task.variants) > 1]
    if not tasks:
        raise DataError(f"{scenarios}: no task has options to choose from; give AmbiK's preference tasks")
    readers: Mapping[str, Reader] = {
        "meaning": _reader(MeaningWeights()),
        "first option": lambda task: (0,),
        "words": _read_by_words,
    }
    for task, read in _cross_validated(tasks) if reader == "cross-validated" else ((t, readers[reader]) for t in tasks):
        options, right = read(task), intended_options(task)
        understood = is_understood(task, options)
        yield MeasuredValue(task.id, 0, "understood", understood)
        if right:
            yield MeasuredValue(task.id, 0, "understood_if_intended", understood)
        yield MeasuredValue(task.id, 0, "exactly_the_intended", set(options) == right)


def is_understood(task: AmbikTask, read: Sequence[int]) -> bool:
    """Return whether the option read first meets the intent or, if none does, none was read."""
    right = intended_options(task)
    return read[0] in right if read and right else not read and not right


def _cross_validated(tasks: Sequence[AmbikTask]) -> Iterator[tuple[AmbikTask, Reader]]:
    """Yield each task with the reader that is best on the other folds; the middle one of several."""
    order = random.Random(SEED).sample(list(tasks), len(tasks))
    readers = [_reader(weights) for weights in GRID]
    right = {id(task): [is_understood(task, read(task)) for read in readers] for task in order}
    for fold in range(FOLDS):
        held = order[fold::FOLDS]
        counts = [sum(right[id(task)][n] for task in order if task not in held) for n in range(len(readers))]
        best = [reader for reader, count in zip(readers, counts, strict=True) if count == max(counts)]
        yield from ((task, best[len(best) // 2]) for task in held)


def _reader(weights: MeaningWeights) -> Reader:
    return lambda task: find_meant_options(shared_minilm(), task.answer, task.variants, weights)


def _read_by_words(task: AmbikTask) -> tuple[int, ...]:
    said = set(content_words(task.answer))
    return (max(range(len(task.variants)), key=lambda index: len(said & set(content_words(task.variants[index])))),)
