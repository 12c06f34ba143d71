"""Runs and their folders: plays the open episodes, records each of them, and never plays one twice."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from housewise.core.console import print_note
from housewise.core.errors import UserError
from housewise.core.files import find_paths, write_json
from housewise.core.folder_locks import exclusive_lock
from housewise.core.formatting import plural
from housewise.core.html_tables import html_table, html_text
from housewise.core.record import Event, Header
from housewise.core.record_files import FAILED, FINISHED
from housewise.core.text_files import read_json
from housewise.people.memory import Memory
from housewise.people.memory.note import check_person_name
from housewise.rollout.executor import RunCallback
from housewise.rollout.executor_choice import open_executor
from housewise.rollout.failures import FailedEpisodesError, RunEndedError, read_failures
from housewise.rollout.interrupted_events import read_interrupted_events
from housewise.rollout.models import check_models
from housewise.rollout.note_events import MemoryChange, memory_changes
from housewise.rollout.record_reader import read_record, read_records
from housewise.rollout.run_memory import RunMemory
from housewise.rollout.run_meter import RunMeter, check_prices, open_meter
from housewise.rollout.run_usage import LimitReachedError
from housewise.rollout.saved_settings import (
    adapter_option,
    check_user_files,
    check_weights_digests,
    copy_user_files,
    find_changed_settings,
    parse_saved_settings,
    read_run_settings,
    save_weights_digests,
)
from housewise.rollout.scheduler import Scheduler
from housewise.rollout.scores import compute_metrics
from housewise.rollout.settings import RunSettings, setting_assignments
from housewise.rollout.system import Job, System, find_system

_MAX_NAMED = 3


class Run:
    """A run in its folder, with `config.json`, `episodes/*.jsonl`, `metrics.json` and, if it uses a memory, `memory/`.

    Args:
        system: System with the settings of the run.
        folder: Folder of the run, which is created if it is missing.

    Raises:
        UserError: The folder holds episodes that were played with other settings, or the settings are invalid.
    """

    def __init__(self, system: System[Any], folder: Path) -> None:
        self.folder, self.episodes = folder, folder / "episodes"
        self.system = self._adopt_person_of_folder(system)
        self._check_folder()
        self.system.check()
        check_prices(self.system)
        self.meter: RunMeter | None = None
        jobs = self.system.jobs()
        self.jobs = jobs[: self.settings.execution.max_episodes]
        """Episodes of the run."""
        self.skipped_episodes = len(jobs) - len(self.jobs)
        """Number of episodes beyond `max_episodes`."""
        self._can_start = False

    def _repr_html_(self) -> str:
        """Return the run's state, and its mean scores if it has been played, as a table for notebooks."""
        summary = f"{self.folder}: {self.system.name}, {len(self.finished_jobs)} of {plural(len(self.jobs), 'episode')}"
        try:
            means = read_json(self.folder / "metrics.json")["overall"]
            scores = [score for score in self.system.scores if score.name in means]
            rows = [(score.heading, f"{score.in_display_units(means[score.name]):.1f}") for score in scores]
        except (UserError, KeyError, TypeError, ValueError):  # nothing has been played, or the file is damaged
            return html_text(f"{summary} finished")
        return html_table(f"{summary} finished", ("score", "mean"), rows)

    @property
    def settings(self) -> RunSettings:
        """Settings of the run."""
        found: RunSettings = self.system.settings
        return found

    @property
    def finished_jobs(self) -> list[Job]:
        """Jobs with a finished record."""
        return [job for job in self.jobs if (self.episodes / f"{job.name}{FINISHED}").exists()]

    @property
    def open_jobs(self) -> list[Job]:
        """Jobs that are still to be played."""
        done = {job.name for job in self.finished_jobs}
        return [job for job in self.jobs if job.name not in done]

    def check_start(self) -> None:
        """Check that the open episodes can be played, before a folder is created or a model is loaded.

        Raises:
            UserError: A memory, simulator, model or server is not available.
        """
        if self._can_start or not self.open_jobs:
            return
        if self.system.uses_memory:
            if self.settings.memory.start is None:
                for job in self.open_jobs:
                    check_person_name(job.task.person, f"task {job.task.name}: person")
            self._run_memory.check_memories_exist()
        # Machines of a cluster may have what this machine lacks.
        if self.settings.execution.ray is not None:
            return
        self.system.check_start()
        check_models(self.system)
        self._can_start = True

    def play(self, callback: RunCallback | None = None) -> dict[str, Any]:
        """Play all open episodes and return the metrics of all finished ones, as in `metrics.json`.

        Args:
            callback: Called when episodes start and end, or None.

        Raises:
            LimitReachedError: The run reached a limit. The error has the metrics of the finished episodes.
            FailedEpisodesError: Some episodes failed. All others were played, and the error has their metrics.
            UserError: A problem that the user can fix. Finished episodes are kept.
        """
        self.check_start()
        is_new = not self.folder.exists()
        with exclusive_lock(self.folder):
            try:
                # Another program may have played in this folder in the meantime.
                self._check_folder()
                return self._play(callback or RunCallback())
            except LimitReachedError:
                # The folder keeps the usage of the run.
                raise
            except BaseException:
                if is_new and not find_paths(self.episodes, "*"):
                    shutil.rmtree(self.folder, ignore_errors=True)
                raise

    def _play(self, callback: RunCallback) -> dict[str, Any]:
        stopped: RunEndedError | None = None
        if self.open_jobs:
            write_json(self.folder / "config.json", self.settings.model_dump(mode="json"))
            copy_user_files(self.system.files(), self.folder, anew=not self.finished_jobs)
            if not self.finished_jobs:
                save_weights_digests(self.system, self.folder)
            try:
                with self._open_meter() as meter, self._run_memories() as memories:
                    self._print_person()
                    learn = self.settings.memory.learn
                    scheduler = Scheduler(
                        self.jobs,
                        self.system.job_data,
                        memories,
                        self._memory_owner,
                        self._read_memory_changes,
                        learn,
                        self._read_interrupted_events,
                        self._changes_played_before(),
                    )
                    open_executor(self.system, self.episodes, callback, meter).play(scheduler)
            except RunEndedError as error:
                stopped = error
                # The folder may not exist if nothing has been played.
                self.episodes.mkdir(parents=True, exist_ok=True)
        else:
            self._save_pending_notes()
        records = (each for each in read_records(self.episodes) if each.header.system == self.system.name)
        finished = [(record.header, record.result) for record in records]
        failures = read_failures(self.episodes)
        figures = compute_metrics(finished, self.system.scores, {each.name: each.failure for each in failures})
        write_json(self.folder / "metrics.json", figures)
        if isinstance(stopped, LimitReachedError):
            done, left = len(self.finished_jobs), len(self.open_jobs)
            # Episodes of other threads may have ended in the meantime.
            words = (self.meter and self.meter.describe_reached_limit()) or stopped
            raise LimitReachedError(
                f"{words}: {done} of {len(self.jobs)} episodes are played and {left} are left", figures
            )
        if stopped is not None:
            stopped.figures = figures
            raise stopped
        mine = {job.name for job in self.jobs}
        if failed := [each for each in failures if each.name in mine]:
            raise FailedEpisodesError.summarize(failed, len(self.jobs), figures)
        return figures

    @contextmanager
    def _open_meter(self) -> Iterator[RunMeter | None]:
        """Open the meter of the run, and save the usage at the end."""
        self.meter = open_meter(self.system, self.folder)
        if self.meter is None:
            yield None
            return
        self.meter.check()
        try:
            yield self.meter
        finally:
            self.meter.save()

    def _save_pending_notes(self) -> None:
        """Save the notes of a run that was killed after its last episode, before it saved the memories."""
        if self.system.uses_memory and self.settings.memory.learn != "never":
            memories = self._run_memory.load_memories(self.memory_changes_of_finished_jobs())
            if not self._run_memory.is_saved(memories):
                self._run_memory.save(memories)

    @property
    def _run_memory(self) -> RunMemory:
        return RunMemory(self.folder / "memory", self.settings.memory, set(map(self._memory_owner, self.jobs)))

    @contextmanager
    def _run_memories(self) -> Iterator[dict[str, Memory] | None]:
        """Load the memories that episodes use, and save the changed ones at the end."""
        if not self.system.uses_memory:
            yield None
            return
        run_memory, learn = self._run_memory, self.settings.memory.learn
        if learn != "never":
            run_memory.check_writable()
        memories = run_memory.load_memories()
        try:
            yield memories
        finally:
            if learn != "never":
                # Episodes may have ended after the run was stopped.
                run_memory.save(run_memory.load_memories(self.memory_changes_of_finished_jobs()))

    def memory_changes_of_finished_jobs(self) -> Iterator[list[MemoryChange]]:
        """Return the events of each finished episode that change memories, in the order of the run's jobs."""
        return map(self._read_memory_changes, self.finished_jobs)

    def _changes_played_before(self) -> dict[str, list[MemoryChange]]:
        """Return the memory changes of each finished episode by name. They are read if later episodes recall them."""
        recalls = self.system.uses_memory and self.settings.memory.learn == "episode"
        return {job.name: self._read_memory_changes(job) if recalls else [] for job in self.finished_jobs}

    def _memory_owner(self, job: Job) -> str:
        """Return the person whose memory an episode uses."""
        return self.settings.memory.start or job.task.person

    def _read_memory_changes(self, job: Job) -> list[MemoryChange]:
        # Records of earlier versions may hold notes of another person.
        if not self.system.is_respondent(job, self._memory_owner(job)):
            return []
        return memory_changes(read_record(self.episodes / f"{job.name}{FINISHED}"))

    def _read_interrupted_events(self, job: Job) -> tuple[Event, ...]:
        """Return the events of interrupted attempts at an episode.

        Attempts with other settings are ignored: settings may change as long as no episode has finished.
        """

        def is_same_job(header: Header) -> bool:
            try:
                then = parse_saved_settings(header.system, header.settings, job.name, strict=False, trust_code=True)
            except UserError:
                return False
            return header.seed == job.seed and not find_changed_settings(then.identity, self.settings.identity)

        return read_interrupted_events(self.episodes, job.name, self.system.replayed_events, is_same_job)

    def _adopt_person_of_folder(self, system: System[Any]) -> System[Any]:
        """Return the system with the person of the run in the folder, unless the user chose a person."""
        path = self.folder / "config.json"
        settings: RunSettings = system.settings
        if not settings.is_person_from_memory or not path.exists() or not has_episodes(self.episodes):
            return system
        resumed = settings.adopt_person(read_run_settings(path, trust_code=True))
        return system if resumed is settings else type(system)(resumed)

    def _print_person(self) -> None:
        """Say who is played for if the memory's name alone selects the person, and why notes are not saved."""
        whose, learn = self.settings.memory.start, self.settings.memory.learn
        if whose is None or not self.system.uses_memory:
            return
        respondents = [names for names in map(self.system.respondents, self.jobs) if names]
        others = list(dict.fromkeys(names[0] for names in respondents if whose not in names))
        if others and learn != "never":
            listed = ", ".join(others[:_MAX_NAMED]) + (" and others" if len(others) > _MAX_NAMED else "")
            remedies = [
                *([f"--memory {others[0]}"] if len(others) == 1 else []),
                *setting_assignments(self.settings.memory_person_settings),
            ] or ["the memory of the one person who is played for"]
            print_note(
                f"success is measured by the preferences of {listed}, so the memory of {whose} is read but gets no "
                f"notes; {' or '.join(remedies)} gets them"
            )
        elif self.settings.is_person_from_memory:
            print_note(
                f"this run is scored by the preferences of {whose}, whose memory it starts from; person=NAME chooses "
                "somebody else"
            )

    def _check_folder(self) -> None:
        path = self.folder / "config.json"
        # Without a played episode, other settings lose nothing.
        has_played = has_episodes(self.episodes)
        if not path.exists():
            if has_played:
                raise UserError(
                    f"{path}: is missing, so that nobody knows with which settings the episodes beside it were played; "
                    "restore it, or choose another folder with --out"
                )
            return
        # The settings are only compared, so that trusting their code is safe.
        earlier = read_run_settings(path, trust_code=True)
        if not has_played:
            return
        if earlier.system != self.settings.system:
            raise UserError(
                f"{self.folder}: holds a run of {earlier.system}, not of {self.settings.system}; choose another folder "
                "with --out"
            )
        if changed := find_changed_settings(earlier.identity, self.settings.identity):
            same = f"the same settings{adapter_option(earlier) if 'adapter' in changed else ''}"
            raise UserError(
                f"{self.folder}: holds a run with other settings ({', '.join(changed)}); choose another folder with "
                f"--out, or use {same} to resume it"
            )
        if find_paths(self.episodes, f"*{FINISHED}"):
            check_user_files(self.system.files(), self.folder)
            check_weights_digests(self.system, self.folder)


def load_run(folder: Path | str, trust_code: bool = False) -> Run:
    """Open the run in a folder, to inspect or resume it.

    Args:
        folder: Folder of the run.
        trust_code: Whether code that its settings name, such as a planner in a file, may be imported and thereby run.

    Raises:
        UserError: The folder holds no run, its system is not installed, or it names code that is not trusted.
    """
    folder = Path(folder)
    path = folder / "config.json"
    if not path.is_file():
        raise UserError(f"{folder}: holds no run (it has no config.json); name the folder of a run")
    settings = read_run_settings(path, trust_code)
    return Run(find_system(settings.system)(settings), folder)


def has_episodes(episodes: Path) -> bool:
    """Return whether a folder of records has an episode that finished or failed."""
    return any(path.name.endswith((FINISHED, FAILED)) for path in find_paths(episodes, "*"))
