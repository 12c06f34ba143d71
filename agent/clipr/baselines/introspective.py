"""Introspective Planning (Liang et al., NeurIPS 2024): write rationales of labelled examples and retrieve the nearest.

The labels of the knowledge are those of the data set's annotators where they exist. Each example takes two calls, each
choice one.
"""

from __future__ import annotations

from collections.abc import Sequence

from housewise.agent.clipr.actions import ChooseActions, CliprObservation, Play
from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.method_inputs import MethodInputs
from housewise.language.embedder import cosine
from housewise.worlds.choices.scenario import Situation

RETRIEVED_EXAMPLES = 3
"""Number of retrieved examples."""


def introspective_planning(inputs: MethodInputs, seen: CliprObservation) -> Play[None]:
    """Write rationales, then choose in one scenario per call with the rationales of the nearest examples."""
    rationales = [inputs.inference.language.rationalize(each) for each in inputs.knowledge]
    while seen.batch:
        alone = [
            inputs.inference.choose_actions([situation], Guidance(notes=_retrieve(inputs, rationales, situation)))
            for situation in seen.batch
        ]
        choices = tuple(choice for each in alone for choice in each.choices)
        seen = yield ChooseActions(choices, sum(each.calls for each in alone))


def _retrieve(inputs: MethodInputs, rationales: Sequence[str], situation: Situation) -> tuple[str, ...]:
    assert inputs.embedder is not None
    requests = [each.situation.request for each in inputs.knowledge]
    close = cosine(inputs.embedder, [situation.request], requests)[0]
    nearest = sorted(range(len(requests)), key=lambda place: -float(close[place]))[:RETRIEVED_EXAMPLES]
    return tuple(rationales[place] for place in nearest)
