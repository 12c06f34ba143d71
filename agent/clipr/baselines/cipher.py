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
from housewise.agent.clipr.methods import Method, Outcome, Setup
from housewise.language.embedder import cosine
from housewise.worlds.choices.scenario import Situation

NEAREST = 3
"""Contexts that are retrieved; the paper does not say how many."""


@dataclass(frozen=True)
class Remembered:
    """A context with the preference that was induced there."""

    context: str
    preference: str


def cipher(by: Literal["levenshtein", "embedding"], corrections: int | None = None) -> Method:
    """CIPHER.

    Args:
        by: how contexts are compared.
        corrections: most that the person gives; None for one at each mistake.
    """

    def run(setup: Setup) -> Outcome:
        history: list[Remembered] = []
        decisions = []
        for scenario in setup.test:
            near = _nearest(setup, _context(scenario.situation), history, by)
            notes = (setup.language.aggregate(near),) if near else ()
            decision = setup.inference.decide_one(scenario, Guidance(notes=notes))
            decisions.append(decision)
            if not decision.right and (corrections is None or setup.language.usage.questions < corrections):
                setup.language.usage.questions += 1
                preference = setup.language.induce(scenario.situation, decision.action, scenario.preferred)
                history.append(Remembered(_context(scenario.situation), preference))
        return Outcome(decisions)

    return run


def _context(situation: Situation) -> str:
    return f"{situation.request} {', '.join(sorted(situation.actions))}"


def _nearest(setup: Setup, context: str, history: Sequence[Remembered], by: str) -> list[str]:
    if not history:
        return []
    if by == "levenshtein":
        close = [Levenshtein.normalized_similarity(context, each.context) for each in history]
    else:
        close = [float(value) for value in cosine(setup.embedder, [context], [each.context for each in history])[0]]
    order = sorted(range(len(history)), key=lambda place: -close[place])[:NEAREST]
    return [history[place].preference for place in order]
