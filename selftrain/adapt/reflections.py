"""What was reflected upon in a fold, as files: one for each episode, and one that counts what became of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import cast

from pydantic import ValidationError

from housewise.core.errors import UserError
from housewise.core.files import write_json
from housewise.core.record import Record
from housewise.core.text_files import read_text
from housewise.language.base import ChatModel, TokenScorer
from housewise.people.kitchen.question_topics import default_topics
from housewise.selftrain.adapt.loop import AdaptTraining
from housewise.selftrain.adapt.reflection import (
    Reflected,
    Reflector,
    Student,
    choice,
    preferences_of,
    teacher_preferences,
    thresholds_for,
)
from housewise.selftrain.preferences import Preference


class Reflections:
    """Reflects upon a student's episodes, and chooses what is learned of them.

    Args:
        training: where the student comes from.
        fold: its name.
        folder: of the fold.
        rollouts: the student's episodes.
        oracle: whether the questions are an oracle's and not the student's own; see Reflector.
    """

    def __init__(
        self,
        training: AdaptTraining,
        fold: str,
        folder: Path,
        rollouts: Callable[[], Sequence[Record]],
        oracle: bool = False,
    ) -> None:
        self._training, self._config = training, training.config.reflection
        self._rollouts, self._oracle = rollouts, oracle
        name = f"{'oracle-' if oracle else ''}reflections"
        self._name, self._folder, self._counted = f"{fold}: {name}", folder / name, folder / f"{name}.json"

    def preferences(self) -> list[Preference]:
        """What algorithm 1 chooses, as much of it as is learned; what became of all of it is counted in a file."""
        data = [datum for each in self._compared for datum in each.data]
        thresholds = thresholds_for(data, self._config.questions, self._config.actions)
        chosen = [choice(datum, thresholds) for datum in data]
        figures = {
            "epsilon_1": thresholds.question,
            "epsilon_2": thresholds.action,
            "steps": sum(each.steps for each in self._reflected),
            "compared": len(data),
            "thought_of_a_question": sum(datum.question is not None for datum in data),
            **{f"{name}s": chosen.count(name) for name in ("question", "action")},
            "dropped": chosen.count(None),
        }
        write_json(self._counted, figures)
        return self._drawn(preferences_of(self._compared, thresholds))

    def teachers(self) -> list[Preference]:
        """The teacher's actions instead: the ablation without reflection."""
        return self._drawn(teacher_preferences(self._compared))

    def _drawn(self, preferences: list[Preference]) -> list[Preference]:
        """As many as are learned at most, in their order."""
        most = self._config.most
        if most is None or len(preferences) <= most:
            return preferences
        chosen = random.Random(self._training.seed).sample(range(len(preferences)), most)
        return [preferences[index] for index in sorted(chosen)]

    @cached_property
    def _compared(self) -> list[Reflected]:
        """What counts of what was reflected upon."""
        if not self._config.skip_asked:
            return self._reflected
        return [
            each.model_copy(update={"data": tuple(datum for datum in each.data if not datum.asked)})
            for each in self._reflected
        ]

    @cached_property
    def _reflected(self) -> list[Reflected]:
        records = self._rollouts()
        left = [record for record in records if not self._kept(record).exists()]
        if left:
            with self._training.observer.training(self._name) as progress:
                for done, (record, found) in enumerate(self._reflect(left), start=1):
                    write_json(self._kept(record), found.model_dump(mode="json"))
                    progress(done, len(left), record.header.name)
        return [_read(self._kept(record)) for record in records]

    def _reflect(self, records: Sequence[Record]) -> Iterator[tuple[Record, Reflected]]:
        training, run = self._training, self._training.config.run
        start, workers = training.warmed_up, run.execution.workers
        student = run.changed(model=start.model, adapter=start.adapter).models.agent
        topics = default_topics() if self._oracle else None
        with closing(_scoring(student.open(workers))) as model:
            reflector = Reflector(
                model, training.conversation, training.people, training.embedder, self._config.most_tokens, topics
            )
            threads = ThreadPoolExecutor(workers)
            try:
                asked = {threads.submit(reflector.reflect, record): record for record in records}
                for done in as_completed(asked):
                    yield asked[done], done.result()
            finally:
                # Who interrupts it does not wait for what was not begun.
                threads.shutdown(cancel_futures=True)

    def _kept(self, record: Record) -> Path:
        return self._folder / f"{record.header.name}.json"


def _read(path: Path) -> Reflected:
    try:
        return Reflected.model_validate_json(read_text(path))
    except (UserError, ValidationError) as error:
        raise UserError(f"{path}: is damaged; delete it to reflect upon that episode again") from error


def _scoring(model: ChatModel) -> Student:
    if not isinstance(model, TokenScorer):
        model.close()
        raise UserError(f"model {model.name}: does not tell how likely given texts are; reflection needs a local model")
    return cast(Student, model)
