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

from housewise.agent.clipr.actions import AskCorrection, CliprObservation, Play
from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.method_inputs import MethodFunction, MethodInputs
from housewise.language.embedder import Embedder, cosine
from housewise.worlds.choices.scenario import Situation

RETRIEVED_CONTEXTS = 3
"""Number of retrieved contexts. The paper does not state it."""


@dataclass(frozen=True)
class InducedPreference:
    """A context and the preference that was induced in it."""

    context: str
    preference: str


def cipher(similarity: Literal["levenshtein", "embedding"]) -> MethodFunction:
    """Return the CIPHER method.

    Args:
        similarity: How contexts are compared.
    """

    def play(inputs: MethodInputs, seen: CliprObservation) -> Play[None]:
        language, embedder = inputs.inference.language, inputs.embedder if similarity == "embedding" else None
        history: list[InducedPreference] = []
        place = corrections = 0
        while seen.batch:
            (situation,) = seen.batch
            near = _retrieve_preferences(embedder, _context_text(situation), history)
            notes = (language.aggregate(near),) if near else ()
            choosing = inputs.inference.choose_actions([situation], Guidance(notes=notes))
            seen = yield choosing
            allowed = inputs.max_corrections is None or corrections < inputs.max_corrections
            if not seen.decisions[0].right and allowed:
                corrections += 1
                preferred = (yield AskCorrection(place)).correction
                assert preferred is not None
                preference = language.induce(situation, choosing.choices[0].action, preferred)
                history.append(InducedPreference(_context_text(situation), preference))
            place += 1

    return play


def _context_text(situation: Situation) -> str:
    return f"{situation.request} {', '.join(sorted(situation.actions))}"


def _retrieve_preferences(embedder: Embedder | None, context: str, history: Sequence[InducedPreference]) -> list[str]:
    """Return the preferences of the nearest contexts, by the cosine of embeddings or by Levenshtein distance."""
    if not history:
        return []
    if embedder is None:
        close = [Levenshtein.normalized_similarity(context, each.context) for each in history]
    else:
        close = [float(value) for value in cosine(embedder, [context], [each.context for each in history])[0]]
    order = sorted(range(len(history)), key=lambda place: -close[place])[:RETRIEVED_CONTEXTS]
    return [history[place].preference for place in order]
