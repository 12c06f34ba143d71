"""In-context learning: example scenarios in the prompt, without answers or with them."""

from __future__ import annotations

from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.methods import MethodInputs, MethodResult


def in_context(setup: MethodInputs) -> MethodResult:
    """Examples without answers."""
    return MethodResult(setup.inference.decide(setup.test, Guidance(examples=setup.unlabelled_examples)))


def in_context_with_answers(setup: MethodInputs) -> MethodResult:
    """Examples with the right answers."""
    return MethodResult(setup.inference.decide(setup.test, Guidance(answers=setup.answers)))
