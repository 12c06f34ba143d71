"""Where episodes are played one after the other, in a thread, a process or an actor: none of them ends the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from housewise.core.provenance import now, software_versions
from housewise.core.record import Header, Outcome, RecordWriter
from housewise.language.base import ChatModel
from housewise.rollout.episode_loop import EpisodeLoop, Progress
from housewise.rollout.failures import failure_from_error
from housewise.rollout.metered_models import meter_model
from housewise.rollout.models import model_settings
from housewise.rollout.note_events import NoteDroppingWriter
from housewise.rollout.scheduler import ScheduledJob
from housewise.rollout.system import EpisodeSetup, System
from housewise.rollout.usage_limits import Meter


class EpisodeRunner:
    """A system, and what it has opened.

    Args:
        system: plays.
        loading: held while an episode is made.
        ends_run: whether an error concerns the run although it looks as if it concerned the episode alone.
        meter: counts what models take and knows the limits of the run; None where there are none.
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
        """Play an episode; its record ends with what is returned.

        Args:
            assignment: the episode, and what it goes by.
            models: by role.
            folder: of the record.
            progress: told of how it goes.

        Raises:
            LimitReachedError: when a limit of the run is reached; the episode is played again then.
            UserError: when something outside the program is wrong that concerns more than this episode.
        """
        self._system.check()
        job, meter = scheduled.job, self._meter
        chosen = model_settings(self._system)
        models = {role: meter_model(model, chosen[role].model, meter) for role, model in models.items()}

        def checked(done: int, of: int, words: str) -> None:
            if meter is not None:
                meter.check_time()
            progress(done, of, words)

        writer = RecordWriter(folder, job.name)
        try:
            with self._loading:
                opened = self._system.open(job, models, scheduled.memory, scheduled.job_data, checked)
            header = self._header(scheduled, opened, writer.attempt)
            takes = writer if self._learns(scheduled) else NoteDroppingWriter(writer)
            return EpisodeLoop(opened.world, opened.agent, takes, opened.limits, checked).play(header)
        except Exception as error:
            if self._ends_run(error):
                raise
            failure = failure_from_error(error)
            writer.write(failure)
            if failure.traceback:
                # Nobody knows what state a defect leaves it in.
                self.close()
            return failure
        finally:
            writer.close()

    def close(self) -> None:
        """Release what has been opened."""
        self._system.close()

    def _learns(self, scheduled: ScheduledJob) -> bool:
        """Whether the memory is of the person who reacts."""
        return scheduled.memory is None or self._system.is_respondent(scheduled.job, scheduled.memory.person)

    def _header(self, scheduled: ScheduledJob, opened: EpisodeSetup, attempt: int) -> Header:
        system, job = self._system, scheduled.job
        return Header(
            system=system.name,
            task=job.task.name,
            group=job.task.group,
            run=job.run,
            attempt=attempt,
            seed=job.seed,
            agent=system.agent,
            person=job.task.person,
            models={role: getattr(system.settings.models, role).model for role in system.roles},
            settings=system.settings.model_dump(mode="json", exclude={"execution": {"ray"}}),
            memory=None if scheduled.memory is None else scheduled.memory.digest,
            setting={} if opened.initial_state is None else opened.initial_state.model_dump(mode="json"),
            software=software_versions(),
            started=now(),
        )
