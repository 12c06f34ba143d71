"""The judge that writes: the model writes where objects belong, one line each, and unlikely lines move nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from housewise.agent.personalize.chat_session import ChatSession
from housewise.agent.personalize.grammar import judgement_grammar
from housewise.agent.personalize.judgement_text import (
    judgement_opening,
    parse_judgements,
)
from housewise.agent.personalize.placement_candidates import CandidatesByObject
from housewise.agent.personalize.placement_judge import ConfidenceThresholds, JudgementResult, accept_judgement
from housewise.agent.personalize.planner import Attempt, ModelCall
from housewise.agent.personalize.prompt_notes import NotesTemplate
from housewise.agent.personalize.token_probabilities import line_probabilities
from housewise.language.base import ChatModel, Message
from housewise.worlds.house.scene_graph import SceneGraph


@dataclass(frozen=True)
class WritingJudge:
    """The model writes its judgements, one line each. A judgement that is not likely enough moves nothing.

    Attributes:
        model: Model that judges.
        session: Session with that model.
        words: Template of the prompt.
        grounded: Whether a grammar restricts replies to the candidates.
        confidence: Probability of its line that a judgement needs.
    """

    model: ChatModel
    session: ChatSession
    words: NotesTemplate
    grounded: bool = False
    confidence: ConfidenceThresholds = field(default_factory=ConfidenceThresholds)

    def judge(
        self, graph: SceneGraph, options: CandidatesByObject, messages: tuple[Message, ...], attempts: Sequence[Attempt]
    ) -> JudgementResult:
        """See Judge.judge."""
        if all(each.is_decided for each in options.values()):
            return JudgementResult({thing: each.places[0] for thing, each in options.items()})
        words, names = self.words, self.words.prompt_names(graph)
        grammar = judgement_grammar(graph, options, names) if self.grounded else None
        reply = self.session.ask(messages, words.prefix, grammar)
        probabilities: dict[str, float] = {}
        if self.confidence:
            openings = {
                thing: judgement_opening(thing, graph, names) for thing in options if not options[thing].is_decided
            }
            probabilities = line_probabilities(self.model, messages, words.prefix, reply, openings)
        written = parse_judgements(reply.text, graph, names)
        judgements = {}
        for thing, each in options.items():
            is_confident = probabilities.get(thing, 1.0) >= self.confidence.threshold_for(thing, each)
            judgements[thing] = accept_judgement(each, written.get(thing, each.here), is_confident=is_confident)
        # The record of the plan holds the same prompt.
        return JudgementResult(judgements, (ModelCall((), reply),) if reply.text else ())
