"""The judge that scores: the model scores every candidate placement by its log-probability.

A local model scores each placement as the line that it would write. A server is asked one question with letters about
each object; see lettered_questions.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence

from housewise.agent.personalize.judgement_text import (
    ELSEWHERE,
    FINE,
    Judgements,
    format_judgements,
    judgement_opening,
    judgement_verdict,
)
from housewise.agent.personalize.lettered_questions import LetteredQuestion, score_options
from housewise.agent.personalize.placement_candidates import CandidatesByObject, PlacementCandidates
from housewise.agent.personalize.placement_judge import ConfidenceThresholds, JudgementResult
from housewise.agent.personalize.planner import Attempt, placed_objects, unentered_rooms
from housewise.agent.personalize.prompt_notes import RememberingTemplate
from housewise.language.base import ChatModel, ChatRequest, Message, Scorer
from housewise.worlds.house.scene_graph import SceneGraph
from housewise.worlds.house.spoken_names import remove_numbers

_Scores = Mapping[str | None, float]


class ScoringJudge:
    """Scores every candidate by its log-probability and compares the most likely one with the present receptacle.

    Moving a misplaced object to another wrong receptacle costs no reward, and moving a correct one costs one. So moving
    pays off if the most likely other receptacle is more likely than the present one, even if the object most likely
    belongs on a receptacle that has not been seen. While rooms are left to enter, such an object waits. A held object
    that did not fit is put back or put on its most likely receptacle, by the same comparison. An object that the robot
    has placed stays there.

    Args:
        model: Model that scores texts, or that returns log-probabilities of its tokens.
        words: Template of the prompt.
        confidence: Share of the two probabilities that the other receptacle has to exceed; at 0.5 both are equal.
        known_first: Whether to judge nothing while rooms are left to enter or known placements are left to do. Steps
            are limited, and known placements are certain.
    """

    def __init__(
        self, model: ChatModel, words: RememberingTemplate, confidence: ConfidenceThresholds, known_first: bool = False
    ) -> None:
        self._model = model
        self._words, self._confidence, self._known_first = words, confidence, known_first
        self._score_cache: dict[Hashable, dict[str, float]] = {}

    def judge(
        self, graph: SceneGraph, options: CandidatesByObject, messages: tuple[Message, ...], attempts: Sequence[Attempt]
    ) -> JudgementResult:
        """See Judge.judge."""
        placed = placed_objects(attempts)
        may_wait = bool(unentered_rooms(graph, attempts))
        waits = self._known_first and (
            may_wait or any(each.is_decided and each.places[0] != each.here for each in options.values())
        )

        def is_settled(thing: str, each: PlacementCandidates) -> bool:
            return each.here is not None and ((thing in placed and not each.is_unwanted) or waits)

        if not isinstance(self._model, Scorer):
            left = {key: each for key, each in options.items() if not each.is_decided and not is_settled(key, each)}
            self._ask_letters(graph, left, messages)
        judgements: dict[str, str | None] = {}
        compared_scores: dict[str, float] = {}
        for thing, each in options.items():
            if each.is_decided:
                judgements[thing] = each.places[0]
            elif is_settled(thing, each):
                judgements[thing] = None if each.is_unwanted else each.here
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
        judgements = _compared_judgements(options)
        key = _cache_key(thing, options)
        # The cache ignores changes of earlier judgements and of the order of receptacles: scoring again in every plan
        # would cost too much.
        if key not in self._score_cache:
            assert isinstance(self._model, Scorer)
            names = self._words.prompt_names(graph)
            # Tokenizers attach a space to the word after it.
            opening = judgement_opening(thing, graph, names).rstrip(" ")
            request = ChatRequest(
                messages, prefix=f"{self._words.prefix}{format_judgements(before, graph, names)}{opening}"
            )
            texts = [f" {judgement_verdict(thing, place, graph, names)}\n" for place in judgements.values()]
            self._score_cache[key] = dict(zip(judgements, self._model.score(request, texts), strict=True))
        return {place: self._score_cache[key][kind] for kind, place in judgements.items()}

    def _ask_letters(self, graph: SceneGraph, options: CandidatesByObject, messages: tuple[Message, ...]) -> None:
        """Ask about all objects that have no scores yet, at once."""
        names = self._words.prompt_names(graph)
        asked = {thing: each for thing, each in options.items() if _cache_key(thing, each) not in self._score_cache}
        if not asked:
            return
        compared = {thing: _compared_judgements(each) for thing, each in asked.items()}
        questions = [
            LetteredQuestion(
                f"Where does {names.get(thing, thing)} belong? It is "
                + ("in hand." if each.here is None else f"on {names.get(each.here, each.here)}."),
                [_describe(place, each.here, names) for place in compared[thing].values()],
            )
            for thing, each in asked.items()
        ]
        for (thing, each), scores in zip(asked.items(), score_options(self._model, messages, questions), strict=True):
            self._score_cache[_cache_key(thing, each)] = dict(zip(compared[thing], scores, strict=True))


def _describe(place: str | None, here: str | None, names: Mapping[str, str]) -> str:
    """Return a judgement as an option of a question."""
    if place is None:
        return "a place that has not been seen yet"
    return f"{names.get(place, place)}{', where it is' if place == here else ''}"


def _cache_key(thing: str, options: PlacementCandidates) -> Hashable:
    return thing, options.here, options.has_similar, frozenset(options.places)


def _compared_judgements(options: PlacementCandidates) -> dict[str, str | None]:
    """Return the judgements that are compared, by kind of receptacle, FINE and ELSEWHERE."""
    return {
        **_first_of_each_kind(place for place in options.places if place != options.here),
        **({FINE: options.here} if options.here in options.places else {}),
        ELSEWHERE: None,
    }


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
