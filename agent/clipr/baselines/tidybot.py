"""TidyBot (Wu et al., 2023): summarize labelled examples into general rules with one call. Nobody is asked."""

from __future__ import annotations

from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.methods import MethodInputs, MethodResult


def tidybot(setup: MethodInputs) -> MethodResult:
    """Summarize the examples, then choose by the summary."""
    rules = setup.language.summarize(setup.answers)
    training = setup.language.usage.calls
    return MethodResult(setup.inference.decide(setup.test, Guidance(rules=rules)), rules, training_calls=training)
