"""LLMPlanner: asks a language model for the next steps, given the state in words and recalled preferences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from housewise.agent.personalize.chat_session import ChatSession
from housewise.agent.personalize.grammar import COMPLETE, choice_grammar, plan_grammar
from housewise.agent.personalize.judgement_text import (
    Judgements,
    format_judgements,
    parse_judgements,
    split_judgements,
)
from housewise.agent.personalize.placement_candidates import CandidatesByObject, find_candidates
from housewise.agent.personalize.placement_judge import ConfidenceThresholds, Judge
from housewise.agent.personalize.plan_parser import parse_plan
from housewise.agent.personalize.plan_simulator import remove_infeasible_steps
from housewise.agent.personalize.planner import (
    Attempt,
    ModelCall,
    Plan,
    count_failures,
    format_steps,
    hide_hopeless_targets,
    unentered_rooms,
    unvisited_receptacles,
    visited_targets,
)
from housewise.agent.personalize.preference_knowledge import ExcludeFailedPlacements, NoKnowledge, PreferenceKnowledge
from housewise.agent.personalize.prompt import ContextGenerator
from housewise.agent.personalize.scoring_judge import ScoringJudge
from housewise.agent.personalize.scripted_planner import (
    Distance,
    nearest_neighbour_tour,
    planner_for_judgements,
    plans_from_judgements,
)
from housewise.agent.personalize.writing_judge import WritingJudge
from housewise.language.base import ChatModel, Message, Reply, Sampling
from housewise.worlds.house.high_level_actions import ActionKind
from housewise.worlds.house.scene_graph import SceneGraph

MAX_REPAIRS = 2
"""Default number of times that an infeasible plan is asked for again (STARS, repair)."""
_MANIPULATIONS = frozenset({ActionKind.PICK_UP, ActionKind.PLACE})


@dataclass(frozen=True)
class PlannerConfig:
    """Options of ``LLMPlanner``. The defaults reproduce LLM-Personalize (section 3.2.2).

    Attributes:
        grounded: Restrict replies by a grammar to objects, receptacles and rooms of the scene graph.
        verify_completion: When the model considers the task complete, visit what the robot has passed by and ask again.
        constrain_to_judgements: Restrict plans to those that follow from the judgements: carry one object to where it
            is judged to belong, or enter one room.
        loop_recovery: Replace a plan that repeats earlier steps by what follows from its judgements, or by visits.
        score_placements: Judge unknown placements by log-probability, not by the model's text; see ScoringJudge.
        confidence: Confidence that a judgement about an unknown placement needs to move the object.
        check_feasibility: Leave out steps that cannot be parsed or executed as far as the robot knows.
        repairs: With ``check_feasibility``, how often the model is asked to correct such a plan.
    """

    grounded: bool = False
    verify_completion: bool = False
    constrain_to_judgements: bool = False
    loop_recovery: bool = False
    score_placements: bool = False
    confidence: ConfidenceThresholds = field(default_factory=ConfidenceThresholds)
    check_feasibility: bool = False
    repairs: int = MAX_REPAIRS


class LLMPlanner:
    """Asks a language model for each plan, with the state in words (LLM-Personalize, section 3.2.2).

    If preferences are recalled or judgements are restricted, a template with judgements leads to two requests: first
    the judgements (see Judge), then the plan, behind the judgements as corrected by what is known.

    Args:
        model: Model that plans.
        context: Describes the state in words.
        sampling: Sampling configuration. A seed is increased by one per request.
        name: Name in records.
        config: Options of the planner.
        knowledge: What is recalled about the person, or None to plan without a memory.
        route: Length of the way from a room or receptacle (None: the robot) to another, metres. If given, prompts list
            the nearest things first. If None, they are listed in the order of discovery.
    """

    def __init__(
        self,
        model: ChatModel,
        context: ContextGenerator,
        sampling: Sampling | None = None,
        name: str = "llm",
        config: PlannerConfig | None = None,
        knowledge: PreferenceKnowledge | None = None,
        route: Distance | None = None,
    ) -> None:
        self.model = model
        self.context = context
        self.sampling = sampling or Sampling()
        self.name = name
        self.config = config = config or PlannerConfig()
        self._knowledge = knowledge or NoKnowledge()
        self._route = route
        restricted = config.score_placements or config.constrain_to_judgements or bool(config.confidence)
        self._judges_first = context.template.judging and (knowledge is not None or restricted)
        self._session = ChatSession(model, self.sampling)
        self._judge: Judge = WritingJudge(model, self._session, context.template, config.grounded, config.confidence)
        if self._judges_first and config.score_placements:
            known_first = not self._knowledge.is_empty
            self._judge = ScoringJudge(model, context.template, config.confidence, known_first)

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        if self._route is not None:
            graph = graph.sort_by_distance(partial(self._route, None))
        visible = hide_hopeless_targets(graph, attempts, self.context.template.most_tries)
        plan = self._judge_and_plan(visible, attempts) if self._judges_first else self._plan_at_once(visible)
        if self.config.check_feasibility:
            plan = self._repair(visible, attempts, plan)
        if self.config.loop_recovery and _is_loop(plan, graph, attempts):
            plan = self._recover_from_loop(graph, visible, attempts, plan)
        if self.config.verify_completion and plan.complete and graph.holding is None:
            return self._verify_completion(graph, attempts, plan)
        return plan

    def _plan_at_once(self, graph: SceneGraph) -> Plan:
        """Ask for judgements, if the template has any, and steps in one request."""
        words = self.context.template
        messages = self.context.messages(graph, self._knowledge)
        grammar = self._grammar(graph, words.judging) if self.config.grounded else None
        plans = [
            self._parse(graph, messages, reply) for reply in self._session.ask_all(messages, words.prefix, grammar)
        ]
        return replace(plans[0], alternatives=tuple(plans[1:]))

    def _judge_and_plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """Ask for judgements first, then for the steps behind them."""
        words, failed = self.context.template, count_failures(attempts)
        # If all receptacles known to be correct are full, the placement counts as unknown.
        knowledge = ExcludeFailedPlacements(self._knowledge, failed)
        messages = self.context.messages(graph, knowledge)
        # If the prompt names similar kinds, the model decides what follows from them.
        options = find_candidates(graph, knowledge, failed, use_similar=not words.note_alike)
        judged = self._judge.judge(graph, options, messages, attempts)
        thoughts = f"{format_judgements(judged.judgements, graph, words.prompt_names(graph))}\nstep 1:"
        grammar, choice_count = self._grammar(graph, with_judgements=False) if self.config.grounded else None, None
        if self.config.constrain_to_judgements:
            allowed = self._plans_from_judgements(graph, options, judged.judgements, attempts)
            grammar, choice_count = choice_grammar(allowed), len(allowed)
        replies = self._session.ask_all(messages, f"{words.prefix}{thoughts}", grammar)
        plans = [self._parse(graph, messages, replace(reply, text=f"{thoughts}{reply.text}")) for reply in replies]
        alternatives = tuple(plans[1:])
        return replace(
            plans[0],
            prior_calls=judged.calls,
            scores=judged.compared_scores,
            alternatives=alternatives,
            choice_count=choice_count,
        )

    def _repair(self, graph: SceneGraph, attempts: Sequence[Attempt], plan: Plan) -> Plan:
        """Ask again for a plan with infeasible steps, then leave out those that remain."""
        words, messages, alternatives = self.context.template, plan.messages, plan.alternatives
        plan, problem = remove_infeasible_steps(plan, graph, attempts)
        for _ in range(self.config.repairs):
            if not problem or plan.reply is None:
                break
            answer = Message("assistant", f"{words.prefix}{plan.text}")
            prompt = (*messages, answer, Message("user", words.feedback.format(problem=problem).strip()))
            # The judgements of the first reply are kept.
            judged = f"{split_judgements(plan.text)[0].rstrip()}\nstep 1:" if words.judging else ""
            grammar = self._grammar(graph, with_judgements=False) if self.config.grounded else None
            reply = self._session.ask(prompt, f"{words.prefix}{judged}", grammar)
            prior_calls = (*plan.prior_calls, ModelCall(plan.messages, plan.reply))
            repaired = self._parse(graph, prompt, replace(reply, text=f"{judged}{reply.text}"))
            plan, problem = remove_infeasible_steps(replace(repaired, prior_calls=prior_calls), graph, attempts)
        return replace(plan, alternatives=alternatives)

    def _recover_from_loop(
        self, graph: SceneGraph, visible: SceneGraph, attempts: Sequence[Attempt], plan: Plan
    ) -> Plan:
        """Return what follows from the plan's judgements, or visits. The model does not learn from such a plan."""
        words = self.context.template
        judgements: Judgements = {}
        if words.judging:
            judgements = parse_judgements(split_judgements(plan.text)[0], visible, words.prompt_names(visible))
        calls = (*plan.prior_calls, ModelCall(plan.messages, plan.reply)) if plan.reply else plan.prior_calls
        scripted = planner_for_judgements(judgements).plan(visible, attempts)
        if scripted.complete and (missed := self._missed_targets(graph, attempts)):
            return self._visit(graph, missed, calls)
        return self._plan_without_model(graph, f"step 1: {scripted.text}", calls)

    def _verify_completion(self, graph: SceneGraph, attempts: Sequence[Attempt], plan: Plan) -> Plan:
        """Return visits to what the robot has passed by. The model does not learn from such a plan."""
        missed = self._missed_targets(graph, attempts)
        if not missed:
            return plan
        if plan.steps:
            return replace(plan, complete=False)
        calls = tuple(ModelCall(plan.messages, reply) for each in (plan, *plan.alternatives) for reply in each.replies)
        return self._visit(graph, missed, calls)

    def _missed_targets(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> list[str]:
        """Return rooms and receptacles that the robot has not tried to go to."""
        return [*unentered_rooms(graph, attempts), *unvisited_receptacles(graph, attempts)]

    def _visit(self, graph: SceneGraph, names: Sequence[str], calls: tuple[ModelCall, ...]) -> Plan:
        ordered = names if self._route is None else nearest_neighbour_tour(names, self._route)
        visits = [f"step {number}: go to {name}" for number, name in enumerate(ordered, start=1)]
        return self._plan_without_model(graph, "\n".join(visits[: self.context.most_steps]), calls)

    def _plan_without_model(self, graph: SceneGraph, text: str, calls: tuple[ModelCall, ...]) -> Plan:
        """Return a plan as if a model had written it, so that it can be replayed from its record."""
        reply = Reply(text.removeprefix(self.context.template.prefix))
        return replace(self._parse(graph, (), reply), prior_calls=calls)

    def _parse(self, graph: SceneGraph, messages: tuple[Message, ...], reply: Reply) -> Plan:
        steps = split_judgements(reply.text)[1] if self.context.template.judging else reply.text
        parsed = parse_plan(steps, graph.vocabulary, most=self.context.most_steps)
        return Plan(parsed.steps, parsed.complete, messages, reply)

    def _plans_from_judgements(
        self, graph: SceneGraph, options: CandidatesByObject, judgements: Judgements, attempts: Sequence[Attempt]
    ) -> list[str]:
        """Return the distinct plans that follow from judgements, at least one."""
        held, names = graph.holding, self.context.template.prompt_names(graph)
        places = options[held].places if held is not None else ()
        plans = plans_from_judgements(judgements, unentered_rooms(graph, attempts), places, graph)
        texts = (
            format_steps([action.replace_names(names) for action in plan[: self.context.most_steps]]) for plan in plans
        )
        return list(dict.fromkeys(texts)) or [COMPLETE]

    def _grammar(self, graph: SceneGraph, with_judgements: bool) -> str:
        names = self.context.template.prompt_names(graph)
        return plan_grammar(graph, self.context.most_steps, names, with_judgements)


def _is_loop(plan: Plan, graph: SceneGraph, attempts: Sequence[Attempt]) -> bool:
    """Whether a plan moves nothing and goes only where the robot has been.

    A plan that ends the task is no loop, unless the robot still holds an object.
    """
    actions = [step.action for step in plan.steps if step.action is not None]
    if any(action.kind in _MANIPULATIONS for action in actions):
        return False
    if plan.complete:
        return graph.holding is not None
    visited = visited_targets(attempts)
    return all(action.kind != ActionKind.GO_TO or action.target in visited for action in actions)
