"""Plays episodes on the machines of a Ray cluster: simulators are actors, and so are models on those machines."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayError, RayTaskError
from ray.util.actor_pool import ActorPool
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from housewise.core.errors import UserError
from housewise.core.files import write_text
from housewise.language import ChatModel, ChatModelError, ChatRequest, Reply
from housewise.language.base import Scorer
from housewise.rollout.executors.base import Outcomes, Watcher
from housewise.rollout.record import FAILED, Outcome, ResultLine
from housewise.rollout.rollout import Progress
from housewise.rollout.worker import Stage
from housewise.systems.personalize.config import MODEL_PLANNERS, RunConfig
from housewise.systems.personalize.player import Player, recorded_model, shared_model
from housewise.systems.personalize.tasks import Job

# How often an episode is played again that was lost with its worker: beyond that, it is what kills workers. Until Ray
# notices that a machine is gone, several tries fail at once, which count.
_RETRIES = 50
# Seconds between two looks at how episodes go.
_GLANCE = 0.5
# Seconds that an episode waits for a model whose machine was lost to be there again.
_PATIENCE = 600.0
# Seconds in which a model says whether it is there while it answers: what waits for a place is neither there nor lost.
_PULSE = 20.0
# Names are known only to the actors of one driver.
_DESK = "desk"

Files = Mapping[str, bytes]
"""A folder: what is in each file, by path."""


class RayCluster:
    """As many simulators as the settings name workers, on the machines of a cluster.

    Episodes ask the server that the settings name, or a local model: one on each GPU, or one on the CPU, which answers
    many episodes together. Ray starts what is lost with a machine on another and plays its episodes again. Records are
    written here, when they are whole, so that the machines need not share a file system; only the Housekeep folder has
    to be on every one of them.

    Args:
        config: of the run.
        episodes: folder of the records.
        watcher: told of how it goes.

    Raises:
        UserError: when the prompt cannot be read.
    """

    def __init__(self, config: RunConfig, episodes: Path, watcher: Watcher) -> None:
        self._config, self._episodes, self._watcher = config, episodes, watcher
        self._player = Player(config)
        # An actor lives as long as somebody here refers to it.
        self._models: dict[str, Any] = {}

    def play(self, jobs: Sequence[Job]) -> None:
        """See Executor.play."""
        with _connected(self._config.ray or "auto"):
            desk = _open_desk(self._config)
            self._play(jobs, self._stages(min(self._config.workers, len(jobs))), desk)

    def _play(self, jobs: Sequence[Job], stages: Sequence[Any], desk: Any) -> None:
        pool, waiting, playing = ActorPool(list(stages)), iter(jobs), dict[str, Job]()
        outcomes, failure = Outcomes(self._watcher), None
        while True:
            while failure is None and pool.has_free() and (job := next(waiting, None)) is not None:
                answers = recorded_model(self._config, job)
                pool.submit(lambda stage, chosen, answers=answers: stage.play.remote(chosen, answers), job)
                playing[job.name] = job
                self._watcher.began(job)
            if not pool.has_next():
                break
            try:
                name, text, outcome = pool.get_next_unordered(timeout=_GLANCE)
                self._keep(name, text, outcome)
                outcomes.tell(playing.pop(name), outcome)
            except TimeoutError:
                self._look(desk, playing)
            except (RayError, UserError) as error:
                failure = failure or error
        if isinstance(failure, RayError):
            _complain(failure)
        if failure is not None:
            raise failure

    def _keep(self, name: str, text: str, outcome: Outcome) -> None:
        """Write a record that has come from elsewhere; see RecordWriter."""
        path = self._episodes / f"{name}.jsonl"
        failed = path.with_name(path.name + FAILED)
        write_text(path if isinstance(outcome, ResultLine) else failed, text)
        if isinstance(outcome, ResultLine):
            failed.unlink(missing_ok=True)

    def _stages(self, count: int) -> list[Any]:
        openers = self._openers(count)
        # Without num_cpus an actor needs a core's worth of a machine to be put there and none to stay, so that those of
        # a lost machine always find a place.
        made = ray.remote(_Stage).options(max_restarts=-1, max_task_retries=_RETRIES, scheduling_strategy="SPREAD")
        return [made.remote(self._player, self._config, openers[number % len(openers)]) for number in range(count)]

    def _openers(self, episodes: int) -> list[Callable[[], ChatModel | None]]:
        """What opens the model of each simulator; they take turns."""
        config = self._config
        if config.local and config.planner in MODEL_PLANNERS:
            self._models = _start_models(config, episodes)
            names = list(self._models)
            return [partial(RemoteChatModel, names[first:] + names[:first]) for first in range(len(names))]
        # The other machines know nothing of this one's environment.
        reached = config.model_copy(update={"base_url": config.base_url or os.environ.get("OPENAI_BASE_URL")})
        options = {"api_key": os.environ.get("OPENAI_API_KEY")} if config.planner in MODEL_PLANNERS else {}
        return [partial(shared_model, reached, **options)]

    def _look(self, desk: Any, playing: Mapping[str, Job]) -> None:
        try:
            news: dict[str, tuple[int, int]] = ray.get(desk.news.remote(), timeout=_GLANCE)
        except RayError:
            return
        for name in news.keys() & playing.keys():
            self._watcher.stepped(playing[name], *news[name])


class RemoteChatModel:
    """Models in actors as one chat model: the first of them answers, and the next when its machine is lost.

    Args:
        names: of actors of the same model.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._actors = [ray.get_actor(name) for name in names]
        self.name: str = self._ask("name")

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        """See ChatModel.complete."""
        replies: list[list[Reply]] = self._ask("complete", list(requests))
        return replies

    def score(self, request: ChatRequest, continuations: Sequence[str]) -> list[float]:
        """See Scorer.score."""
        scores: list[float] = self._ask("score", request, list(continuations))
        return scores

    def close(self) -> None:
        """The actors outlive an episode's use of them."""

    def _ask(self, method: str, *args: Any) -> Any:
        end = 0.0
        while True:
            try:
                return self._answer(self._actors[0], method, args)
            except RayTaskError as error:
                _complain(error)
            except (RayActorError, GetTimeoutError) as error:
                end = end or time.monotonic() + _PATIENCE
                if time.monotonic() > end:
                    raise ChatModelError(
                        f"no machine of the Ray cluster has run the model for {_PATIENCE / 60:.0f} minutes "
                        f"({_last_line(error)}); add one and run the same command again"
                    ) from error
            self._actors = self._actors[1:] + self._actors[:1]
            time.sleep(_GLANCE)

    def _answer(self, actor: Any, method: str, args: Sequence[Any]) -> Any:
        reply = getattr(actor, method).remote(*args)
        while not ray.wait([reply], timeout=_PULSE)[0]:
            ray.get(actor.is_there.options(concurrency_group="pulse").remote(), timeout=_PULSE)
        return ray.get(reply)


class _Stage:
    """Plays episodes on the machine where Ray puts it."""

    def __init__(self, player: Player, config: RunConfig, open_model: Callable[[], ChatModel | None]) -> None:
        self._open_model = open_model
        self._stage = Stage(player, config, ends_run=lambda error: isinstance(error, RayError))

    def play(self, job: Job, answers: ChatModel | None) -> tuple[str, str, Outcome]:
        """An episode's name, its record and what became of it."""
        try:
            with TemporaryDirectory(prefix="housewise-") as name:
                folder = Path(name)
                outcome = self._stage.play(job, answers or self._model, folder, self._progress(job.name))
                ending = "" if isinstance(outcome, ResultLine) else FAILED
                return job.name, (folder / f"{job.name}.jsonl{ending}").read_text(encoding="utf-8"), outcome
        except UserError as error:
            raise UserError(f"on {socket.gethostname()}: {error}") from error

    @cached_property
    def _model(self) -> ChatModel | None:
        return self._open_model()

    def _progress(self, name: str) -> Progress:
        told = 0.0

        def progress(steps: int, plans: int) -> None:
            nonlocal told
            if time.monotonic() > told + _GLANCE:
                told = time.monotonic()
                ray.get_actor(_DESK).tell.remote(name, steps, plans)

        return progress


class _Model:
    """A local model; several threads ask it, so that it answers many episodes together."""

    def __init__(self, config: RunConfig) -> None:
        self._config = config
        self._opening = threading.Lock()
        self._opened: ChatModel | None = None

    def is_there(self) -> bool:
        """Answers at once, whatever else is going on."""
        return True

    def name(self) -> str:
        """What records call it, once it can answer."""
        return self._open().name

    def complete(self, requests: list[ChatRequest]) -> list[list[Reply]]:
        """See ChatModel.complete."""
        return self._open().complete(requests)

    def score(self, request: ChatRequest, continuations: list[str]) -> list[float]:
        """See Scorer.score."""
        model = self._open()
        assert isinstance(model, Scorer)
        return model.score(request, continuations)

    def _open(self) -> ChatModel:
        with self._opening:
            if self._opened is None:
                folders = ray.get(ray.get_actor(_DESK).folders.remote())
                with TemporaryDirectory(prefix="housewise-") as folder:
                    model = shared_model(_unpacked(self._config, folders, Path(folder)))
                assert model is not None
                self._opened = model
            return self._opened


class _Desk:
    """On the driver's machine: what a local model is made of, and how far episodes are."""

    def __init__(self, folders: Mapping[str, Files]) -> None:
        self._folders = folders
        self._news: dict[str, tuple[int, int]] = {}

    def folders(self) -> Mapping[str, Files]:
        """The model's folders."""
        return self._folders

    def tell(self, name: str, steps: int, plans: int) -> None:
        """Of an episode."""
        self._news[name] = (steps, plans)

    def news(self) -> dict[str, tuple[int, int]]:
        """What has been told since the last time."""
        news, self._news = self._news, {}
        return news


@contextmanager
def _connected(address: str) -> Iterator[None]:
    """Be a driver of the cluster; its actors end with it."""
    if ray.is_initialized():
        yield
        return
    _reach(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, OSError, RuntimeError, ValueError, RayError) as error:
        raise UserError(
            f"--ray {address}: cannot join the cluster ({_last_line(error)}); run this on one of its machines, with "
            "the same versions of Ray and Python (ray start --address=HOST:PORT joins this one)"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """Ray itself tries for minutes."""
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


def _open_desk(config: RunConfig) -> Any:
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    # Others find it by name: Ray warns of actors that hold others, for fear that these are gone when those start again.
    return ray.remote(_Desk).options(name=_DESK, num_cpus=0, scheduling_strategy=here).remote(_packed(config))


def _start_models(config: RunConfig, episodes: int) -> dict[str, Any]:
    """Start actors of the local model: one for each GPU, or one on the CPU.

    Returns:
        The actors by name; they are ready to answer.

    Raises:
        UserError: when the model cannot be opened.
    """
    gpus = int(ray.cluster_resources().get("GPU", 0))
    cores = [node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]]
    # A core is left for simulators, and any machine can take the place of a lost one.
    spared = int(min((count for count in cores if count > 1), default=1)) - 1
    needs = {"num_gpus": 1} if gpus else {"num_cpus": spared} if spared else {}
    made = ray.remote(concurrency_groups={"pulse": 1})(_Model)
    options = {"max_restarts": -1, "max_concurrency": episodes + 1, **needs}
    names = [f"model-{number}" for number in range(min(max(gpus, 1), episodes))]
    models = {name: made.options(name=name, **options).remote(config) for name in names}
    try:
        ray.get([model.name.remote() for model in models.values()])
    except RayError as error:
        _complain(error)
    return models


def _packed(config: RunConfig) -> dict[str, Files]:
    """The folders of a run's model, by setting, for machines that do not have them."""
    folders = {"model": config.model.removeprefix("local:"), "adapter": config.adapter}
    found = {key: Path(name).expanduser() for key, name in folders.items() if name and config.local}
    return {
        key: {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for key, folder in found.items()
        if folder.is_dir()
    }


def _unpacked(config: RunConfig, folders: Mapping[str, Files], target: Path) -> RunConfig:
    """Lay folders out, and the settings that name them there; a folder keeps its own name, which may mean something."""
    changes = {}
    for key, files in folders.items():
        named = config.adapter if key == "adapter" else config.model.removeprefix("local:")
        folder = target / key / Path(named or "").name
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        changes[key] = str(folder) if key == "adapter" else f"local:{folder}"
    return config.model_copy(update=changes)


def _complain(error: RayError) -> NoReturn:
    """Raise what a user can do something about as such; a defect stays what it is."""
    cause = error.cause if isinstance(error, RayTaskError) else None
    if isinstance(cause, UserError):
        raise type(cause)(*cause.args) from error
    if cause is not None:
        raise error
    raise UserError(
        f"the Ray cluster lost a worker for good ({_last_line(error)}); see that every machine has this version of "
        "housewise and memory for its simulators, and run the same command again: finished episodes are kept"
    ) from error


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
