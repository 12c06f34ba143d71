"""Plays single episodes, wherever that is: what an episode is played with is put together here."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from housewise.agent.personalize.baselines.saycan import SayCanPlanner, SayCanTemplate
from housewise.agent.personalize.baselines.sayplan import SayPlanPlanner, SayPlanTemplate
from housewise.agent.personalize.demonstrator import Demonstrator
from housewise.agent.personalize.planner import LLMPlanner, Planner
from housewise.agent.personalize.prompt import ContextGenerator, PromptTemplate
from housewise.agent.personalize.scripted import Order, ScriptedPlanner
from housewise.controller.published import PublishedController
from housewise.controller.skills import Controller, ControllerSettings
from housewise.core.errors import UserError
from housewise.language import ChatModel, Sampling, open_model
from housewise.language.replay import ReplayChatModel
from housewise.rollout.record import EpisodeLine, ResultLine, Writer, read_record
from housewise.rollout.rollout import Limits, Progress, Rollout, room_anchors
from housewise.systems.personalize.config import MODEL_PLANNERS, RunConfig
from housewise.systems.personalize.tasks import Job
from housewise.worlds.house.env import RearrangementEnv, Task
from housewise.worlds.house.simulator import open_simulator
from housewise.worlds.house.simulator.base import Simulator

_FEWEST_REQUESTS = 8
_LIBRARIES = (
    "numpy",
    "networkx",
    "gymnasium",
    "embreex",
    "habitat_sim",
    "trimesh",
    "torch",
    "transformers",
    "llguidance",
    "openai",
)


class Player:
    """Plays the episodes of a run, one at a time in each simulator.

    The words of prompts are read here and now, so that a player can be sent to a machine that lacks their files.

    Args:
        config: of the run.

    Raises:
        UserError: when the prompt cannot be read.
    """

    def __init__(self, config: RunConfig) -> None:
        self._config = config
        self._asking = _asking(config)
        self._shown = _context(config) if config.planner == "demonstrator" else None

    def play(
        self,
        job: Job,
        task: Task,
        model: ChatModel | None,
        simulator: Simulator,
        writer: Writer,
        progress: Progress,
    ) -> ResultLine:
        """Play an episode to its end.

        Args:
            job: the episode.
            task: its house and what stands in it.
            model: answers; None where the planner asks none.
            simulator: to play in.
            writer: takes the record's lines.
            progress: told of every low-level step.

        Returns:
            The record's last line.

        Raises:
            UserError: when something outside the program is wrong.
        """
        config, seed = self._config, _seed(self._config, job)
        env = RearrangementEnv(simulator, [task], config.max_steps, float(np.deg2rad(config.look_down)))
        env.reset()
        limits = Limits(config.most_plans, config.most_idle_plans, config.replan_when_blocked)
        planner, controller = self._planner(task, env, seed, model), self._controller(env)
        rollout = Rollout(env, planner, controller, writer, progress, limits)
        return rollout.play(self._header(job, task, list(room_anchors(env)), seed))

    def _planner(self, task: Task, env: RearrangementEnv, seed: int, model: ChatModel | None) -> Planner:
        if self._shown is not None:
            settings = self._config.demonstrator
            scripted = scripted_planner(task, env, seed, order=settings.order, thorough=settings.thorough)
            return Demonstrator(scripted, self._shown)
        if model is None:
            return scripted_planner(task, env, seed)
        return self._asking(model, Sampling(**self._config.sampling.model_dump(), seed=seed))

    def _controller(self, env: RearrangementEnv) -> Controller:
        settings = self._config.controller
        if settings.kind == "published":
            return PublishedController(env)
        return Controller(env, ControllerSettings(settings.goal_radius, settings.most_walk, settings.most_look))

    def _header(self, job: Job, task: Task, rooms: list[str], seed: int) -> EpisodeLine:
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
            rooms=rooms,
            placements={thing.name: places[thing.receptacle] for thing in task.episode.objects},
            correct={
                thing.name: sorted(places[key] for key in thing.correct if key in places)
                for thing in task.episode.objects
            },
            config=self._config.model_dump(exclude={"ray"}),
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
        key = keys.get(name) or anchors[name]
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


def shared_model(config: RunConfig, **options: Any) -> ChatModel | None:
    """The model that all episodes of a run ask; None for planners that ask none.

    Args:
        config: of the run.
        **options: further ones of the model.

    Raises:
        ChatModelError: when it cannot be opened.
    """
    if config.planner not in MODEL_PLANNERS:
        return None
    if config.local:
        options["batch_size"] = config.batch_size
    else:
        options |= config.model_dump(include={"grammar_dialect", "timeout", "continue_prefix"})
        options["concurrency"] = config.concurrency or max(_FEWEST_REQUESTS, config.workers)
    return open_model(config.model, base_url=config.base_url, adapter=config.adapter, **options)


def recorded_model(config: RunConfig, job: Job) -> ReplayChatModel | None:
    """For the replay planner, what plays the replies of an episode's earlier record; None for other planners.

    Raises:
        UserError: when there is no such record.
    """
    if config.planner != "replay":
        return None
    if config.records is None:
        raise UserError("the replay planner needs the records whose replies it plays; name their folder with --records")
    path = Path(config.records) / f"{job.name}.jsonl"
    if not path.exists():
        raise UserError(f"{path}: no such record; --records has to name the episodes folder of an earlier run")
    return ReplayChatModel([plan.reply for plan in read_record(path).plans])


def new_simulator(config: RunConfig) -> Simulator:
    """A simulator with the sensors that episodes are played with.

    Raises:
        UserError: when it is not there, or cannot make pictures.
    """
    return open_simulator(config.simulator, sensors=("instance",), gpu=config.gpu)


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
    # A replayed episode has looked again already, where it did.
    again = config.second_look and config.planner == "llm"
    return lambda model, sampling: LLMPlanner(model, context, sampling, config.planner, config.grounded, again)


def _context(config: RunConfig) -> ContextGenerator:
    return ContextGenerator(PromptTemplate.load(config.prompt), config.most_steps_per_plan)


def _seed(config: RunConfig, job: Job) -> int:
    parts = [config.seed, zlib.crc32(job.task.scene.encode()), job.task.episode, job.run]
    parts += [config.series] if config.series else []
    return int(np.random.SeedSequence(parts).generate_state(1)[0])
