"""TidyBot (Wu et al., 2023): summarize labelled examples into general rules with one call. Nobody is asked."""

from __future__ import annotations

from housewise.agent.clipr.action_choice import choose_all
from housewise.agent.clipr.actions import CliprObservation, NewRules, Play
from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.method_inputs import MethodInputs


def tidybot(inputs: MethodInputs, seen: CliprObservation) -> Play[None]:
    """Summarize the examples, then choose by the summary."""
    rules = inputs.inference.language.summarize(inputs.labelled_examples)
    yield NewRules(rules, "examples")
    yield from choose_all(inputs.inference, seen, Guidance(rules=rules))
