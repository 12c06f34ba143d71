"""Planner factories: they make the planner that the settings name, found by entry point (``housewise.planners``)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from housewise.agent.personalize.baselines.saycan import SayCanPlanner, SayCanTemplate
from housewise.agent.personalize.baselines.sayplan import SayPlanPlanner, SayPlanTemplate
from housewise.agent.personalize.demonstrator import Demonstrator
from housewise.agent.personalize.memory_planner import MemoryPlanner, PlacementGuesser
from housewise.agent.personalize.placement_candidates import (
    LikelyPlaces,
    placements_by_kernel,
    placements_of_similar_kinds,
)
from housewise.agent.personalize.planner import Planner
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.agent.personalize.scripted_planner import Distance, MoveOrder, ScriptedPlanner, WantsFunction
from housewise.agent.personalize.wrappers.compose import PlannerConfig, make_llm_planner
from housewise.core.errors import UserError
from housewise.core.migrations.code_names import find_former_name
from housewise.core.plugins import PLANNERS, call_plugin
from housewise.core.printable_text import excerpt
from housewise.core.user_code import load_plugin_or_code
from housewise.language.adapters import Wrapper
from housewise.language.embedder import INSTALL, has_minilm
from housewise.systems.personalize.custom_planners import (
    CustomPlannerFactory,
    FormerPlannerFactory,
    find_asks_model,
    is_custom_planner,
)
from housewise.systems.personalize.custom_wrappers import WrappedPlannerFactory
from housewise.systems.personalize.planner_context import PlannerContext, route_lengths
from housewise.systems.personalize.settings import AgentSettings
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask

_PROMPTS_OF_LLM = (NotesTemplate.default_name, "paper")
"""Prompts of the planner llm in configurations for which baselines have a prompt of their own."""
_FOLLOW_ALL_JUDGEMENTS = {
    "confidence": 0.0,
    "confidence_similar": None,
    "confidence_unfamiliar": None,
    "weigh_notes": False,
}
"""Settings of judgements if objects are placed even without confidence."""


class PlannerFactory(Protocol):
    """Makes the planners of a run. It reads its prompt on creation and is sent to the workers that play episodes.

    Attributes:
        asks_model: Whether its planners ask a model.
    """

    asks_model: bool

    def __call__(self, context: PlannerContext) -> Planner:
        """Return the planner of one episode."""


def open_planner(settings: AgentSettings) -> PlannerFactory:
    """Return the factory of the planner that the settings name, with the user's own wrappers.

    Raises:
        UserError: If its prompt cannot be read, or a name does not refer to a planner factory or a wrapper.
    """
    factory, own = _open_unwrapped(settings), settings.own_wrappers
    if not own:
        return factory
    prefix, max_steps = open_context(settings).template.prefix, settings.max_steps_per_plan
    return WrappedPlannerFactory(factory, factory.asks_model, own, prefix, max_steps)


def _open_unwrapped(settings: AgentSettings) -> PlannerFactory:
    label = f"planner {settings.planner!r}"
    found = load_plugin_or_code(PLANNERS, settings.planner, "planner")
    if is_custom_planner(found):
        return CustomPlannerFactory(found, label, settings.max_steps_per_plan)
    factory: PlannerFactory = call_plugin(found, label, settings)
    asks_model = find_asks_model(factory)
    if not callable(factory) or asks_model is None:
        raise UserError(f"{label}: {excerpt(repr(found))} is not a PlannerFactory; see docs/extending.md")
    return factory if hasattr(factory, "asks_model") else FormerPlannerFactory(factory, asks_model)


class _PromptedFactory:
    """Base of factories whose planners use the planner's prompt."""

    def __init__(self, settings: AgentSettings) -> None:
        self._prompt_context, self._settings = open_context(settings), settings


def reads_model_settings(name: str) -> bool:
    """Return whether a planner reads settings that need a model: it asks one, has its replies, or writes as it does."""
    found = load_plugin_or_code(PLANNERS, name, "planner")
    return find_asks_model(found) is not False or (isinstance(found, type) and issubclass(found, _PromptedFactory))


class LLMFactory(_PromptedFactory):
    """Makes LLMPlanner: LLM-Planner, or LLM-Personalize with an adapter."""

    asks_model = True

    def __init__(self, settings: AgentSettings) -> None:
        super().__init__(settings)
        if settings.judging.as_json:
            self._prompt_context.check_json()
        if settings.judging.weigh_notes and not settings.judging.score_placements:
            raise UserError("setting judging.weigh_notes compares scores of placements; set score_placements=true too")
        if settings.judging.weigh_notes:
            _check_embeddings("weigh_notes=true", "leave it out")

    @property
    def config(self) -> PlannerConfig:
        """Options of the planner."""
        chosen, judging = self._settings, self._settings.judging
        familiar = None if chosen.familiar_kinds is None else frozenset(chosen.familiar_kinds)
        if chosen.place_at_random:
            judging, familiar = judging.model_copy(update=_FOLLOW_ALL_JUDGEMENTS), None
        return PlannerConfig(chosen.grounded, chosen.normalize_steps, chosen.bundled_wrappers, judging, familiar)

    def __call__(self, context: PlannerContext) -> Planner:
        """See PlannerFactory."""
        config, route = self.config, _route(context, self.config)
        prompts, knows, file = self._prompt_context, context.knowledge, context.rules_file
        return make_llm_planner(context.required_model, prompts, context.sampling, config, knows, route, file)


class ReplayFactory(_PromptedFactory):
    """Makes planners that replay the replies of earlier records, without repairs and completion checks."""

    asks_model = False

    def __call__(self, context: PlannerContext) -> Planner:
        """See PlannerFactory."""
        chosen = self._settings
        # The record contains repairs and completion checks as plans of their own. Names in prompts follow the order of
        # the list.
        kept: tuple[Wrapper, ...] = ("check_feasibility", "sort_by_distance")
        wrappers = tuple(each for each in kept if each in chosen.wrappers)
        config = PlannerConfig(chosen.grounded, chosen.normalize_steps, wrappers, repairs=0)
        # Alternatives to a reply were undone, so only the reply that was followed is asked for.
        sampling = replace(context.sampling, n=1)
        route = _route(context, config)
        return make_llm_planner(context.required_model, self._prompt_context, sampling, config, route=route)


class SayPlanFactory:
    """Makes SayPlanPlanner."""

    asks_model = True

    def __init__(self, settings: AgentSettings) -> None:
        self._template, self._settings = SayPlanTemplate.load(prompt_name(settings)), settings

    def __call__(self, context: PlannerContext) -> Planner:
        """See PlannerFactory."""
        most, grounded = self._settings.max_steps_per_plan, self._settings.grounded
        return SayPlanPlanner(
            context.required_model,
            self._template,
            context.sampling,
            most,
            grounded,
            normalize=self._settings.normalize_steps,
        )


class SayCanFactory:
    """Makes SayCanPlanner."""

    asks_model = True

    def __init__(self, settings: AgentSettings) -> None:
        self._template, self._settings = SayCanTemplate.load(prompt_name(settings)), settings

    def __call__(self, context: PlannerContext) -> Planner:
        """See PlannerFactory."""
        grounded, score = self._settings.grounded, self._settings.score_actions
        return SayCanPlanner(context.required_model, self._template, context.sampling, grounded, score)


class ScriptedFactory:
    """Makes the scripted planner, which knows what people want."""

    asks_model = False

    def __init__(self, settings: AgentSettings) -> None: ...

    def __call__(self, context: PlannerContext) -> Planner:
        """See PlannerFactory."""
        return scripted_planner(context.task, context.env, context.seed)


class MemoryLookupFactory:
    """Makes the planner ``memory_lookup``: it uses recalled preferences only, the baseline without a language model."""

    asks_model = False
    name = "memory_lookup"
    likely: LikelyPlaces | None = None

    def __init__(self, settings: AgentSettings) -> None:
        self._places_at_random = settings.place_at_random

    def __call__(self, context: PlannerContext) -> Planner:
        """See PlannerFactory."""
        random_seed = context.seed if self._places_at_random else None
        guesser = PlacementGuesser(context.knowledge or PreferenceKnowledge(), self.likely, random_seed)

        def make_scripted(wants: WantsFunction, thorough: bool) -> ScriptedPlanner:
            return scripted_planner(context.task, context.env, context.seed, thorough=thorough, wants=wants)

        return MemoryPlanner(self.name, guesser, make_scripted)


class MemoryNearestFactory(MemoryLookupFactory):
    """Makes the planner ``memory_nearest``: where nothing is recalled, it uses placements of similar kinds."""

    name = "memory_nearest"
    likely = staticmethod(placements_of_similar_kinds)

    def __init__(self, settings: AgentSettings) -> None:
        super().__init__(settings)
        _check_embeddings(f"planner={self.name}", "use planner=memory_lookup")


class MemoryKernelFactory(MemoryNearestFactory):
    """Makes the planner ``memory_kernel``: where nothing is recalled, it smooths over things and places."""

    name = "memory_kernel"
    likely = staticmethod(placements_by_kernel)


class DemonstratorFactory(_PromptedFactory):
    """Makes the demonstrator: scripted plans as replies to a model's prompt."""

    asks_model = False

    def __call__(self, context: PlannerContext) -> Planner:
        """See PlannerFactory."""
        order, thorough = self._settings.demonstrator.order, self._settings.demonstrator.thorough
        scripted = scripted_planner(context.task, context.env, context.seed, order=order, thorough=thorough)
        return Demonstrator(scripted, self._prompt_context)


def _check_embeddings(setting: str, otherwise: str) -> None:
    if not has_minilm():
        remedy = f"run `{INSTALL}` and `pip install 'housewise[local]'`, or {otherwise}"
        raise UserError(f"{setting} needs sentence embeddings: {remedy}")


def _route(context: PlannerContext, config: PlannerConfig) -> Distance | None:
    """Return the lengths of ways if prompts are sorted by them; to compute them takes a moment."""
    return context.route if "sort_by_distance" in config.wrappers else None


def open_context(settings: AgentSettings) -> NotesContext:
    """Return the context generator for the prompt of the settings."""
    return NotesContext(NotesTemplate.load(settings.prompt), settings.max_steps_per_plan)


def judges_placements(settings: AgentSettings) -> bool:
    """Return whether a model may be asked where objects belong, so that options of judgements have an effect."""
    factory = load_plugin_or_code(PLANNERS, settings.planner, "planner")
    if factory is LLMFactory:
        return settings.judging.as_json or open_context(settings).template.judging
    return getattr(factory, "__module__", None) != __name__


def prompt_name(settings: AgentSettings) -> str:
    """Return the prompt of a baseline: its own, unless the settings name another one."""
    return settings.planner if settings.prompt in _PROMPTS_OF_LLM else settings.prompt


def scripted_planner(
    task: RearrangementTask,
    env: RearrangementEnv,
    seed: int,
    *,
    order: MoveOrder = "nearest",
    thorough: bool = True,
    wants: WantsFunction | None = None,
) -> ScriptedPlanner:
    """Return the scripted planner for a task.

    Args:
        task: The house and the episode.
        env: Environment in which it will act.
        seed: Seed of its random numbers.
        order: What it moves next: the nearest object, the first of the list, or a random one.
        thorough: Whether it looks around all receptacles before the end.
        wants: Whether an object is wanted on a receptacle. Defaults to the task's correct placements.
    """
    keys = {task.scene.by_key[key].name: key for key in task.episode.receptacles}
    correct = {thing.name: thing.correct for thing in task.episode.objects}

    def is_correct(thing: str, place: str) -> bool:
        return keys.get(place) in correct[thing]

    route = route_lengths(task, env) if order == "nearest" else None
    return ScriptedPlanner(wants or is_correct, seed, route, thorough, order == "listed")


def __getattr__(name: str) -> Any:
    return find_former_name(__name__, name)
