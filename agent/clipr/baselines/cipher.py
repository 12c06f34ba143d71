"""CIPHER (Gao et al., NeurIPS 2024): preferences induced from corrections, retrieved by the nearest contexts.

A choice takes two calls (aggregate what was retrieved; choose, one scenario a call), a mistake one more (induce a
preference of one sentence from what was chosen and what was right). Contexts are compared as CLIPR's appendix says: by
Levenshtein's distance or by the cosine of embeddings. A correction is a question to the person; how many they answer is
lost in the paper, of which the printed efficiency says that it is every mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz.distance import Levenshtein

from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.methods import Method, MethodInputs, MethodResult
from housewise.language.embedder import cosine
from housewise.worlds.choices.scenario import Situation

RETRIEVED_CONTEXTS = 3
"""Contexts that are retrieved; the paper does not say how many."""


@dataclass(frozen=True)
class InducedPreference:
    """A context with the preference that was induced there."""

    context: str
    preference: str


def cipher(similarity: Literal["levenshtein", "embedding"], corrections: int | None = None) -> Method:
    """CIPHER.

    Args:
        similarity: how contexts are compared.
        corrections: most that the person gives; None for one at each mistake.
    """

    def run(setup: MethodInputs) -> MethodResult:
        history: list[InducedPreference] = []
        decisions = []
        for scenario in setup.test:
            near = _retrieve_preferences(setup, _context_text(scenario.situation), history, similarity)
            notes = (setup.language.aggregate(near),) if near else ()
            decision = setup.inference.decide_one(scenario, Guidance(notes=notes))
            decisions.append(decision)
            if not decision.right and (corrections is None or setup.language.usage.questions < corrections):
                setup.language.usage.questions += 1
                preference = setup.language.induce(scenario.situation, decision.action, scenario.preferred)
                history.append(InducedPreference(_context_text(scenario.situation), preference))
        return MethodResult(decisions)

    return run


def _context_text(situation: Situation) -> str:
    return f"{situation.request} {', '.join(sorted(situation.actions))}"


def _retrieve_preferences(
    setup: MethodInputs, context: str, history: Sequence[InducedPreference], by: str
) -> list[str]:
    if not history:
        return []
    if by == "levenshtein":
        close = [Levenshtein.normalized_similarity(context, each.context) for each in history]
    else:
        close = [float(value) for value in cosine(setup.embedder, [context], [each.context for each in history])[0]]
    order = sorted(range(len(history)), key=lambda place: -close[place])[:RETRIEVED_CONTEXTS]
    return [history[place].preference for place in order]
