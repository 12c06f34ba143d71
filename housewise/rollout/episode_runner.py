"""Plays scheduled episodes one after the other in a thread, process or actor, and records failed episodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from housewise.core.provenance import checkout, now, software_versions
from housewise.core.record import Header, Outcome
from housewise.core.record_files import RecordWriter
from housewise.language.base import ChatModel
from housewise.rollout.episode_loop import EpisodeLoop, Progress
from housewise.rollout.failures import failure_from_error
from housewise.rollout.metered_models import meter_model
from housewise.rollout.models import model_settings
from housewise.rollout.note_events import NoteDroppingWriter
from housewise.rollout.run_usage import Meter
from housewise.rollout.scheduler import ScheduledJob
from housewise.rollout.system import EpisodeContext, EpisodeSetup, System


class EpisodeRunner:
    """Plays episodes of one system.

    Args:
        system: System that plays.
        loading: Lock that is held while an episode is opened, or None for no lock.
        ends_run: Returns whether an error ends the whole run although its type suggests that it concerns one episode.
        meter: Counts the tokens of models and checks the limits of the run, or None for a run without limits.
    """

    def __init__(
        self,
        system: System[Any],
        loading: AbstractContextManager[object] | None = None,
        ends_run: Callable[[Exception], bool] | None = None,
        meter: Meter | None = None,
    ) -> None:
        self._system = system
        self._loading = loading or nullcontext()
        self._ends_run = ends_run or (lambda error: False)
        self._meter = meter

    def play(
        self, scheduled: ScheduledJob, models: Mapping[str, ChatModel], folder: Path, progress: Progress
    ) -> Outcome:
        """Play an episode and return its outcome, which is also the last line of its record.

        Args:
            scheduled: Episode, with its memory and data.
            models: Chat models by role.
            folder: Folder for the record.
            progress: Called while the episode is played.

        Raises:
            LimitReachedError: The run reached a limit. The episode is played again when the run is resumed.
            UserError: A problem that the user can fix and that concerns more than this episode.
        """
        self._system.check()
        job, meter = scheduled.job, self._meter
        chosen = model_settings(self._system)
        models = {role: meter_model(model, chosen[role].model, meter) for role, model in models.items()}

        def check_time_and_report(done: int, of: int, words: str) -> None:
            if meter is not None:
                meter.check_time()
            progress(done, of, words)

        writer = RecordWriter(folder, job.name, self._system.interactive)
        try:
            with self._loading:
                context = EpisodeContext(job, models, scheduled.memory, scheduled.job_data, check_time_and_report)
                opened = self._system.open(context)
            header = self._header(scheduled, opened, writer.attempt)
            takes = writer if self._learns(scheduled) else NoteDroppingWriter(writer)
            return EpisodeLoop(opened.world, opened.agent, takes, opened.limits, check_time_and_report).play(header)
        except Exception as error:
            if self._ends_run(error):
                raise
            failure = failure_from_error(error)
            writer.write(failure)
            if failure.traceback:
                # The system may be in an invalid state after a defect.
                self.close()
            return failure
        finally:
            writer.close()

    def close(self) -> None:
        """Release what the system has opened."""
        self._system.close()

    def _learns(self, scheduled: ScheduledJob) -> bool:
        """Return whether notes may be recorded: the memory must be that of the person who reacts."""
        return scheduled.memory is None or self._system.is_respondent(scheduled.job, scheduled.memory.person)

    def _header(self, scheduled: ScheduledJob, opened: EpisodeSetup, attempt: int) -> Header:
        system, job = self._system, scheduled.job
        commit, changed = checkout()
        return Header(
            system=system.name,
            task=job.task.name,
            group=job.task.group,
            repetition=job.run,
            attempt=attempt,
            seed=job.seed,
            agent=system.agent,
            person=job.task.person,
            models={role: getattr(system.settings.models, role).model for role in system.roles},
            settings=system.settings.model_dump(mode="json", exclude={"execution": {"ray"}}),
            memory=None if scheduled.memory is None else scheduled.memory.digest,
            initial_state={} if opened.initial_state is None else opened.initial_state.model_dump(mode="json"),
            software=software_versions(),
            commit=commit,
            changed=changed,
            started=now(),
        )
