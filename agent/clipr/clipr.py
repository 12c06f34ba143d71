"""CLIPR and Adaptive CLIPR as methods (arXiv 2605.12682, section 3)."""

from __future__ import annotations

from housewise.agent.clipr.adaptive import AdaptiveClipr
from housewise.agent.clipr.elicitation import learn
from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.methods import Outcome, Setup


def clipr(setup: Setup) -> Outcome:
    """Ask, write rules, choose by them."""
    elicited, rules = learn(setup.language, setup.person, setup.situations, setup.budget)
    training = setup.language.usage.calls
    decisions = setup.inference.decide(setup.test, Guidance(rules=rules))
    return Outcome(decisions, rules, elicited.dialogue, (), training)


def adaptive_clipr(setup: Setup) -> Outcome:
    """Ask, write rules, choose by them, and revise them when choices fail."""
    elicited, rules = learn(setup.language, setup.person, setup.situations, setup.budget)
    training = setup.language.usage.calls
    run = AdaptiveClipr(setup.inference, setup.person, setup.critic).run(setup.test, rules)
    return Outcome(run.decisions, run.versions[-1], elicited.dialogue, tuple(run.reviews), training)
