"""The interface of judges, which decide where objects belong, and the confidence that their judgements need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from housewise.agent.personalize.judgement_text import Judgements
from housewise.agent.personalize.placement_candidates import CandidatesByObject, PlacementCandidates
from housewise.agent.personalize.planner import Attempt, ModelCall
from housewise.language.base import Message
from housewise.worlds.house.scene_graph import SceneGraph
from housewise.worlds.house.spoken_names import kind_from_name


@dataclass(frozen=True)
class JudgementResult:
    """Judgements of a model, and how it came to them.

    Attributes:
        judgements: Judgements of objects, in the order of the candidates. Those that could not be read are left out.
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

    def threshold_for(self, thing: str, candidates: PlacementCandidates) -> float:
        """Return the threshold for one object."""
        if candidates.has_similar and self.similar is not None:
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
        self,
        graph: SceneGraph,
        candidates: CandidatesByObject,
        messages: tuple[Message, ...],
        attempts: Sequence[Attempt],
    ) -> JudgementResult:
        """Judge every object that has candidates.

        Args:
            graph: Scene graph of the robot.
            candidates: Placement candidates by object; see find_candidates.
            messages: Prompt of the plan.
            attempts: Everything that was tried in this episode.
        """


def accept_judgement(candidates: PlacementCandidates, judged: str | None, *, is_confident: bool = True) -> str | None:
    """Return the place that is known, else the judged one.

    After a judgement without confidence, an object that is not known to be misplaced stays where it is.
    """
    if candidates.is_decided:
        return candidates.places[0]
    place = judged if judged in candidates.places else None
    # A held object, or one known to be misplaced, has to be placed anyway, so an unsure guess is followed, too.
    return place if is_confident or candidates.is_unwanted or candidates.here is None else candidates.here
