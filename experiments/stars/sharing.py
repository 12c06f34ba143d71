"""Runs of STARS under one condition after the other, in which a model is not asked again for what it has said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from housewise.agent.stars.experiment_conditions import find_condition
from housewise.core.record import Event, Header
from housewise.core.record_files import FINISHED
from housewise.rollout.record_reader import read_record
from housewise.rollout.saved_settings import check_user_files, find_changed_settings, parse_saved_settings
from housewise.rollout.system import EpisodeContext, EpisodeSetup, Job
from housewise.systems.stars.record import RepairEvent, RetrievedEvent, SelectionEvent
from housewise.systems.stars.settings import StarsSettings
from housewise.systems.stars.system import Stars


class Sharing(Stars):
    """STARS that goes by what the same model was told in runs under other conditions.

    Conditions have their first trees in common, and their repairs where they repair. Calls and tokens are counted for
    each, as if each had asked.

    Args:
        settings: of the run.
        others: folders of runs of the same tasks under other conditions.

    Raises:
        UserError: see System.
    """

    def __init__(self, settings: StarsSettings, others: Sequence[Path] = ()) -> None:
        super().__init__(settings)
        self._others = tuple(others)

    def job_data(self, job: Job) -> tuple[Event, ...]:
        """See System.material: what the model said under other conditions."""
        return tuple(event for folder in self._others for event in self._shared_events(folder, job))

    def open(self, context: EpisodeContext) -> EpisodeSetup:
        """See System.open."""
        events = (*context.job.interrupted_events, *context.job_data)
        return super().open(replace(context, job=replace(context.job, interrupted_events=events), job_data=None))

    def _shared_events(self, folder: Path, job: Job) -> Iterator[Event]:
        path = folder / "episodes" / f"{job.name}{FINISHED}"
        if not path.is_file():
            return
        record = read_record(path)
        if not self._alike(record.header):
            return
        check_user_files(self.files(), folder)
        then, now = find_condition(record.header.agent), self.settings.agent.parts
        if then.retrieval == now.retrieval:
            yield from record.of_type(RetrievedEvent)
            yield from record.of_type(RepairEvent)
        if (then.choice, then.hints) == (now.choice, now.hints):
            yield from record.of_type(SelectionEvent)

    def _alike(self, header: Header) -> bool:
        """Whether an episode was played with the same model and settings but for the condition."""
        then = parse_saved_settings(header.system, header.settings, header.task, strict=False, trust_code=True)
        return set(find_changed_settings(then.identity, self.settings.identity)) <= {"condition"}
