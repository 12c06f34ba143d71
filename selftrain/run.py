"""Runs episodes: as many at a time as wanted, each recorded, none played twice."""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from agent.baselines.saycan import SayCanPlanner, SayCanTemplate
from agent.baselines.sayplan import SayPlanPlanner, SayPlanTemplate
from agent.models import ChatModel, Sampling, open_model
from agent.models.batching import BatchingChatModel
from agent.models.replay import ReplayChatModel
from agent.planner import LLMPlanner, Planner
from agent.prompt import ContextGenerator, PromptTemplate
from agent.scripted import Order, ScriptedPlanner
from controller.published import PublishedController
from controller.skills import Controller, ControllerSettings
from household.env import RearrangementEnv, Task
from household.errors import UserError
from household.simulator.raycast import RaycastSimulator
from selftrain.config import RunConfig
from selftrain.demonstrator import Demonstrator
from selftrain.metrics import metrics
from selftrain.record import EpisodeLine, RecordWriter, ResultLine, read_record, read_records, record_name, write_json
from selftrain.rollout import Limits, Rollout, room_anchors
from selftrain.tasks import TaskName, load_task, task_names

MODEL_PLANNERS = ("llm", "sayplan", "saycan")

_LIBRARIES = ("numpy", "networkx", "gymnasium", "embreex", "trimesh", "torch", "transformers", "llguidance", "openai")


@dataclass(frozen=True)
class Job:
    """One episode to play.

    Attributes:
        task: which house and episode.
        run: how many times it has been played before.
    """

    task: TaskName
    run: int

    @property
    def name(self) -> str:
        """Name of the record."""
        return record_name(self.task.scene, self.task.episode, self.run)


class Watcher(Protocol):
    """Told of how a run goes; called from several threads."""

    def began(self, job: Job) -> None: ...

    def stepped(self, job: Job, steps: int, plans: int) -> None: ...

    def ended(self, job: Job, result: ResultLine) -> None: ...


class Silent:
    """A watcher that says nothing."""

    def began(self, job: Job) -> None: ...

    def stepped(self, job: Job, steps: int, plans: int) -> None: ...

    def ended(self, job: Job, result: ResultLine) -> None: ...


class Run:
    """A run in its folder: ``config.json``, ``episodes/*.jsonl``, ``metrics.json``.

    Args:
        config: what to play and with what.
        folder: made when it is missing; one that holds a run with other settings is refused.

    Raises:
        UserError: when the folder or the settings do not fit.
    """

    def __init__(self, config: RunConfig, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.episodes = folder / "episodes"
        self._check_folder()
        self.jobs = [Job(task, run) for task in task_names(config) for run in range(config.runs)]

    @property
    def finished(self) -> list[Job]:
        """Jobs whose records are there."""
        return [job for job in self.jobs if (self.episodes / f"{job.name}.jsonl").exists()]

    @property
    def open(self) -> list[Job]:
        """Jobs still to be played."""
        done = {job.name for job in self.finished}
        return [job for job in self.jobs if job.name not in done]

    def play(self, watcher: Watcher | None = None) -> dict[str, Any]:
        """Play what is open.

        Returns:
            The figures over all records of the folder, as in ``metrics.json``.

        Raises:
            UserError: when something outside the program is wrong; finished episodes are kept.
        """
        jobs = self.open
        if jobs:
            write_json(self.folder / "config.json", self.config.model_dump())
            with _Players(self.config, self.episodes, watcher or Silent()) as players:
                players.play(jobs)
        figures = metrics([(record.episode, record.result) for record in read_records(self.episodes)])
        write_json(self.folder / "metrics.json", figures)
        return figures

    def _check_folder(self) -> None:
        path = self.folder / "config.json"
        if not path.exists():
            return
        try:
            earlier = RunConfig.model_validate(json.loads(path.read_text(encoding="utf-8")))
        except ValueError as error:
            raise UserError(f"{path}: not the settings of a run; choose another folder with --out") from error
        changed = [key for key, value in self.config.identity.items() if earlier.identity[key] != value]
        if changed:
            raise UserError(
                f"{self.folder}: holds a run with other settings ({', '.join(changed)}); choose another folder with "
                "--out, or use the same settings to resume it"
            )


class _Players:
    """Threads that play episodes, and the model that they share."""

    def __init__(self, config: RunConfig, episodes: Path, watcher: Watcher) -> None:
        self._config, self._episodes, self._watcher = config, episodes, watcher
        self._local = threading.local()
        self._loading = threading.Lock()
        self._stop = threading.Event()
        self._asking = _asking(config)
        self._model: ChatModel | None = None
        if config.planner in MODEL_PLANNERS:
            dialect = {} if _is_local(config) else {"grammar_dialect": config.grammar_dialect}
            model = open_model(config.model, base_url=config.base_url, adapter=config.adapter, **dialect)
            # SayCan has its actions scored, which a local model does for one episode at a time.
            batched = config.workers > 1 and _is_local(config) and config.planner != "saycan"
            self._model = BatchingChatModel(model) if batched else model

    def __enter__(self) -> _Players:
        return self

    def __exit__(self, *_: object) -> None:
        if self._model is not None:
            self._model.close()

    def play(self, jobs: Sequence[Job]) -> None:
        with ThreadPoolExecutor(self._config.workers) as pool:
            pending = [pool.submit(self._play, job) for job in jobs]
            try:
                done, _ = wait(pending, return_when=FIRST_EXCEPTION)
            finally:
                self._stop.set()
            for future in done:
                future.result()

    def _play(self, job: Job) -> None:
        if self._stop.is_set():
            return
        with self._loading:
            task = load_task(job.task, self._config)
        self._watcher.began(job)
        seed = _seed(self._config.seed, job)
        env = RearrangementEnv(
            self._simulator(), [task], self._config.max_steps, float(np.deg2rad(self._config.look_down))
        )
        env.reset()
        writer = RecordWriter(self._episodes, job.name)

        def progress(steps: int, plans: int) -> None:
            self._watcher.stepped(job, steps, plans)

        try:
            limits = Limits(self._config.most_plans, self._config.most_idle_plans, self._config.replan_when_blocked)
            planner, controller = self._planner(job, task, env, seed), self._controller(env)
            rollout = Rollout(env, planner, controller, writer, progress, limits)
            result = rollout.play(self._header(job, task, seed))
        finally:
            writer.close()
        self._watcher.ended(job, result)

    def _simulator(self) -> RaycastSimulator:
        if not hasattr(self._local, "simulator"):
            self._local.simulator = RaycastSimulator(sensors=("instance",))
        simulator: RaycastSimulator = self._local.simulator
        return simulator

    def _planner(self, job: Job, task: Task, env: RearrangementEnv, seed: int) -> Planner:
        config = self._config
        if config.planner == "scripted":
            return scripted_planner(task, env, seed)
        if config.planner == "demonstrator":
            shown = config.demonstrator
            scripted = scripted_planner(task, env, seed, order=shown.order, thorough=shown.thorough)
            return Demonstrator(scripted, _context(config))
        sampling = Sampling(**config.sampling.model_dump(), seed=seed)
        model = self._model or ReplayChatModel(_recorded_replies(config, job))
        return self._asking(model, sampling)

    def _controller(self, env: RearrangementEnv) -> Controller:
        settings = self._config.controller
        if settings.kind == "published":
            return PublishedController(env)
        return Controller(env, ControllerSettings(settings.goal_radius, settings.most_walk, settings.most_look))

    def _header(self, job: Job, task: Task, seed: int) -> EpisodeLine:
        places = {key: task.scene.by_key[key].name for key in task.episode.receptacles}
        return EpisodeLine(
            scene=job.task.scene,
            episode=job.task.episode,
            run=job.run,
            task_set=job.task.task_set,
            seed=seed,
            planner=self._config.planner,
            model=self._config.model if self._config.planner in MODEL_PLANNERS else None,
            simulator=self._config.simulator,
            rooms=[room.name for room in task.scene.rooms],
            placements={thing.name: places[thing.receptacle] for thing in task.episode.objects},
            correct={
                thing.name: sorted(places[key] for key in thing.correct if key in places)
                for thing in task.episode.objects
            },
            config=self._config.model_dump(),
            software=software_versions(),
            started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        )


def scripted_planner(
    task: Task, env: RearrangementEnv, seed: int, *, order: Order = "nearest", thorough: bool = True
) -> ScriptedPlanner:
    """The scripted planner for a task, told what people want there.

    Args:
        task: the house and the episode.
        env: in which it will act.
        seed: of what it draws.
        order: what comes next: what is nearest, the first of the list, or anything.
        thorough: see ScriptedPlanner.
    """
    keys = {task.scene.by_key[key].name: key for key in task.episode.receptacles}
    correct = {thing.name: thing.correct for thing in task.episode.objects}
    anchors = room_anchors(env)
    navmesh = env.simulator.navmesh

    def wants(thing: str, place: str) -> bool:
        return keys.get(place) in correct[thing]

    def point(name: str) -> np.ndarray:
        key = keys.get(name) or anchors[name] or ""
        return np.asarray(task.scene.by_key[key].pose.position)[[0, 2]]

    def route(start: str | None, end: str) -> float:
        return navmesh.distance(env.simulator.body.point if start is None else point(start), point(end))

    return ScriptedPlanner(wants, seed, route if order == "nearest" else None, thorough, order == "listed")


def software_versions() -> dict[str, str]:
    """Versions of what results depend on, of those installed."""
    found = {}
    for package in ("housewise", *_LIBRARIES):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _asking(config: RunConfig) -> Callable[[ChatModel, Sampling], Planner]:
    """What makes the planner of an episode that asks a model."""
    words = config.planner if config.prompt == PromptTemplate.packaged else config.prompt
    if config.planner == "sayplan":
        opening = SayPlanTemplate.load(words)
        return lambda model, sampling: SayPlanPlanner(
            model, opening, sampling, config.most_steps_per_plan, config.grounded
        )
    if config.planner == "saycan":
        choosing = SayCanTemplate.load(words)
        return lambda model, sampling: SayCanPlanner(model, choosing, sampling, config.grounded)
    context = _context(config)
    return lambda model, sampling: LLMPlanner(model, context, sampling, config.planner, config.grounded)


def _context(config: RunConfig) -> ContextGenerator:
    return ContextGenerator(PromptTemplate.load(config.prompt), config.most_steps_per_plan)


def _is_local(config: RunConfig) -> bool:
    return config.model.partition(":")[0] == "local"


def _seed(seed: int, job: Job) -> int:
    parts = [seed, zlib.crc32(job.task.scene.encode()), job.task.episode, job.run]
    return int(np.random.SeedSequence(parts).generate_state(1)[0])


def _recorded_replies(config: RunConfig, job: Job) -> list[str]:
    if config.records is None:
        raise UserError("the replay planner needs the records whose replies it plays; name their folder with --records")
    path = Path(config.records) / f"{job.name}.jsonl"
    if not path.exists():
        raise UserError(f"{path}: no such record; --records has to name the episodes folder of an earlier run")
    return [plan.reply for plan in read_record(path).plans]
