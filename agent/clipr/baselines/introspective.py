"""Introspective Planning (Liang et al., NeurIPS 2024): write rationales of labelled examples and retrieve the nearest.

The labels of the knowledge are those of the data set's annotators where they exist. Each example takes two calls, each
choice one.
"""

from __future__ import annotations

from housewise.agent.clipr.language_steps import Guidance, LabelledExample
from housewise.agent.clipr.methods import MethodInputs, MethodResult
from housewise.language.embedder import cosine

RETRIEVED_EXAMPLES = 3
"""Number of retrieved examples."""


def introspective_planning(setup: MethodInputs) -> MethodResult:
    """Write rationales, then choose in one scenario per call with the rationales of the nearest examples."""
    known = [
        LabelledExample(each.situation, each.preferred if each.annotated is None else each.annotated)
        for each in setup.knowledge or setup.examples
    ]
    rationales = [setup.language.rationalize(each) for each in known]
    training = setup.language.usage.calls
    requests = [each.situation.request for each in known]
    decisions = []
    for scenario in setup.test:
        close = cosine(setup.embedder, [scenario.situation.request], requests)[0]
        nearest = sorted(range(len(known)), key=lambda place: -float(close[place]))[:RETRIEVED_EXAMPLES]
        notes = tuple(rationales[place] for place in nearest)
        decisions.append(setup.inference.decide_one(scenario, Guidance(notes=notes)))
    return MethodResult(decisions, training_calls=training)
