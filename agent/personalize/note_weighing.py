"""Weighing notes against the model: the placement kernel with the model's common sense as one of its opinions.

The model scores placements without any note. Its scores count as much as a few notes about each placement, the more,
the better they agree with the notes that there are; see model_trust.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from housewise.agent.personalize.model_trust import ModelTrust, ScoredNote, estimate_trust, shares
from housewise.agent.personalize.placement_candidates import PlacementCandidates
from housewise.agent.personalize.placement_kernel import KERNEL, PlacementOpinion
from housewise.agent.personalize.placement_scores import Choice, PlacementScorer
from housewise.agent.personalize.planner import listed_receptacles
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.language.base import Message
from housewise.worlds.house.scene_graph import SceneGraph
from housewise.worlds.house.spoken_names import kind_from_name, remove_numbers

_MAX_KINDS = 24
"""Kinds of objects with notes that the trust is estimated from, the newest."""


@dataclass(frozen=True)
class WeighingConstants:
    """Constants of the weighing, chosen by training tasks of two scenes and by generated houses with known people.

    Attributes:
        notes_per_trust: Number of notes about a placement that the model's opinion weighs as much as, at a trust of 1.
        log_odds: Log-odds that a placement is right of which the model thinks neither well nor badly.
        full_trust: Trust from which on any difference in value moves an object. Below, the difference has to be larger;
            without trust it is the kernel's margin.
    """

    notes_per_trust: float = 3.0
    log_odds: float = -0.75
    full_trust: float = 0.6


WEIGHING = WeighingConstants()


class NoteWeighing:
    """Moves an object if the notes and the model's scores without notes speak for another receptacle; see ScoringJudge.

    Args:
        scorer: Scores placements.
        knowledge: What is known about the person.
        familiar: Kinds of objects that the model was trained to judge. None for all.
        margin: Difference in value that moves an object without any trust in the model.
        constants: Constants of the weighing.
    """

    ignores_judgements = True

    def __init__(
        self,
        scorer: PlacementScorer,
        knowledge: PreferenceKnowledge,
        familiar: frozenset[str] | None = None,
        margin: float = KERNEL.margin,
        constants: WeighingConstants = WEIGHING,
    ) -> None:
        self._scorer, self._knowledge, self._familiar = scorer, knowledge, familiar
        self._margin, self._constants = margin, constants
        self._trust: ModelTrust | None = None

    def trust(self, graph: SceneGraph, messages: tuple[Message, ...]) -> ModelTrust:
        """Return the trust in the model. It is estimated at the first call.

        The model judges each noted kind as if one were in the robot's hand.

        Args:
            graph: Scene graph of the robot.
            messages: Prompt without notes.
        """
        if self._trust is None:
            empty_handed = graph.copy_without([graph.holding] if graph.holding else [])
            places = listed_receptacles(graph)
            held = {
                kind: PlacementCandidates(None, tuple(places))
                for kind in self._knowledge.noted_kinds(_MAX_KINDS)
                if any(self._knowledge.wants(kind, place) is not None for place in places)
            }
            self._scorer.prepare(empty_handed, held, messages)
            scored = {kind: self._scorer.scores(empty_handed, kind, each, messages, {}) for kind, each in held.items()}
            self._trust = estimate_trust(self._scored_note(kind, scores) for kind, scores in scored.items())
        return self._trust

    def choose(self, choice: Choice) -> tuple[str | None, str | None]:
        """Return where an object belongs, and the receptacle of the highest value without the present one."""
        options, stays = choice.options, choice.options.default_place
        if not options.places:
            return stays, None
        kind = kind_from_name(choice.thing)
        trust = self.trust(choice.graph, choice.messages)
        weight = trust.familiar if self._is_familiar(kind) else trust.unfamiliar
        values = self._values(choice, weight)
        best = max((place for place in values if place != stays), key=values.__getitem__, default=None)
        if best is None or stays not in values:
            return best or stays, best
        margin = self._margin * max(0.0, 1 - weight / self._constants.full_trust)
        return (best if values[best] >= values[stays] + margin else stays), best

    def _values(self, choice: Choice, trust: float) -> dict[str, float]:
        """Return the value of each receptacle for an object, from -1 to 1."""
        scores, places = choice.scores, choice.options.places
        by_kind: dict[str, float] = {}
        for place, score in scores.items():
            # The score of the present receptacle, which comes last, is that of staying there.
            by_kind.setdefault(remove_numbers(place or ""), score)
        compared = [scores[place] if place in scores else by_kind[remove_numbers(place)] for place in places]
        odds = np.exp(self._constants.log_odds) * len(places) * shares(compared, trust)
        opinion = PlacementOpinion(list(2 * odds / (1 + odds) - 1), self._constants.notes_per_trust * trust)
        values = self._knowledge.placement_values(choice.thing, places, opinion)
        return dict(zip(places, values, strict=True))

    def _scored_note(self, kind: str, scores: Mapping[str | None, float]) -> ScoredNote:
        seen = {place: score for place, score in scores.items() if place is not None}
        wanted = [self._knowledge.wants(kind, place) for place in seen]
        return ScoredNote(list(seen.values()), wanted, self._is_familiar(kind))

    def _is_familiar(self, kind: str) -> bool:
        return self._familiar is None or kind in self._familiar
