"""How a model judges where things belong of which nothing is remembered: it says so, or every place is rated."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from housewise.agent.personalize.chat_session import ChatSession
from housewise.agent.personalize.grammar import judgement_grammar
from housewise.agent.personalize.placement_judgement import (
    ELSEWHERE,
    FINE,
    Judgements,
    format_judgements,
    judgement_opening,
    judgement_verdict,
    parse_judgements,
)
from housewise.agent.personalize.planner import Attempt, ModelCall, unentered_rooms
from housewise.agent.personalize.preference_knowledge import PlacementCandidates
from housewise.agent.personalize.prompt import PromptTemplate
from housewise.agent.personalize.token_probabilities import line_probabilities
from housewise.core.errors import UserError
from housewise.language.base import ChatModel, ChatRequest, Message, Scorer
from housewise.worlds.house.actions import ActionKind
from housewise.worlds.house.names import kind_of, without_numbers
from housewise.worlds.house.scene_graph import SceneGraph


@dataclass(frozen=True)
class JudgementResult:
    """What has been judged.

    Attributes:
        judgements: of every thing, in the order of the options.
        exchanges: what the model was asked for that and what it answered.
        ratings: the natural-log probability of each judgement that was compared (``"mug 1 on shelf 2"``).
    """

    judgements: Judgements
    exchanges: tuple[ModelCall, ...] = ()
    ratings: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ConfidenceThresholds:
    """What a judgement of a thing of which nothing is remembered has to come up to if it is to move the thing.

    Attributes:
        least: share in [0, 1]; 0 follows all, 1 none.
        alike: the same where it is remembered of others like it where they are wanted; None for no difference.
        unfamiliar: the same for other things of kinds that the model was not taught to judge; None for no difference.
        familiar: the kinds that it was taught to judge; None for all.
    """

    least: float = 0.0
    alike: float | None = None
    unfamiliar: float | None = None
    familiar: frozenset[str] | None = None

    def of(self, thing: str, options: PlacementCandidates) -> float:
        """The share for one thing, by name."""
        if options.alike and self.alike is not None:
            return self.alike
        if self.unfamiliar is not None and self.familiar is not None and kind_of(thing) not in self.familiar:
            return self.unfamiliar
        return self.least

    def __bool__(self) -> bool:
        """Whether anything may be left alone."""
        return bool(self.least or self.alike or self.unfamiliar)


class Judge(Protocol):
    """Judges things."""

    def judge(
        self,
        graph: SceneGraph,
        options: Mapping[str, PlacementCandidates],
        messages: tuple[Message, ...],
        attempts: Sequence[Attempt],
    ) -> JudgementResult:
        """Judge every thing.

        Args:
            graph: what the robot knows of the house.
            options: what may be judged of each thing, and what is known; see outlook.
            messages: the prompt.
            attempts: everything tried in this episode.
        """
        ...


@dataclass(frozen=True)
class WritingJudge:
    """The model writes its judgements, a line each; what it finds less likely than it should be moves nothing.

    Attributes:
        model: answers.
        asker: asks it.
        words: the prompt's.
        grounded: whether replies are held to what may be judged.
        confidence: the probability of its line below which a judgement moves nothing.
    """

    model: ChatModel
    asker: ChatSession
    words: PromptTemplate
    grounded: bool = False
    confidence: ConfidenceThresholds = ConfidenceThresholds()

    def judge(
        self,
        graph: SceneGraph,
        options: Mapping[str, PlacementCandidates],
        messages: tuple[Message, ...],
        attempts: Sequence[Attempt],
    ) -> JudgementResult:
        """See Judge.judge."""
        if all(each.known for each in options.values()):
            return JudgementResult({thing: each.places[0] for thing, each in options.items()})
        words, called = self.words, self.words.called(graph)
        grammar = judgement_grammar(graph, options, called) if self.grounded else None
        reply = self.asker.ask(messages, words.prefix, grammar)
        likely: dict[str, float] = {}
        if self.confidence:
            openings = {thing: judgement_opening(thing, graph, called) for thing in options if not options[thing].known}
            likely = line_probabilities(self.model, messages, words.prefix, reply, openings)
        said = parse_judgements(reply.text, graph, called)
        sure = {thing: likely.get(thing, 1.0) >= self.confidence.of(thing, each) for thing, each in options.items()}
        judgements = {
            thing: _settled(each, said.get(thing, each.here), sure=sure[thing]) for thing, each in options.items()
        }
        # What a plan's own prompt says is not said again.
        return JudgementResult(judgements, (ModelCall((), reply),) if reply.text else ())


class ScoringJudge:
    """Of every place where a thing may belong the model tells how likely it finds it; the likeliest other place is
    compared with where the thing is.

    To move what is wrong to a wrong place loses nothing, to move what is right loses one: so it pays to move where the
    likeliest other place is likelier than the present one, however likely it is that the thing belongs elsewhere still.
    While there are rooms that have not been entered, a thing waits that more likely belongs on none of the places known
    than on the likeliest of them. What is in the hand, as there was no room where it was brought, is put back where it
    was, or on the likeliest place, by the same comparison. What the robot has put somewhere stays there.

    Args:
        model: tells how likely it finds texts.
        words: the prompt's.
        confidence: the share of the two probabilities that the other place's has to exceed; 0.5: they are equal.
        patient: whether nothing is judged while there are rooms to enter, or anything is left to be done of what is
            known: steps are few, and what is known is sure.

    Raises:
        UserError: when the model does not tell probabilities.
    """

    def __init__(
        self, model: ChatModel, words: PromptTemplate, confidence: ConfidenceThresholds, patient: bool = False
    ) -> None:
        if not isinstance(model, Scorer):
            raise UserError(
                f"model {model.name} does not tell how likely texts are; set agent.rated=false, or ask a local model"
            )
        self._model: Scorer = model
        self._words, self._confidence, self._patient = words, confidence, patient
        self._rated: dict[Hashable, dict[str, float]] = {}

    def judge(
        self,
        graph: SceneGraph,
        options: Mapping[str, PlacementCandidates],
        messages: tuple[Message, ...],
        attempts: Sequence[Attempt],
    ) -> JudgementResult:
        """See Judge.judge."""
        placed = {
            tried.action.target for tried in attempts if tried.succeeded and tried.action.kind == ActionKind.PLACE
        }
        may_wait = bool(unentered_rooms(graph, attempts))
        waits = self._patient and (
            may_wait or any(each.known and each.places[0] != each.here for each in options.values())
        )
        found: dict[str, str | None] = {}
        ratings: dict[str, float] = {}
        for thing, each in options.items():
            if each.known:
                found[thing] = each.places[0]
            elif each.here is not None and thing in placed and not each.unwanted:
                found[thing] = each.here
            elif each.here is not None and waits:
                found[thing] = None if each.unwanted else each.here
            else:
                scores = self._scores(graph, thing, each, messages, found)
                best = _likeliest(scores, each.stays)
                least = self._confidence.of(thing, each)
                found[thing] = _decided(each, scores, best, least, may_wait=may_wait and each.here is not None)
                compared = [place for place in (best, each.stays) if place in scores and place is not None]
                ratings |= {f"{thing} on {place}": scores[place] for place in compared}
        return JudgementResult(found, ratings=ratings)

    def _scores(
        self,
        graph: SceneGraph,
        thing: str,
        options: PlacementCandidates,
        messages: tuple[Message, ...],
        before: Judgements,
    ) -> dict[str | None, float]:
        """The natural-log probability of each judgement: a place of each kind, where it is, and none of those known."""
        judgements: dict[str, str | None] = {
            **_by_kind(place for place in options.places if place != options.here),
            **({FINE: options.here} if options.here in options.places else {}),
            ELSEWHERE: None,
        }
        # What is judged before it may have changed since, and the order of places; the same question is not paid for
        # in every plan all the same.
        key = thing, options.here, options.alike, frozenset(options.places)
        if key not in self._rated:
            called = self._words.called(graph)
            # A blank belongs to the word behind it, as models read them.
            opening = judgement_opening(thing, graph, called).rstrip(" ")
            request = ChatRequest(
                messages, prefix=f"{self._words.prefix}{format_judgements(before, graph, called)}{opening}"
            )
            texts = [f" {judgement_verdict(thing, place, graph, called)}\n" for place in judgements.values()]
            self._rated[key] = dict(zip(judgements, self._model.score(request, texts), strict=True))
        return {place: self._rated[key][kind] for kind, place in judgements.items()}


def _decided(
    options: PlacementCandidates, scores: Mapping[str | None, float], best: str | None, least: float, *, may_wait: bool
) -> str | None:
    """Where a thing is taken to belong; None to wait for other places."""
    if best is None:
        return options.stays
    if may_wait and scores[None] > scores[best]:
        return None
    if options.stays is None or options.stays not in scores:
        return best
    share = 1 / (1 + math.exp(min(scores[options.stays] - scores[best], 500.0)))
    return best if share > least else options.stays


def _likeliest(scores: Mapping[str | None, float], stays: str | None) -> str | None:
    """The place that is rated highest, but for where the thing is or was; None without any."""
    return max((place for place in scores if place not in (None, stays)), key=scores.__getitem__, default=None)


def _by_kind(places: Iterable[str]) -> dict[str, str]:
    """The first receptacle of each kind in each kind of room: people want a thing on all of them or on none."""
    first: dict[str, str] = {}
    for place in places:
        first.setdefault(without_numbers(place), place)
    return first


def _settled(options: PlacementCandidates, said: str | None, *, sure: bool) -> str | None:
    """Where a thing is taken to belong."""
    if options.known:
        return options.places[0]
    place = said if said in options.places else None
    # What is in the hand or unwanted where it is loses nothing by a guess.
    return place if sure or options.unwanted or options.here is None else options.here
