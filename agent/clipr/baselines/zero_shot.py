"""Zero-shot: the request and nothing else."""

from __future__ import annotations

from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.methods import MethodInputs, MethodResult


def zero_shot(setup: MethodInputs) -> MethodResult:
    """Choose from the request alone."""
    return MethodResult(setup.inference.decide(setup.test, Guidance()))
