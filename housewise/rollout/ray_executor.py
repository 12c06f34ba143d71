"""Plays episodes on a Ray cluster: copies of the system are actors, and so are local models."""

from __future__ import annotations

import logging
import socket
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util.actor_pool import ActorPool
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from housewise.core.errors import UserError
from housewise.core.files import write_text
from housewise.core.record import Outcome, Result
from housewise.core.record_files import FAILED, FINISHED, PARTIAL
from housewise.core.render_devices import set_device_turn
from housewise.language import ChatModel
from housewise.rollout.episode_loop import Progress
from housewise.rollout.episode_runner import EpisodeRunner
from housewise.rollout.executor import Executor
from housewise.rollout.models import model_settings
from housewise.rollout.ray_models import (
    COORDINATOR,
    POLL_SECONDS,
    FolderContent,
    ModelOpener,
    last_line,
    pack_model_folders,
    raise_user_error,
    start_models,
)
from housewise.rollout.run_meter import RunMeter
from housewise.rollout.run_usage import LimitReachedError, RunUsage
from housewise.rollout.scheduler import ScheduledJob, Scheduler
from housewise.rollout.system import Job, System

# Maximum number of retries of an episode whose worker was lost; beyond it the episode itself kills workers. Until Ray
# notices that a machine is gone, several tries fail at once, which count.
_RETRIES = 50

News = Mapping[str, tuple[int, int, str]]
"""Progress of episodes by record name."""


class RayExecutor(Executor):
    """Plays episodes with as many copies of the system as there are workers, on the machines of a Ray cluster.

    Episodes ask the servers that the settings name, or local models: one on each GPU, or one on the CPU that answers
    many episodes together. If a machine is lost, Ray restarts its actors on another one and plays its episodes again.
    Records are written on this machine when they are complete, so that the machines need no shared file system. The
    system's data must be present on every machine.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        # An actor lives as long as a reference to it exists.
        self._models: dict[str, Any] = {}

    def play(self, scheduler: Scheduler) -> None:
        """See `Executor.play`."""
        execution = self._system.settings.execution
        with _cluster_connection(execution.ray or "auto"):
            coordinator = _start_coordinator(self._system, self._meter)
            try:
                self._play(
                    scheduler, self._start_runners(scheduler.count_active_workers(execution.workers)), coordinator
                )
            finally:
                self._update_meter(coordinator)

    def _play(self, scheduler: Scheduler, runners: list[Any], coordinator: Any) -> None:
        pool, playing = ActorPool(runners), dict[str, Job]()
        outcomes, failure = self._report_outcomes(scheduler), None
        while True:
            while failure is None and pool.has_free() and (scheduled := scheduler.take_next()) is not None:
                pool.submit(lambda runner, chosen: runner.play.remote(chosen), scheduled)
                playing[scheduled.job.name] = scheduled.job
                self._callback.on_episode_start(scheduled.job)
            if not pool.has_next():
                break
            try:
                name, text, outcome = pool.get_next_unordered(timeout=POLL_SECONDS)
                self._save_record(name, text, outcome)
                outcomes.report(playing.pop(name), outcome)
            except TimeoutError:
                self._report_progress(coordinator, playing)
            except (RayError, UserError) as error:
                failure = failure or error
        if isinstance(failure, RayError):
            raise_user_error(failure)
        if failure is not None:
            raise failure

    def _save_record(self, name: str, text: str, outcome: Outcome) -> None:
        """Write a record that was made on another machine; see `RecordWriter`."""
        path, failed = self._episodes / f"{name}{FINISHED}", self._episodes / f"{name}{FAILED}"
        write_text(path if isinstance(outcome, Result) else failed, text)
        # A run on this machine may have left an unfinished one.
        (self._episodes / f"{name}{PARTIAL}").unlink(missing_ok=True)
        if isinstance(outcome, Result):
            failed.unlink(missing_ok=True)

    def _start_runners(self, count: int) -> list[Any]:
        workers = self._system.settings.execution.workers
        self._models, by_role = start_models(model_settings(self._system), workers, count)
        # Without num_cpus, Ray requires a free core to start an actor but reserves none, so that the actors of
        # a lost machine can always be restarted.
        made = ray.remote(_RemoteRunner).options(
            max_restarts=-1, max_task_retries=_RETRIES, scheduling_strategy="SPREAD"
        )
        return [
            made.remote(
                self._system,
                self._meter is not None,
                {role: turns[number % len(turns)] for role, turns in by_role.items()},
            )
            for number in range(count)
        ]

    def _report_progress(self, coordinator: Any, playing: Mapping[str, Job]) -> None:
        try:
            news: News = ray.get(coordinator.news.remote(), timeout=POLL_SECONDS)
        except RayError:
            return
        for name in news.keys() & playing.keys():
            self._callback.on_episode_progress(playing[name], *news[name])
        self._update_meter(coordinator)

    def _update_meter(self, coordinator: Any) -> None:
        """Take over the usage that the coordinator has counted, if it can be reached."""
        if self._meter is not None:
            with suppress(RayError):
                self._meter.update(ray.get(coordinator.usage.remote(), timeout=POLL_SECONDS))


class _RemoteRunner:
    """Plays episodes on the machine on which Ray starts it."""

    def __init__(self, system: System[Any], is_metered: bool, openers: Mapping[str, ModelOpener]) -> None:
        self._openers = openers
        if not isinstance(system.settings.execution.gpu, int):
            set_device_turn(ray.get(ray.get_actor(COORDINATOR).place.remote(socket.gethostname())))
        meter = _RemoteMeter() if is_metered else None
        self._runner = EpisodeRunner(system, ends_run=lambda error: isinstance(error, RayError), meter=meter)

    def play(self, scheduled: ScheduledJob) -> tuple[str, str, Outcome]:
        """Play an episode. Return its name, its record as text, and its outcome."""
        name = scheduled.job.name
        try:
            with TemporaryDirectory(prefix="housewise-") as temporary:
                folder = Path(temporary)
                outcome = self._runner.play(scheduled, self._models, folder, self._progress(name))
                ending = FINISHED if isinstance(outcome, Result) else FAILED
                return name, (folder / f"{name}{ending}").read_text(encoding="utf-8"), outcome
        except LimitReachedError:
            raise
        except UserError as error:
            raise UserError(f"on {socket.gethostname()}: {error}") from error

    @cached_property
    def _models(self) -> dict[str, ChatModel]:
        return {role: opener() for role, opener in self._openers.items()}

    def _progress(self, name: str) -> Progress:
        told = 0.0

        def progress(done: int, of: int, words: str) -> None:
            nonlocal told
            if time.monotonic() > told + POLL_SECONDS:
                told = time.monotonic()
                ray.get_actor(COORDINATOR).tell.remote(name, done, of, words)

        return progress


class _RemoteMeter:
    """The meter of the run on other machines, which asks the coordinator."""

    def __init__(self) -> None:
        self._coordinator, self._asked = ray.get_actor(COORDINATOR), 0.0

    def check(self) -> None:
        """See `Meter.check`."""
        if words := ray.get(self._coordinator.describe_reached_limit.remote()):
            raise LimitReachedError(words)

    def check_time(self) -> None:
        """See `Meter.check_time`. The coordinator is asked rarely, since it may be far away."""
        if time.monotonic() > self._asked + POLL_SECONDS:
            self._asked = time.monotonic()
            self.check()

    def count(self, model: str, prompt_tokens: int, completion_tokens: int) -> None:
        """See `Meter.count`."""
        ray.get(self._coordinator.count.remote(model, prompt_tokens, completion_tokens))


class _Coordinator:
    """An actor on the driver's machine: files of local models, usage of the run, progress of episodes."""

    def __init__(self, folders: Mapping[str, Mapping[str, FolderContent]], meter: RunMeter | None) -> None:
        self._folders, self._meter = folders, meter
        self._places: Counter[str] = Counter()
        self._news: dict[str, tuple[int, int, str]] = {}

    def folders(self, role: str) -> Mapping[str, FolderContent]:
        """Return the folders of a role's model."""
        return self._folders[role]

    def place(self, machine: str) -> int:
        """Return how many runners have already started on a machine."""
        self._places[machine] += 1
        return self._places[machine] - 1

    def describe_reached_limit(self) -> str:
        """Return a description of the limit that is reached, or an empty text."""
        return self._meter.describe_reached_limit() if self._meter is not None else ""

    def count(self, model: str, prompt_tokens: int, completion_tokens: int) -> None:
        """Add the tokens of a request."""
        if self._meter is not None:
            self._meter.count(model, prompt_tokens, completion_tokens)

    def usage(self) -> RunUsage:
        """Return the usage of the run so far."""
        return self._meter.usage if self._meter is not None else RunUsage()

    def tell(self, name: str, done: int, of: int, words: str) -> None:
        """Store the progress of an episode."""
        self._news[name] = (done, of, words)

    def news(self) -> News:
        """Return the progress that was stored since the last call."""
        news, self._news = self._news, {}
        return news


@contextmanager
def _cluster_connection(address: str) -> Iterator[None]:
    """Connect to the cluster as a driver. Its actors end with the connection."""
    if ray.is_initialized():
        yield
        return
    _check_address(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, OSError, RuntimeError, ValueError, RayError) as error:
        raise UserError(
            f"--ray {address}: cannot join the cluster ({last_line(error)}); run this on one of its machines, with "
            "the same versions of Ray and Python (ray start --address=HOST:PORT joins this one)"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _check_address(address: str) -> None:
    """Check that a cluster answers; Ray itself retries for minutes."""
    host, _, port = address.rpartition(":")
    if address in ("auto", "local"):
        return
    if not port.isdigit() or "/" in host:
        raise UserError(f"--ray {address}: not an address; give HOST:PORT as ray start prints it, or auto")
    try:
        socket.create_connection((host or "127.0.0.1", int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise UserError(
            f"--ray {address}: nothing answers there ({error}); start a cluster with ray start --head, or correct the "
            "address"
        ) from error


def _start_coordinator(system: System[Any], meter: RunMeter | None) -> Any:
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    folders = {role: pack_model_folders(settings) for role, settings in model_settings(system).items()}
    # Other actors find it by name: Ray warns of actors that hold references to actors, which may be lost on a restart.
    return (
        ray.remote(_Coordinator).options(name=COORDINATOR, num_cpus=0, scheduling_strategy=here).remote(folders, meter)
    )
