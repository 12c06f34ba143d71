"""Placement scores: how probable a model finds it that an object belongs on each receptacle.

A local model scores each placement as the line that it would write. A server is asked one question with letters about
each object; see lettered_questions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

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
from housewise.agent.personalize.prompt_notes import NotesTemplate
from housewise.language.base import ChatModel, ChatRequest, Message, Scorer
from housewise.worlds.house.scene_graph import SceneGraph
from housewise.worlds.house.spoken_names import remove_numbers

PlacementScores = Mapping[str | None, float]
"""Log-probability of a receptacle of each kind, of the present one, and of one that has not been seen (None)."""


@dataclass(frozen=True)
class Choice:
    """The choice of a receptacle for one object.

    Attributes:
        graph: Scene graph of the robot.
        thing: Name of the object.
        options: Its placement candidates.
        scores: Scores of its placements.
        messages: What the model read before it scored them.
        may_wait: Whether the object may wait for receptacles that have not been seen.
    """

    graph: SceneGraph
    thing: str
    options: PlacementCandidates
    scores: PlacementScores
    messages: tuple[Message, ...]
    may_wait: bool = False


class PlacementScorer:
    """Scores the placements of objects by their log-probability, each object once in the same surroundings.

    Args:
        model: Model that scores texts, or that returns log-probabilities of its tokens.
        words: Template of the prompt.
    """

    def __init__(self, model: ChatModel, words: NotesTemplate) -> None:
        self._model, self._words = model, words
        self._cache: dict[Hashable, dict[str, float]] = {}

    def prepare(self, graph: SceneGraph, options: CandidatesByObject, messages: tuple[Message, ...]) -> None:
        """Ask a server about several objects at once, before their scores are read.

        Args:
            graph: Scene graph of the robot.
            options: Placement candidates by object.
            messages: What the model reads before each question.
        """
        if not isinstance(self._model, Scorer):
            self._ask_letters(graph, options, messages)

    def scores(
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
        if key not in self._cache:
            assert isinstance(self._model, Scorer)
            names = self._words.prompt_names(graph)
            # Tokenizers attach a space to the word after it.
            opening = judgement_opening(thing, graph, names).rstrip(" ")
            request = ChatRequest(
                messages, prefix=f"{self._words.prefix}{format_judgements(before, graph, names)}{opening}"
            )
            texts = [f" {judgement_verdict(thing, place, graph, names)}\n" for place in judgements.values()]
            self._cache[key] = dict(zip(judgements, self._model.score(request, texts), strict=True))
        return {place: self._cache[key][kind] for kind, place in judgements.items()}

    def _ask_letters(self, graph: SceneGraph, options: CandidatesByObject, messages: tuple[Message, ...]) -> None:
        """Ask about all objects that have no scores yet, at once."""
        names = self._words.prompt_names(graph)
        asked = {thing: each for thing, each in options.items() if _cache_key(thing, each) not in self._cache}
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
            self._cache[_cache_key(thing, each)] = dict(zip(compared[thing], scores, strict=True))


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


def _first_of_each_kind(places: Iterable[str]) -> dict[str, str]:
    """Return one receptacle per kind and kind of room. People want an object on all of these or on none."""
    first: dict[str, str] = {}
    for place in places:
        first.setdefault(remove_numbers(place), place)
    return first
