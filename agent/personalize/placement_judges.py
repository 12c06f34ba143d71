"""Judges: how a model decides where objects belong, by writing its judgements or by scoring every placement."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from housewise.agent.personalize.chat_session import ChatSession
from housewise.agent.personalize.grammar import judgement_grammar
from housewise.agent.personalize.placement_candidates import CandidatesByObject, PlacementCandidates
from housewise.agent.personalize.placement_judgement import (
    ELSEWHERE,
    FINE,
    Judgements,
    format_judgements,
    judgement_opening,
    judgement_verdict,
    parse_judgements,
)
from housewise.agent.personalize.planner import Attempt, ModelCall, placed_objects, unentered_rooms
from housewise.agent.personalize.prompt import PromptTemplate
from housewise.agent.personalize.token_probabilities import line_probabilities
from housewise.core.errors import UserError
from housewise.language.base import ChatModel, ChatRequest, Message, Scorer
from housewise.worlds.house.scene_graph import SceneGraph
from housewise.worlds.house.spoken_names import kind_from_name, remove_numbers

_Scores = Mapping[str | None, float]


@dataclass(frozen=True)
class JudgementResult:
    """Judgements of a model, and how it came to them.

    Attributes:
        judgements: Judgement of every object, in the order of the candidates.
        calls: Model calls that produced them.
        compared_scores: Natural-log probability of each placement that was compared (``"mug 1 on shelf 2"``).
    """

    judgements: Judgements
    calls: tuple[ModelCall, ...] = ()
    compared_scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ConfidenceThresholds:
    """The confidence that a judgement needs to move an object about which nothing is remembered.

    Attributes:
        threshold: Threshold in [0, 1]. 0 follows every judgement, 1 follows none.
        similar: Threshold for objects with known placements of similar kinds. None uses ``threshold``.
        unfamiliar: Threshold for kinds that the model was not trained to judge. None uses ``threshold``.
        familiar: Kinds that the model was trained to judge. None treats all kinds as familiar.
    """

    threshold: float = 0.0
    similar: float | None = None
    unfamiliar: float | None = None
    familiar: frozenset[str] | None = None

    def threshold_for(self, thing: str, options: PlacementCandidates) -> float:
        """Return the threshold for one object."""
        if options.similar and self.similar is not None:
            return self.similar
        if self.unfamiliar is not None and self.familiar is not None and kind_from_name(thing) not in self.familiar:
            return self.unfamiliar
        return self.threshold

    def __bool__(self) -> bool:
        """Whether any threshold is above 0."""
        return bool(self.threshold or self.similar or self.unfamiliar)


class Judge(Protocol):
    """Decides where objects belong."""

    def judge(
        self, graph: SceneGraph, options: CandidatesByObject, messages: tuple[Message, ...], attempts: Sequence[Attempt]
    ) -> JudgementResult:
        """Judge every object that has candidates.

        Args:
            graph: Scene graph of the robot.
            options: Placement candidates by object; see find_candidates.
            messages: Prompt of the plan.
            attempts: Everything that was tried in this episode.
        """


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
    words: PromptTemplate
    grounded: bool = False
    confidence: ConfidenceThresholds = ConfidenceThresholds()

    def judge(
        self, graph: SceneGraph, options: CandidatesByObject, messages: tuple[Message, ...], attempts: Sequence[Attempt]
    ) -> JudgementResult:
        """See Judge.judge."""
        if all(each.known for each in options.values()):
            return JudgementResult({thing: each.places[0] for thing, each in options.items()})
        words, names = self.words, self.words.prompt_names(graph)
        grammar = judgement_grammar(graph, options, names) if self.grounded else None
        reply = self.session.ask(messages, words.prefix, grammar)
        probabilities: dict[str, float] = {}
        if self.confidence:
            openings = {thing: judgement_opening(thing, graph, names) for thing in options if not options[thing].known}
            probabilities = line_probabilities(self.model, messages, words.prefix, reply, openings)
        written = parse_judgements(reply.text, graph, names)
        judgements = {}
        for thing, each in options.items():
            is_confident = probabilities.get(thing, 1.0) >= self.confidence.threshold_for(thing, each)
            judgements[thing] = _accept(each, written.get(thing, each.here), is_confident=is_confident)
        # The record of the plan holds the same prompt.
        return JudgementResult(judgements, (ModelCall((), reply),) if reply.text else ())


class ScoringJudge:
    """Scores every candidate by its log-probability and compares the most likely one with the present receptacle.

    Moving a misplaced object to another wrong receptacle costs no reward, and moving a correct one costs one. So moving
    pays off if the most likely other receptacle is more likely than the present one, even if the object most likely
    belongs on a receptacle that has not been seen. While rooms are left to enter, such an object waits. A held object
    that did not fit is put back or put on its most likely receptacle, by the same comparison. An object that the robot
    has placed stays there.

    Args:
        model: Model that scores texts.
        words: Template of the prompt.
        confidence: Share of the two probabilities that the other receptacle has to exceed; at 0.5 both are equal.
        known_first: Whether to judge nothing while rooms are left to enter or known placements are left to do. Steps
            are limited, and known placements are certain.

    Raises:
        UserError: If the model cannot score texts.
    """

    def __init__(
        self, model: ChatModel, words: PromptTemplate, confidence: ConfidenceThresholds, known_first: bool = False
    ) -> None:
        if not isinstance(model, Scorer):
            raise UserError(f"model {model.name} cannot score texts; set agent.rated=false or use a local model")
        self._model: Scorer = model
        self._words, self._confidence, self._known_first = words, confidence, known_first
        self._score_cache: dict[Hashable, dict[str, float]] = {}

    def judge(
        self, graph: SceneGraph, options: CandidatesByObject, messages: tuple[Message, ...], attempts: Sequence[Attempt]
    ) -> JudgementResult:
        """See Judge.judge."""
        placed = placed_objects(attempts)
        may_wait = bool(unentered_rooms(graph, attempts))
        waits = self._known_first and (
            may_wait or any(each.known and each.places[0] != each.here for each in options.values())
        )
        judgements: dict[str, str | None] = {}
        compared_scores: dict[str, float] = {}
        for thing, each in options.items():
            if each.known:
                judgements[thing] = each.places[0]
            elif each.here is not None and thing in placed and not each.unwanted:
                judgements[thing] = each.here
            elif each.here is not None and waits:
                judgements[thing] = None if each.unwanted else each.here
            else:
                scores = self._scores(graph, thing, each, messages, judgements)
                best = _most_likely_place(scores, each.default_place)
                threshold = self._confidence.threshold_for(thing, each)
                judgements[thing] = _choose_place(
                    each, scores, best, threshold, may_wait=may_wait and each.here is not None
                )
                compared = [place for place in (best, each.default_place) if place in scores and place is not None]
                compared_scores |= {f"{thing} on {place}": scores[place] for place in compared}
        return JudgementResult(judgements, compared_scores=compared_scores)

    def _scores(
        self,
        graph: SceneGraph,
        thing: str,
        options: PlacementCandidates,
        messages: tuple[Message, ...],
        before: Judgements,
    ) -> dict[str | None, float]:
        """Return the log-probability of a receptacle of each kind, of the present one, and of elsewhere (None)."""
        judgements: dict[str, str | None] = {
            **_first_of_each_kind(place for place in options.places if place != options.here),
            **({FINE: options.here} if options.here in options.places else {}),
            ELSEWHERE: None,
        }
        # The cache ignores changes of earlier judgements and of the order of receptacles: scoring again in every plan
        # would cost too much.
        key = thing, options.here, options.similar, frozenset(options.places)
        if key not in self._score_cache:
            names = self._words.prompt_names(graph)
            # Tokenizers attach a space to the word after it.
            opening = judgement_opening(thing, graph, names).rstrip(" ")
            request = ChatRequest(
                messages, prefix=f"{self._words.prefix}{format_judgements(before, graph, names)}{opening}"
            )
            texts = [f" {judgement_verdict(thing, place, graph, names)}\n" for place in judgements.values()]
            self._score_cache[key] = dict(zip(judgements, self._model.score(request, texts), strict=True))
        return {place: self._score_cache[key][kind] for kind, place in judgements.items()}


def _choose_place(
    options: PlacementCandidates, scores: _Scores, best: str | None, threshold: float, *, may_wait: bool
) -> str | None:
    """Return where an object belongs, or None to wait for receptacles that have not been seen."""
    if best is None:
        return options.default_place
    if may_wait and scores[None] > scores[best]:
        return None
    if options.default_place is None or options.default_place not in scores:
        return best
    share = 1 / (1 + math.exp(min(scores[options.default_place] - scores[best], 500.0)))
    return best if share > threshold else options.default_place


def _most_likely_place(scores: _Scores, stays: str | None) -> str | None:
    """Return the receptacle with the highest score, without the present one. None if there is none."""
    return max((place for place in scores if place not in (None, stays)), key=scores.__getitem__, default=None)


def _first_of_each_kind(places: Iterable[str]) -> dict[str, str]:
    """Return one receptacle per kind and kind of room. People want an object on all of these or on none."""
    first: dict[str, str] = {}
    for place in places:
        first.setdefault(remove_numbers(place), place)
    return first


def _accept(options: PlacementCandidates, written: str | None, *, is_confident: bool) -> str | None:
    """Return where an object belongs, given a written judgement and whether it is likely enough."""
    if options.known:
        return options.places[0]
    place = written if written in options.places else None
    # Guessing costs nothing for an object that is held or known to be misplaced.
    return place if is_confident or options.unwanted or options.here is None else options.here
