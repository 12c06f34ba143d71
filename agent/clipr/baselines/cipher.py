"""CIPHER (Gao et al., NeurIPS 2024): induce preferences from corrections and retrieve them by similar contexts.

A choice takes two calls: aggregate the retrieved preferences, then choose in one scenario. A mistake takes one more
call to induce a one-sentence preference from the chosen and the correct action. Contexts are compared as in CLIPR's
appendix, by Levenshtein distance or by the cosine of embeddings. A correction counts as a question to the person. The
paper does not state their number; its efficiency scores imply one correction per mistake.
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
"""Number of retrieved contexts. The paper does not state it."""


@dataclass(frozen=True)
class InducedPreference:
    """A context and the preference that was induced in it."""

    context: str
    preference: str


def cipher(similarity: Literal["levenshtein", "embedding"], corrections: int | None = None) -> Method:
    """Return the CIPHER method.

    Args:
        similarity: How contexts are compared.
        corrections: Maximum number of corrections by the person. None allows one per mistake.
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
