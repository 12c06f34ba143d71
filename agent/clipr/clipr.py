"""CLIPR and Adaptive CLIPR as methods (arXiv 2605.12682, section 3)."""

from __future__ import annotations

from housewise.agent.clipr.adaptive import AdaptiveClipr
from housewise.agent.clipr.elicitation import learn_rules
from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.methods import MethodInputs, MethodResult


def clipr(setup: MethodInputs) -> MethodResult:
    """Ask, write rules, choose by them."""
    elicited, rules = learn_rules(setup.language, setup.person, setup.unlabelled_examples, setup.budget)
    training = setup.language.usage.calls
    decisions = setup.inference.decide(setup.test, Guidance(rules=rules))
    return MethodResult(decisions, rules, elicited.dialogue, (), training)


def adaptive_clipr(setup: MethodInputs) -> MethodResult:
    """Ask, write rules, choose by them, and revise them when choices fail."""
    elicited, rules = learn_rules(setup.language, setup.person, setup.unlabelled_examples, setup.budget)
    training = setup.language.usage.calls
    run = AdaptiveClipr(setup.inference, setup.person, setup.critic).run(setup.test, rules)
    return MethodResult(run.decisions, run.versions[-1], elicited.dialogue, tuple(run.reviews), training)
