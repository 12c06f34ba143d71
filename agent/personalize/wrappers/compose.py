"""Composes the planner that asks a model, with the wrappers that the settings name."""

from __future__ import annotations

from dataclasses import dataclass, field

from housewise.agent.personalize.judging_settings import JudgingSettings
from housewise.agent.personalize.llm_planner import LLMPlanner
from housewise.agent.personalize.planner import Planner
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.prompt_notes import NotesContext
from housewise.agent.personalize.scripted_planner import Distance
from housewise.agent.personalize.wrappers.check_feasibility import MAX_REPAIRS, CheckFeasibility
from housewise.agent.personalize.wrappers.hide_failed_targets import HideFailedTargets
from housewise.agent.personalize.wrappers.housewise_planner import HousewisePlanner
from housewise.agent.personalize.wrappers.judging_planner import JudgingPlanner
from housewise.agent.personalize.wrappers.loop_recovery import LoopRecovery
from housewise.agent.personalize.wrappers.sort_by_distance import SortByDistance
from housewise.agent.personalize.wrappers.summarize_notes import SummarizeNotes
from housewise.agent.personalize.wrappers.verify_completion import VerifyCompletion
from housewise.language.adapters import Wrapper
from housewise.language.base import ChatModel, Sampling
from housewise.people.memory import RulesFile


@dataclass(frozen=True)
class PlannerConfig:
    """Options of the planner that asks a model. Without any, and without ``normalize_steps``, it is the paper's.

    Attributes:
        grounded: Restrict replies by a grammar to objects, receptacles and rooms of the scene graph.
        normalize_steps: See HousewisePlanner.
        wrappers: Names of wrappers. ``sort_by_distance`` has an effect if the planner is given a route.
        judging: Options of JudgingPlanner.
        familiar: Kinds of objects that the model was trained to judge, or None for all; see JudgingPlanner.
        repairs: With ``check_feasibility``, how often the model is asked to correct an infeasible plan.
    """

    grounded: bool = False
    normalize_steps: bool = True
    wrappers: tuple[Wrapper, ...] = ()
    judging: JudgingSettings = field(default_factory=JudgingSettings)
    familiar: frozenset[str] | None = None
    repairs: int = MAX_REPAIRS


_PAPER = PlannerConfig(normalize_steps=False)


def make_llm_planner(
    model: ChatModel,
    context: NotesContext,
    sampling: Sampling | None = None,
    config: PlannerConfig | None = None,
    knowledge: PreferenceKnowledge | None = None,
    route: Distance | None = None,
    rules_file: RulesFile | None = None,
) -> Planner:
    """Return LLMPlanner, or HousewisePlanner with its wrappers.

    A prompt with judgements is asked for them first (JudgingPlanner) if preferences are recalled or judgements are
    restricted; else the model writes judgements and steps in one reply. A prompt that limits attempts hides what has
    failed (HideFailedTargets). A prompt with rules has the model conclude them from the notes (SummarizeNotes).

    Args:
        model: See LLMPlanner.
        context: See LLMPlanner.
        sampling: See LLMPlanner.
        config: Options.
        knowledge: What is recalled about the person, or None to plan without a memory.
        route: Length of the way from a room or receptacle (None: the robot) to another, metres. If given, prompts are
            sorted by it (SortByDistance).
        rules_file: File that keeps the rules which the model concludes, or None.
    """
    chosen, words = config or PlannerConfig(), context.template
    if chosen == _PAPER and knowledge is None and route is None and not words.judging and words.most_tries is None:
        return LLMPlanner(model, context, sampling)
    llm = HousewisePlanner(model, context, sampling, chosen.grounded, knowledge, chosen.normalize_steps)
    planner: Planner = llm
    if chosen.judging.as_json or (words.judging and (knowledge is not None or chosen.judging.is_restricting)):
        planner = JudgingPlanner(llm, chosen.judging, chosen.familiar)
    if "check_feasibility" in chosen.wrappers:
        planner = CheckFeasibility(planner, llm, chosen.repairs)
    if words.most_tries is not None:
        planner = HideFailedTargets(planner, words.most_tries)
    if "loop_recovery" in chosen.wrappers:
        planner = LoopRecovery(planner, llm, route)
    if "verify_completion" in chosen.wrappers:
        planner = VerifyCompletion(planner, llm, route)
    if words.rules is not None and words.quotes is not None and not llm.knowledge.is_empty:
        planner = SummarizeNotes(planner, llm, words.rules, words.quotes, rules_file)
    return planner if route is None else SortByDistance(planner, route)
