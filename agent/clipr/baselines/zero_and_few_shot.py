"""Baselines that choose from the prompt alone: zero-shot, and in-context learning without or with answers."""

from __future__ import annotations

from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.methods import MethodInputs, MethodResult


def zero_shot(setup: MethodInputs) -> MethodResult:
    """Choose from the request alone."""
    return MethodResult(setup.inference.decide(setup.test, Guidance()))


def in_context(setup: MethodInputs) -> MethodResult:
    """Choose with examples without their correct actions."""
    return MethodResult(setup.inference.decide(setup.test, Guidance(examples=setup.unlabelled_examples)))


def in_context_with_answers(setup: MethodInputs) -> MethodResult:
    """Choose with examples and their correct actions."""
    return MethodResult(setup.inference.decide(setup.test, Guidance(answers=setup.answers)))
