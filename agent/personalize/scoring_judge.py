"""The judge that scores: the model scores every candidate placement by its log-probability; see placement_scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from housewise.agent.personalize.placement_candidates import CandidatesByObject, PlacementCandidates
from housewise.agent.personalize.placement_judge import ConfidenceThresholds, JudgementResult
from housewise.agent.personalize.placement_scores import Choice, PlacementScorer
from housewise.agent.personalize.planner import Attempt, placed_objects, unentered_rooms
from housewise.language.base import Message
from housewise.worlds.house.scene_graph import SceneGraph


class PlacementChooser(Protocol):
    """Chooses between the present receptacle of an object and the others.

    Attributes:
        ignores_judgements: Whether an object is scored without the judgements of the objects before it.
    """

    ignores_judgements: bool

    def choose(self, choice: Choice) -> tuple[str | None, str | None]:
        """Return where an object belongs, or None for a receptacle that has not been seen, and the best other one."""


class ConfidentChoice:
    """Moves an object if its most likely other receptacle is likely enough, compared with the present one.

    While rooms are left to enter, an object that most likely belongs on a receptacle that has not been seen waits.

    Args:
        confidence: Share of the two probabilities that the other receptacle has to exceed; at 0.5 both are equal.
    """

    ignores_judgements = False

    def __init__(self, confidence: ConfidenceThresholds) -> None:
        self._confidence = confidence

    def choose(self, choice: Choice) -> tuple[str | None, str | None]:
        """See PlacementChooser.choose."""
        options, scores = choice.options, choice.scores
        stays = options.default_place
        best = max((place for place in scores if place not in (None, stays)), key=scores.__getitem__, default=None)
        if best is None:
            return stays, None
        if choice.may_wait and scores[None] > scores[best]:
            return None, best
        if stays is None or stays not in scores:
            return best, best
        share = 1 / (1 + math.exp(min(scores[stays] - scores[best], 500.0)))
        return (best if share > self._confidence.threshold_for(choice.thing, options) else stays), best


class ScoringJudge:
    """Scores every candidate by its log-probability and chooses between the best one and the present receptacle.

    Moving a misplaced object to another wrong receptacle costs no reward, and moving a correct one costs one. So moving
    can pay off even if the object most likely belongs on a receptacle that has not been seen. A held object that did
    not fit is put back or put on its best receptacle, by the same choice. An object that the robot has placed stays
    there.

    Args:
        scorer: Scores the placements.
        chooser: Compares the scores of one object.
        known_first: Whether to judge nothing while rooms are left to enter or known placements are left to do. Steps
            are limited, and known placements are certain.
    """

    def __init__(self, scorer: PlacementScorer, chooser: PlacementChooser, known_first: bool = False) -> None:
        self._scorer, self._chooser, self._known_first = scorer, chooser, known_first

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

        left = {key: each for key, each in options.items() if not each.is_decided and not is_settled(key, each)}
        self._scorer.prepare(graph, left, messages)
        judgements: dict[str, str | None] = {}
        compared_scores: dict[str, float] = {}
        for thing, each in options.items():
            if each.is_decided:
                judgements[thing] = each.places[0]
            elif is_settled(thing, each):
                judgements[thing] = None if each.is_unwanted else each.here
            else:
                before = {} if self._chooser.ignores_judgements else judgements
                scores = self._scorer.scores(graph, thing, each, messages, before)
                choice = Choice(graph, thing, each, scores, messages, may_wait and each.here is not None)
                judgements[thing], best = self._chooser.choose(choice)
                compared = [place for place in (best, each.default_place) if place in scores and place is not None]
                compared_scores |= {f"{thing} on {place}": scores[place] for place in compared}
        return JudgementResult(judgements, compared_scores=compared_scores)
