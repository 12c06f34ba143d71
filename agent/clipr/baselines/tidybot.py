"""TidyBot (Wu et al., 2023): labelled examples are summarised in one call into general rules; nobody is asked."""

from __future__ import annotations

from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.methods import MethodInputs, MethodResult


def tidybot(setup: MethodInputs) -> MethodResult:
    """Summarise, then choose by the summary."""
    rules = setup.language.summarize(setup.answers)
    training = setup.language.usage.calls
    return MethodResult(setup.inference.decide(setup.test, Guidance(rules=rules)), rules, training_calls=training)
