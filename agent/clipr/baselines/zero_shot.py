"""Zero-shot: the request and nothing else."""

from __future__ import annotations

from housewise.agent.clipr.language import Guidance
from housewise.agent.clipr.method import Outcome, Setup


def zero_shot(setup: Setup) -> Outcome:
    """Choose from the request alone."""
    return Outcome(setup.inference.decide(setup.test, Guidance()))
