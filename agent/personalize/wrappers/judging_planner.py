"""JudgingPlanner: asks where objects belong before it asks for steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from housewise.agent.personalize.grammar import COMPLETE, choice_grammar
from housewise.agent.personalize.json_judge import JsonJudge
from housewise.agent.personalize.judgement_text import Judgements, format_judgements
from housewise.agent.personalize.judging_settings import JudgingSettings
from housewise.agent.personalize.note_weighing import NoteWeighing
from housewise.agent.personalize.placement_candidates import CandidatesByObject, find_candidates
from housewise.agent.personalize.placement_judge import ConfidenceThresholds, Judge
from housewise.agent.personalize.placement_scores import PlacementScorer
from housewise.agent.personalize.planner import Attempt, Plan, count_failures, format_steps, unentered_rooms
from housewise.agent.personalize.scoring_judge import ConfidentChoice, PlacementChooser, ScoringJudge
from housewise.agent.personalize.scripted_planner import plans_from_judgements
from housewise.agent.personalize.wrappers.housewise_planner import HousewisePlanner
from housewise.agent.personalize.writing_judge import WritingJudge
from housewise.worlds.house.scene_graph import SceneGraph


class JudgingPlanner:
    """Asks for judgements of placements first (see Judge), then for steps behind the judgements.

    What is recalled of the person corrects the judgements before the steps are asked for.

    Args:
        planner: The planner that asks the model. Its prompt has judgements, or texts for judgements as JSON.
        settings: Options.
        familiar: Kinds of objects that the model was trained to judge. None treats all kinds as familiar.
    """

    def __init__(
        self, planner: HousewisePlanner, settings: JudgingSettings, familiar: frozenset[str] | None = None
    ) -> None:
        self.name = planner.name
        self._planner, self._settings = planner, settings
        confidence = ConfidenceThresholds(
            settings.confidence or 0.0, settings.confidence_similar, settings.confidence_unfamiliar, familiar
        )
        self._judge: Judge
        if settings.as_json:
            self._judge = JsonJudge(planner.model, planner.context, planner.knowledge, planner.sampling)
        elif settings.score_placements:
            self._judge = self._scoring_judge(confidence)
        else:
            words = planner.context.template
            self._judge = WritingJudge(planner.model, planner.session, words, planner.grounded, confidence)

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        planner = self._planner
        words, failed = planner.context.template, count_failures(attempts)
        # If all receptacles known to be correct are full, the placement counts as unknown.
        knowledge = planner.knowledge.without_failures(failed)
        messages = planner.context.messages(graph, knowledge)
        judged_messages = planner.context.messages(graph) if self._weighs_notes else messages
        # If the prompt names similar kinds, the model decides what follows from them.
        names_similar = bool(words.note_alike) or self._settings.as_json
        options = find_candidates(graph, knowledge, failed, use_similar=not names_similar and not self._weighs_notes)
        judged = self._judge.judge(graph, options, judged_messages, attempts)
        if self._settings.as_json:
            messages, thoughts = planner.context.messages(graph, knowledge, judged.judgements), ""
        else:
            thoughts = f"{format_judgements(judged.judgements, graph, words.prompt_names(graph))}\nstep 1:"
        grammar, choice_count = planner.grammar(graph) if planner.grounded else None, None
        if self._settings.constrain_to_judgements:
            allowed = self._plans_from_judgements(graph, options, judged.judgements, attempts)
            grammar, choice_count = choice_grammar(allowed), len(allowed)
        replies = planner.session.ask_all(messages, f"{words.prefix}{thoughts}", grammar)
        first, *others = [
            planner.parse(graph, messages, replace(reply, text=f"{thoughts}{reply.text}")) for reply in replies
        ]
        return replace(
            first,
            prior_calls=judged.calls,
            scores=judged.compared_scores,
            alternatives=tuple(others),
            choice_count=choice_count,
            unjudged_objects=tuple(thing for thing in options if thing not in judged.judgements),
        )

    @property
    def _weighs_notes(self) -> bool:
        is_chosen = self._settings.score_placements and self._settings.weigh_notes
        return is_chosen and not self._planner.knowledge.is_empty

    def _scoring_judge(self, confidence: ConfidenceThresholds) -> ScoringJudge:
        planner = self._planner
        scorer = PlacementScorer(planner.model, planner.context.template)
        chooser: PlacementChooser = ConfidentChoice(confidence)
        if self._weighs_notes:
            chooser = NoteWeighing(scorer, planner.knowledge, confidence.familiar)
        return ScoringJudge(scorer, chooser, known_first=not planner.knowledge.is_empty)

    def _plans_from_judgements(
        self, graph: SceneGraph, options: CandidatesByObject, judgements: Judgements, attempts: Sequence[Attempt]
    ) -> list[str]:
        """Return the distinct plans that follow from judgements, at least one."""
        context, held = self._planner.context, graph.holding
        names = context.template.prompt_names(graph)
        places = options[held].places if held is not None else ()
        plans = plans_from_judgements(judgements, unentered_rooms(graph, attempts), places, graph)
        texts = (format_steps([action.replace_names(names) for action in plan[: context.max_steps]]) for plan in plans)
        return list(dict.fromkeys(texts)) or [COMPLETE]
