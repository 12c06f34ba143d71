"""In-context learning: example scenarios in the prompt, without answers or with them."""

from __future__ import annotations

from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.methods import Outcome, Setup


def in_context(setup: Setup) -> Outcome:
    """Examples without answers."""
    return Outcome(setup.inference.decide(setup.test, Guidance(examples=setup.situations)))


def in_context_with_answers(setup: Setup) -> Outcome:
    """Examples with the right answers."""
    return Outcome(setup.inference.decide(setup.test, Guidance(answers=setup.answers)))
