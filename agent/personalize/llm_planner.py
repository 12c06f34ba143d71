"""The planner that asks a language model, with the state in words and what is remembered of the person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from housewise.agent.personalize.chat_session import ChatSession
from housewise.agent.personalize.checking import MOST_REPAIRS, checked
from housewise.agent.personalize.grammar import COMPLETE, choice_grammar, plan_grammar
from housewise.agent.personalize.placement_candidates import PlacementCandidates, find_candidates
from housewise.agent.personalize.placement_judgement import (
    Judgements,
    format_judgements,
    parse_judgements,
    split_judgements,
)
from housewise.agent.personalize.placement_judges import ConfidenceThresholds, Judge, ScoringJudge, WritingJudge
from housewise.agent.personalize.plan_parser import parse_plan
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
from housewise.agent.personalize.scripted_planner import (
    RouteLength,
    nearest_neighbour_tour,
    planner_for_judgements,
    plans_from_judgements,
)
from housewise.language.base import ChatModel, Message, Reply, Sampling
from housewise.worlds.house.actions import ActionKind
from housewise.worlds.house.scene_graph import SceneGraph

_ACTED = frozenset({ActionKind.PICK_UP, ActionKind.PLACE})


@dataclass(frozen=True)
class PlannerConfig:
    """How a model is asked, and when it is not followed.

    Attributes:
        grounded: hold replies to what can be said about the house as the robot knows it.
        second_look: when the model takes the task as done, go where the robot has not been, and ask again.
        consistent: hold plans to the judgements: the model chooses which thing to bring where it is judged to belong,
            or which room to enter.
        move_on: where nothing new can come of a plan, do what follows from its judgements instead, or go where the
            robot has not been.
        rated: judge what nothing is known about by the probability of every place instead of the model's words.
        confidence: what a judgement that nothing is known about has to come up to if it is to move anything: its
            probability, or where places are rated its share beside that of the present place.
        checked: leave out steps that cannot be understood or done as far as the robot knows.
        repairs: how often a plan with such steps is asked for again before, where it is checked.
    """

    grounded: bool = False
    second_look: bool = False
    plans_from_judgements: bool = False
    move_on: bool = False
    rated: bool = False
    confidence: ConfidenceThresholds = field(default_factory=ConfidenceThresholds)
    checked: bool = False
    repairs: int = MOST_REPAIRS


class LLMPlanner:
    """Asks a language model, once per plan, with the state in words (LLM-Personalize, section 3.1).

    Where something is remembered of the person, or judgements are held to anything, a model that judges is asked twice:
    what it judges (see Judge), and, its judgements being corrected by what is known, what to do.

    Args:
        model: answers.
        context: puts the state into words.
        sampling: how replies are drawn; a seed is moved on from plan to plan.
        name: what records call it.
        habits: how it is asked.
        knowledge: what is remembered of the person; None where nobody is.
        route: metres from a room or a receptacle (None: the robot) to another, by name; given that, what is nearest is
            listed first, and so done first by a model that goes by the list. None for the order in which it was found.
    """

    def __init__(
        self,
        model: ChatModel,
        context: ContextGenerator,
        sampling: Sampling | None = None,
        name: str = "llm",
        habits: PlannerConfig | None = None,
        knowledge: PreferenceKnowledge | None = None,
        route: RouteLength | None = None,
    ) -> None:
        self.model = model
        self.context = context
        self.sampling = sampling or Sampling()
        self.name = name
        self.habits = habits or PlannerConfig()
        self._knowledge = knowledge or NoKnowledge()
        self._route = route
        chosen = self.habits
        first = knowledge is not None or chosen.rated or chosen.plans_from_judgements or bool(chosen.confidence)
        self._twice = context.template.judging and first
        self._asker = ChatSession(model, self.sampling)
        self._judge: Judge = WritingJudge(model, self._asker, context.template, chosen.grounded, chosen.confidence)
        if self._twice and chosen.rated:
            self._judge = ScoringJudge(model, context.template, chosen.confidence, patient=not self._knowledge.empty)

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        if self._route is not None:
            graph = graph.nearest_first(partial(self._route, None))
        told = hide_hopeless_targets(graph, attempts, self.context.template.most_tries)
        plan = self._in_two(told, attempts) if self._twice else self._at_once(told)
        if self.habits.checked:
            plan = self._checked(told, attempts, plan)
        if self.habits.move_on and _brings_nothing(plan, graph, attempts):
            plan = self._moved_on(graph, told, attempts, plan)
        if self.habits.second_look and plan.complete and graph.holding is None:
            return self._look_again(graph, attempts, plan)
        return plan

    def _at_once(self, told: SceneGraph) -> Plan:
        """Judgements, where there are any, and steps in one reply."""
        words = self.context.template
        messages = self.context.messages(told, self._knowledge)
        grammar = self._grammar(told, words.judging) if self.habits.grounded else None
        plans = [self._read(told, messages, reply) for reply in self._asker.ask_all(messages, words.prefix, grammar)]
        return replace(plans[0], others=tuple(plans[1:]))

    def _in_two(self, told: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """First judgements, then the steps behind them."""
        words, failed = self.context.template, count_failures(attempts)
        # Where all places known to be right are full, others are judged as of a thing of which nothing is known.
        knowledge = ExcludeFailedPlacements(self._knowledge, failed)
        messages = self.context.messages(told, knowledge)
        # A prompt that names similar things leaves it to the model what they tell.
        options = find_candidates(told, knowledge, failed, likeness=not words.note_alike)
        judged = self._judge.judge(told, options, messages, attempts)
        thoughts = f"{format_judgements(judged.judgements, told, words.called(told))}\nstep 1:"
        grammar, choices = self._grammar(told, judging=False) if self.habits.grounded else None, None
        if self.habits.plans_from_judgements:
            plans_allowed = self._consistent(told, options, judged.judgements, attempts)
            grammar, choices = choice_grammar(plans_allowed), len(plans_allowed)
        replies = self._asker.ask_all(messages, f"{words.prefix}{thoughts}", grammar)
        plans = [self._read(told, messages, replace(reply, text=f"{thoughts}{reply.text}")) for reply in replies]
        others = tuple(plans[1:])
        return replace(plans[0], earlier=judged.exchanges, scores=judged.ratings, others=others, choices=choices)

    def _checked(self, told: SceneGraph, attempts: Sequence[Attempt], plan: Plan) -> Plan:
        """The plan without steps that cannot be done, asked for again where there are any."""
        words, messages, others = self.context.template, plan.messages, plan.others
        plan, problem = checked(plan, told, attempts)
        for _ in range(self.habits.repairs):
            if not problem or plan.reply is None:
                break
            said = Message("assistant", f"{words.prefix}{plan.text}")
            asked = (*messages, said, Message("user", words.feedback.format(problem=problem).strip()))
            # What has been judged stands.
            judged = f"{split_judgements(plan.text)[0].rstrip()}\nstep 1:" if words.judging else ""
            grammar = self._grammar(told, judging=False) if self.habits.grounded else None
            reply = self._asker.ask(asked, f"{words.prefix}{judged}", grammar)
            earlier = (*plan.earlier, ModelCall(plan.messages, plan.reply))
            again = self._read(told, asked, replace(reply, text=f"{judged}{reply.text}"))
            plan, problem = checked(replace(again, earlier=earlier), told, attempts)
        return replace(plan, others=others)

    def _moved_on(self, graph: SceneGraph, told: SceneGraph, attempts: Sequence[Attempt], plan: Plan) -> Plan:
        """What follows from the plan's judgements, or visits to what has been passed by; not for the model to learn."""
        words = self.context.template
        judgements = parse_judgements(split_judgements(plan.text)[0], told, words.called(told)) if words.judging else {}
        asked = (*plan.earlier, ModelCall(plan.messages, plan.reply)) if plan.reply else plan.earlier
        follows = planner_for_judgements(judgements).plan(told, attempts)
        if follows.complete and (
            missed := [*unentered_rooms(graph, attempts), *unvisited_receptacles(graph, attempts)]
        ):
            return self._visits(graph, missed, asked)
        return self._instead(graph, f"step 1: {follows.text}", asked)

    def _look_again(self, graph: SceneGraph, attempts: Sequence[Attempt], plan: Plan) -> Plan:
        """Instead of an end, a visit to what has been passed by, if anything has; not for the model to learn."""
        missed = [*unentered_rooms(graph, attempts), *unvisited_receptacles(graph, attempts)]
        if not missed:
            return plan
        if plan.steps:
            return replace(plan, complete=False)
        asked = tuple(ModelCall(plan.messages, reply) for each in (plan, *plan.others) for reply in each.replies)
        return self._visits(graph, missed, asked)

    def _visits(self, graph: SceneGraph, missed: Sequence[str], asked: tuple[ModelCall, ...]) -> Plan:
        ordered = missed if self._route is None else nearest_neighbour_tour(missed, self._route)
        visits = [f"step {number}: go to {name}" for number, name in enumerate(ordered, start=1)]
        return self._instead(graph, "\n".join(visits[: self.context.most_steps]), asked)

    def _instead(self, graph: SceneGraph, text: str, asked: tuple[ModelCall, ...]) -> Plan:
        """A plan that no model made, as if one had said it, so that it can be played again."""
        reply = Reply(text.removeprefix(self.context.template.prefix))
        return replace(self._read(graph, (), reply), earlier=asked)

    def _read(self, graph: SceneGraph, messages: tuple[Message, ...], reply: Reply) -> Plan:
        steps = split_judgements(reply.text)[1] if self.context.template.judging else reply.text
        parsed = parse_plan(steps, graph.vocabulary, most=self.context.most_steps)
        return Plan(parsed.steps, parsed.complete, messages, reply)

    def _consistent(
        self,
        graph: SceneGraph,
        options: Mapping[str, PlacementCandidates],
        judgements: Judgements,
        attempts: Sequence[Attempt],
    ) -> list[str]:
        """The plans that follow from judgements, each once; at least one."""
        held, called = graph.holding, self.context.template.called(graph)
        places = options[held].places if held is not None else ()
        follows = plans_from_judgements(judgements, unentered_rooms(graph, attempts), places, graph)
        plans = [[action.renamed(called) for action in plan[: self.context.most_steps]] for plan in follows]
        return list(dict.fromkeys(format_steps(plan) for plan in plans)) or [COMPLETE]

    def _grammar(self, graph: SceneGraph, judging: bool) -> str:
        words = self.context.template
        return plan_grammar(graph, self.context.most_steps, words.called(graph), judging)


def _brings_nothing(plan: Plan, graph: SceneGraph, attempts: Sequence[Attempt]) -> bool:
    """Whether a plan moves nothing and goes nowhere where the robot has not been before; to end is something, but for
    who holds something."""
    actions = [step.action for step in plan.steps if step.action is not None]
    if any(action.kind in _ACTED for action in actions):
        return False
    if plan.complete:
        return graph.holding is not None
    tried = visited_targets(attempts)
    return all(action.kind != ActionKind.GO_TO or action.target in tried for action in actions)
