"""Weighing notes against the model: the placement kernel with the model's common sense as one of its opinions.

The model scores placements without any note. Its scores count as much as a few notes about each placement, the more,
the better they agree with the notes that there are; see model_trust.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

import numpy as np

from housewise.agent.personalize.model_trust import ModelTrust, ScoredKind, estimate_trust, placement_probabilities
from housewise.agent.personalize.placement_candidates import PlacementCandidates
from housewise.agent.personalize.placement_kernel import KERNEL, PlacementOpinion
from housewise.agent.personalize.placement_scores import Choice, PlacementScorer
from housewise.agent.personalize.planner import listed_receptacles
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.language.base import Message
from housewise.worlds.house.scene_graph import SceneGraph
from housewise.worlds.house.spoken_names import kind_from_name, remove_numbers

_MAX_KINDS = 24
"""Kinds of objects that the trust is estimated from: those of the newest notes that bear on the house."""
_MAX_SEARCHED = 300
"""Kinds among which they are searched."""

# Chosen by training tasks of two scenes and by generated houses with known people.
_NOTES_PER_TRUST = 3.0
"""Number of notes about a placement that the model's opinion weighs as much as, at a trust of 1."""
_LOG_ODDS = -0.75
"""Log-odds that a placement is right to which the model gives an average probability."""
_FULL_TRUST = 0.6
"""Trust from which on an object goes to whatever place has the higher value. Below, the difference has to be larger;
without trust it is the kernel's margin."""


class NoteWeighing:
    """Moves an object if the notes and the model's scores without notes speak for another receptacle; see ScoringJudge.

    Args:
        scorer: Scores placements.
        knowledge: What is known about the person.
        familiar: Kinds of objects that the model was trained to judge. None for all.
    """

    ignores_judgements = True

    def __init__(
        self,
        scorer: PlacementScorer,
        knowledge: PreferenceKnowledge,
        familiar: frozenset[str] | None = None,
    ) -> None:
        self._scorer, self._knowledge, self._familiar = scorer, knowledge, familiar
        self._trusts: dict[frozenset[str], ModelTrust] = {}

    def trust(self, graph: SceneGraph, messages: tuple[Message, ...]) -> ModelTrust:
        """Return the trust in the model, by the noted kinds that belong on receptacles which the robot has seen.

        The model judges each of them as if one were in the robot's hand, behind a prompt that describes the present
        state. It is asked again when the robot has seen other kinds of receptacles.

        Args:
            graph: Scene graph of the robot.
            messages: Prompt without notes.
        """
        places = tuple(listed_receptacles(graph))
        seen = frozenset(map(remove_numbers, places))
        if seen not in self._trusts:
            noted = self._knowledge.noted_kinds(_MAX_SEARCHED)
            known = (kind for kind in noted if any(self._knowledge.wants(kind, place) is not None for place in places))
            held = {kind: PlacementCandidates(None, places) for kind in islice(known, _MAX_KINDS)}
            self._scorer.prepare(graph, held, messages)
            scored = {kind: self._scorer.scores(graph, kind, each, messages, {}) for kind, each in held.items()}
            self._trusts[seen] = estimate_trust(self._scored_kind(kind, scores) for kind, scores in scored.items())
        return self._trusts[seen]

    def choose(self, choice: Choice) -> tuple[str | None, str | None]:
        """Return where an object belongs, and the best receptacle of another kind than its present one."""
        options, stays = choice.options, choice.options.default_place
        if not options.places:
            return stays, None
        kind = kind_from_name(choice.thing)
        trust = self.trust(choice.graph, choice.messages)
        weight = trust.familiar if self._is_familiar(kind) else trust.unfamiliar
        values = self._values(choice, weight)
        # People want an object on all receptacles of a kind in a kind of room, or on none.
        others = [place for place in values if remove_numbers(place) != remove_numbers(stays or "")]
        best = max(others, key=values.__getitem__, default=None)
        if best is None or stays not in values:
            return best or stays, best
        margin = KERNEL.margin * max(0.0, 1 - weight / _FULL_TRUST)
        return (best if values[best] >= values[stays] + margin else stays), best

    def _values(self, choice: Choice, trust: float) -> dict[str, float]:
        """Return the value of each receptacle for an object, from -1 to 1."""
        scores, places = choice.scores, choice.options.places
        by_kind: dict[str, float] = {}
        for place, score in scores.items():
            # The score of the present receptacle, which comes last, is that of staying there.
            by_kind.setdefault(remove_numbers(place or ""), score)
        compared = [scores[place] if place in scores else by_kind[remove_numbers(place)] for place in places]
        odds = np.exp(_LOG_ODDS) * len(places) * placement_probabilities(compared, trust)
        opinion = PlacementOpinion(list(2 * odds / (1 + odds) - 1), _NOTES_PER_TRUST * trust)
        values = self._knowledge.placement_values(choice.thing, places, opinion)
        return dict(zip(places, values, strict=True))

    def _scored_kind(self, kind: str, scores: Mapping[str | None, float]) -> ScoredKind:
        seen = {place: score for place, score in scores.items() if place is not None}
        wanted = [self._knowledge.wants(kind, place) for place in seen]
        return ScoredKind(list(seen.values()), wanted, self._is_familiar(kind))

    def _is_familiar(self, kind: str) -> bool:
        return self._familiar is None or kind in self._familiar
