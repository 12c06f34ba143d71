"""Baselines that choose from the prompt alone: zero-shot, and in-context learning without or with answers."""

from __future__ import annotations

from housewise.agent.clipr.action_choice import choose_all
from housewise.agent.clipr.actions import CliprObservation, Play
from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.method_inputs import MethodInputs


def zero_shot(inputs: MethodInputs, seen: CliprObservation) -> Play[None]:
    """Choose from the request alone."""
    return choose_all(inputs.inference, seen, Guidance())


def in_context(inputs: MethodInputs, seen: CliprObservation) -> Play[None]:
    """Choose with examples without their correct actions."""
    return choose_all(inputs.inference, seen, Guidance(examples=seen.examples))


def in_context_with_answers(inputs: MethodInputs, seen: CliprObservation) -> Play[None]:
    """Choose with examples and their correct actions."""
    return choose_all(inputs.inference, seen, Guidance(answers=inputs.labelled_examples))
