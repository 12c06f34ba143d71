"""Zero-shot: the request and nothing else."""

from __future__ import annotations

from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.methods import Outcome, Setup


def zero_shot(setup: Setup) -> Outcome:
    """Choose from the request alone."""
    return Outcome(setup.inference.decide(setup.test, Guidance()))
