"""The planners that settings name; each is found by entry point (``housewise.planners``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from housewise.agent.personalize.baselines.saycan import SayCanPlanner, SayCanTemplate
from housewise.agent.personalize.baselines.sayplan import SayPlanPlanner, SayPlanTemplate
from housewise.agent.personalize.demonstrator import Demonstrator
from housewise.agent.personalize.llm_planner import LLMPlanner, PlannerConfig
from housewise.agent.personalize.memory_planner import MemoryPlanner, PlacementGuesser
from housewise.agent.personalize.placement_judges import ConfidenceThresholds
from housewise.agent.personalize.planner import Planner
from housewise.agent.personalize.preference_knowledge import NoKnowledge, PreferenceKnowledge
from housewise.agent.personalize.prompt import ContextGenerator, PromptTemplate
from housewise.agent.personalize.scripted_planner import MoveOrder, RouteLength, ScriptedPlanner, WantsFunction
from housewise.controller.robot import room_anchors
from housewise.core.errors import UserCodeError, UserError, excerpt
from housewise.core.plugins import PLANNERS, call_plugin
from housewise.core.user_code import load_plugin_or_code
from housewise.language.base import ChatModel, Sampling
from housewise.language.embedder import INSTALL, has_minilm
from housewise.systems.personalize.custom_planners import CustomPlannerFactory, is_custom_planner
from housewise.systems.personalize.settings import AgentSettings
from housewise.worlds.house.env import RearrangementEnv, Task


@dataclass(frozen=True, repr=False)
class PlannerContext:
    """What a planner is made for.

    Attributes:
        task: the house and the episode, with what people want there: not for planners that have to find out.
        env: in which its plans are carried out.
        seed: of what it draws.
        model: answers; None for planners without one.
        sampling: how replies are drawn.
        knowledge: what is remembered of the person; None where nobody is.
    """

    task: Task
    env: RearrangementEnv
    seed: int
    model: ChatModel | None
    sampling: Sampling
    knowledge: PreferenceKnowledge | None = None

    def __repr__(self) -> str:
        episode = self.task.episode
        parts = (
            f"{self.task.scene.name}, episode {episode.id}",
            f"{len(episode.objects)} objects",
            f"seed {self.seed}",
            "no model" if self.model is None else f"model {self.model.name}",
            "no memory" if self.knowledge is None else "a person's memory",
        )
        return f"<Situation: {', '.join(parts)}>"

    @property
    def answers(self) -> ChatModel:
        """The model of a planner that asks one."""
        if self.model is None:
            raise UserCodeError("no model is open for this planner: for one in a run, say asks = True in its class")
        return self.model

    @property
    def route(self) -> RouteLength:
        """How far it is in the house; see route_in."""
        return route_lengths(self.task, self.env)


class PlannerFactory(Protocol):
    """Makes the planners of a run; it reads its prompt when it is made, and is sent to where episodes are played.

    Attributes:
        asks: whether its planners ask a model.
    """

    asks: bool

    def __call__(self, situation: PlannerContext) -> Planner: ...


def open_planner(settings: AgentSettings) -> PlannerFactory:
    """What makes the planners that the settings name.

    Raises:
        UserError: when its prompt cannot be read, or what is found by that name makes no planners.
    """
    label = f"planner {settings.planner!r}"
    found = load_plugin_or_code(PLANNERS, settings.planner, "planner")
    if is_custom_planner(found):
        return CustomPlannerFactory(found, label, settings.most_steps_per_plan)
    made: PlannerFactory = call_plugin(found, label, settings)
    if not callable(made) or not isinstance(getattr(made, "asks", None), bool):
        raise UserError(f"{label}: {excerpt(repr(found))} makes no planners; see docs/extending.md")
    return made


class LLM:
    """LLM-Planner and LLM-Personalize."""

    asks = True

    def __init__(self, settings: AgentSettings) -> None:
        self._context, self._settings = open_context(settings), settings

    def __call__(self, situation: PlannerContext) -> Planner:
        """See PlannerFactory."""
        chosen = self._settings
        confidence = ConfidenceThresholds() if chosen.explore else _confidence(chosen)
        habits = PlannerConfig(
            chosen.grounded,
            chosen.second_look,
            chosen.consistent,
            chosen.move_on,
            chosen.rated,
            confidence,
            chosen.checked,
        )
        route = situation.route if chosen.nearest_first else None
        return LLMPlanner(
            situation.answers, self._context, situation.sampling, "llm", habits, situation.knowledge, route
        )


class Replay:
    """Plays the replies of earlier records; a replayed episode has looked again already, where it did."""

    asks = False

    def __init__(self, settings: AgentSettings) -> None:
        self._context = open_context(settings)
        # What was asked again is in the record.
        self._habits = PlannerConfig(settings.grounded, check_feasibility=settings.checked, repairs=0)
        self._nearest_first = settings.nearest_first

    def __call__(self, situation: PlannerContext) -> Planner:
        """See PlannerFactory."""
        # Words for things go by the list.
        route = situation.route if self._nearest_first else None
        return LLMPlanner(situation.answers, self._context, situation.sampling, "replay", self._habits, route=route)


class SayPlan:
    """Searches the map, plans, and has the plan checked."""

    asks = True

    def __init__(self, settings: AgentSettings) -> None:
        self._template, self._settings = SayPlanTemplate.load(words_of(settings)), settings

    def __call__(self, situation: PlannerContext) -> Planner:
        """See PlannerFactory."""
        most, grounded = self._settings.most_steps_per_plan, self._settings.grounded
        return SayPlanPlanner(situation.answers, self._template, situation.sampling, most, grounded)


class SayCan:
    """One action at a time, by how likely the model finds each."""

    asks = True

    def __init__(self, settings: AgentSettings) -> None:
        self._template, self._grounded = SayCanTemplate.load(words_of(settings)), settings.grounded

    def __call__(self, situation: PlannerContext) -> Planner:
        """See PlannerFactory."""
        return SayCanPlanner(situation.answers, self._template, situation.sampling, self._grounded)


class Scripted:
    """Knows what people want."""

    asks = False

    def __init__(self, settings: AgentSettings) -> None: ...

    def __call__(self, situation: PlannerContext) -> Planner:
        """See PlannerFactory."""
        return scripted_planner(situation.task, situation.env, situation.seed)


class Store:
    """Knows what is remembered of the person, and nothing else: the control that asks no model."""

    asks = False
    name = "store"
    similar = False

    def __init__(self, settings: AgentSettings) -> None:
        self._explores = settings.explore

    def __call__(self, situation: PlannerContext) -> Planner:
        """See PlannerFactory."""
        chance = situation.seed if self._explores else None
        guesser = PlacementGuesser(situation.knowledge or NoKnowledge(), self.similar, chance)

        def scripted(wants: WantsFunction, thorough: bool) -> ScriptedPlanner:
            return scripted_planner(situation.task, situation.env, situation.seed, thorough=thorough, wants=wants)

        return MemoryPlanner(self.name, guesser, scripted)


class Nearest(Store):
    """The same, and puts what it knows no place for where the things nearest in meaning are wanted."""

    name = "nearest"
    similar = True

    def __init__(self, settings: AgentSettings) -> None:
        super().__init__(settings)
        if not has_minilm():
            raise UserError(
                f"planner=nearest compares meanings, for which sentence embeddings are needed: run `{INSTALL}` and "
                "`pip install 'housewise[local]'`, or choose planner=store"
            )


class Demonstrations:
    """The same, written as a model should answer."""

    asks = False

    def __init__(self, settings: AgentSettings) -> None:
        self._context, self._settings = open_context(settings), settings.demonstrator

    def __call__(self, situation: PlannerContext) -> Planner:
        """See PlannerFactory."""
        order, thorough = self._settings.order, self._settings.thorough
        scripted = scripted_planner(situation.task, situation.env, situation.seed, order=order, thorough=thorough)
        return Demonstrator(scripted, self._context)


def _confidence(settings: AgentSettings) -> ConfidenceThresholds:
    familiar = None if settings.familiar is None else frozenset(settings.familiar)
    return ConfidenceThresholds(
        settings.confidence, settings.confidence_alike, settings.confidence_unfamiliar, familiar
    )


def open_context(settings: AgentSettings) -> ContextGenerator:
    """What puts a state into words."""
    return ContextGenerator(PromptTemplate.load(settings.prompt), settings.most_steps_per_plan)


def words_of(settings: AgentSettings) -> str:
    """The prompt of a baseline: its own, unless another one is chosen."""
    return settings.planner if settings.prompt == PromptTemplate.default_name else settings.prompt


def scripted_planner(
    task: Task,
    env: RearrangementEnv,
    seed: int,
    *,
    order: MoveOrder = "nearest",
    thorough: bool = True,
    wants: WantsFunction | None = None,
) -> ScriptedPlanner:
    """The scripted planner for a task.

    Args:
        task: the house and the episode.
        env: in which it will act.
        seed: of what it draws.
        order: what comes next: what is nearest, the first of the list, or anything.
        thorough: see ScriptedPlanner.
        wants: whether a thing is wanted on a receptacle; what people want there by default.
    """
    keys = {task.scene.by_key[key].name: key for key in task.episode.receptacles}
    correct = {thing.name: thing.correct for thing in task.episode.objects}

    def truly(thing: str, place: str) -> bool:
        return keys.get(place) in correct[thing]

    route = route_lengths(task, env) if order == "nearest" else None
    return ScriptedPlanner(wants or truly, seed, route, thorough, order == "listed")


def route_lengths(task: Task, env: RearrangementEnv) -> RouteLength:
    """How far it is from a room or receptacle, or from where the robot is, to another, as it would walk."""
    keys = {task.scene.by_key[key].name: key for key in task.episode.receptacles}
    anchors = room_anchors(task)
    navmesh = env.simulator.navmesh

    def point(name: str) -> np.ndarray:
        key = keys.get(name) or anchors[name]
        return np.asarray(task.scene.by_key[key].pose.position)[[0, 2]]

    def route(start: str | None, end: str) -> float:
        return navmesh.distance(env.simulator.body.point if start is None else point(start), point(end))

    return route
