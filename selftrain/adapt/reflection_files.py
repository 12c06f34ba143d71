"""Files with the reflections on the episodes of a fold: one for each episode, and one with counts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import cast

from housewise.core.errors import UserError
from housewise.core.files import write_json
from housewise.core.record import Record
from housewise.core.validation import read_model
from housewise.language.base import ChatModel, TokenScorer
from housewise.people.kitchen.question_topics import default_topics
from housewise.selftrain.adapt.adapt_training import AdaptTraining
from housewise.selftrain.adapt.record_reflection import (
    EpisodeReflection,
    choose_thresholds,
    is_question,
    reflect_on_record,
    teacher_preferences,
)
from housewise.selftrain.adapt.reflection_dpo import ReflectionDPO, Student, dpo_dataset, reflection
from housewise.selftrain.examples import Preference


class ReflectionFiles:
    """Reflects on a student's episodes, and selects the preferences that are learned from them.

    Args:
        training: The training that the student comes from.
        folder: Folder of the fold.
        rollouts: Returns the records of the student's episodes.
        oracle: Whether the questions are an oracle's instead of the student's; see reflect_on_record.
        skip_asked: Whether steps at which the student asks are left out. None is the value of the settings.
    """

    def __init__(
        self,
        training: AdaptTraining,
        folder: Path,
        rollouts: Callable[[], Sequence[Record]],
        oracle: bool = False,
        skip_asked: bool | None = None,
    ) -> None:
        self._training, self._config = training, training.config.reflection
        self._rollouts, self._oracle = rollouts, oracle
        self._skip_asked = self._config.skip_asked if skip_asked is None else skip_asked
        name = f"{'oracle-' if oracle else ''}reflections"
        counts = name if skip_asked is None else f"{name}-{'asked-skipped' if skip_asked else 'all'}"
        self._name, self._folder, self._counts_file = f"{folder.name}: {name}", folder / name, folder / f"{counts}.json"

    def preferences(self) -> list[Preference]:
        """Return the preferences of algorithm 1, at most as many as are learned, and write the counts of all steps."""
        data = [step for each in self._counted_reflections for step in each.data]
        thresholds = choose_thresholds(data, self._config.questions, self._config.actions)
        targets = [reflection(step, thresholds) for step in data]
        figures = {
            "epsilon_1": thresholds.question,
            "epsilon_2": thresholds.action,
            "steps": sum(each.steps for each in self._all_reflections),
            "compared": len(data),
            "thought_of_a_question": sum(step.question is not None for step in data),
            **{f"{name}s": targets.count(name) for name in ("question", "action")},
            "dropped": targets.count(None),
        }
        write_json(self._counts_file, figures)
        pairs = (dpo_dataset(each.data, thresholds, each.episode) for each in self._counted_reflections)
        return self._sample(list(chain.from_iterable(pairs)))

    def teacher_preferences(self) -> list[Preference]:
        """Return preferences for the teacher's actions: the ablation without reflection."""
        return self._sample(teacher_preferences(self._counted_reflections))

    def _sample(self, preferences: list[Preference]) -> list[Preference]:
        """Return random preferences in order, at most as many as are learned."""
        most = self._config.max_preferences
        if most is None or len(preferences) <= most:
            return preferences
        chosen = random.Random(self._training.seed).sample(range(len(preferences)), most)
        return [preferences[index] for index in sorted(chosen)]

    @cached_property
    def _counted_reflections(self) -> list[EpisodeReflection]:
        """The reflections without steps that the settings skip."""
        if not self._skip_asked:
            return self._all_reflections
        return [
            each.model_copy(update={"data": tuple(step for step in each.data if not is_question(step.student))})
            for each in self._all_reflections
        ]

    @cached_property
    def _all_reflections(self) -> list[EpisodeReflection]:
        records = self._rollouts()
        left = [record for record in records if not self._file_of(record).exists()]
        if left:
            with self._training.observer.watch_training(self._name) as progress:
                for done, (record, found) in enumerate(self._reflect(left), start=1):
                    write_json(self._file_of(record), found.model_dump(mode="json"))
                    progress(done, len(left), record.header.name)
        remedy = "delete it to reflect on that episode again"
        return [read_model(self._file_of(record), EpisodeReflection, remedy) for record in records]

    def _reflect(self, records: Sequence[Record]) -> Iterator[tuple[Record, EpisodeReflection]]:
        training, run = self._training, self._training.config.run
        start, workers = training.warm_up_model, run.execution.workers
        student = run.with_changes(model=start.model, adapter=start.adapter).models.agent
        topics = default_topics() if self._oracle else None
        with closing(_check_scores_texts(student.open(workers))) as model:
            method = ReflectionDPO(model, training.prompt, self._config.max_tokens)
            threads = ThreadPoolExecutor(workers)
            try:
                asked = {
                    threads.submit(
                        reflect_on_record, method, record, training.people, training.embedder, topics
                    ): record
                    for record in records
                }
                for done in as_completed(asked):
                    yield asked[done], done.result()
            finally:
                # An interrupt does not wait for episodes that have not begun.
                threads.shutdown(cancel_futures=True)

    def _file_of(self, record: Record) -> Path:
        return self._folder / f"{record.header.name}.json"


def _check_scores_texts(model: ChatModel) -> Student:
    if not isinstance(model, TokenScorer):
        model.close()
        raise UserError(
            f"model {model.name}: does not report the likelihood of given texts; reflection needs a local model"
        )
    return cast(Student, model)
