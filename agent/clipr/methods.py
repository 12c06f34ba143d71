"""CLIPR, Adaptive CLIPR (arXiv 2605.12682, section 3) and the methods that they are compared with, by name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from housewise.agent.clipr.action_choice import choose_all
from housewise.agent.clipr.actions import CliprObservation, NewRules, Play
from housewise.agent.clipr.adaptive import choose_adaptively
from housewise.agent.clipr.baselines.cipher import cipher
from housewise.agent.clipr.baselines.gate import gate
from housewise.agent.clipr.baselines.introspective import introspective_planning
from housewise.agent.clipr.baselines.tidybot import tidybot
from housewise.agent.clipr.baselines.zero_and_few_shot import in_context, in_context_with_answers, zero_shot
from housewise.agent.clipr.elicitation import learn_rules
from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.method_inputs import MethodFunction, MethodInputs
from housewise.agent.clipr.rules import Rule, contradict_rules


def clipr(inputs: MethodInputs, seen: CliprObservation) -> Play[None]:
    """Run CLIPR: ask questions, write rules (Algorithm 1) and choose by them."""
    rules = yield from _learn_rules(inputs, seen)
    yield from choose_all(inputs.inference, seen, Guidance(rules=rules))


def adaptive_clipr(inputs: MethodInputs, seen: CliprObservation) -> Play[None]:
    """Run Adaptive CLIPR: as CLIPR, but revise the rules when accuracy drops (Algorithm 2)."""
    rules = yield from _learn_rules(inputs, seen)
    yield from choose_adaptively(inputs.inference, inputs.critic, seen, rules)


def _learn_rules(inputs: MethodInputs, seen: CliprObservation) -> Play[tuple[Rule, ...]]:
    rules = yield from learn_rules(
        inputs.inference.language, seen.examples, inputs.max_questions, inputs.known, inputs.synthesize_from_examples
    )
    if inputs.contradict_rules:
        rules = contradict_rules(rules)
        yield NewRules(rules, "contradiction")
    return rules


@dataclass(frozen=True)
class Method:
    """A method, and what the paper gives it beside situations and a person to ask.

    Attributes:
        play: Plays an episode.
        has_labelled_examples: Whether it reads the correct actions of the examples.
        has_knowledge: Whether it reads labelled scenarios for retrieval.
        has_scores: Whether it is told whether its choices were right.
        has_corrections: Whether the person corrects its mistakes.
        is_stepwise: Whether it observes one scenario at a time, and not a batch.
        remembers: Whether it continues earlier conversations with the person.
        needs_embeddings: Whether it retrieves by sentence embeddings.
    """

    play: MethodFunction
    has_labelled_examples: bool = False
    has_knowledge: bool = False
    has_scores: bool = False
    has_corrections: bool = False
    is_stepwise: bool = False
    remembers: bool = False
    needs_embeddings: bool = False


_cipher = partial(Method, has_scores=True, has_corrections=True, is_stepwise=True)
METHODS: dict[str, Method] = {
    "clipr": Method(clipr, remembers=True),
    "adaptive": Method(adaptive_clipr, has_scores=True, remembers=True),
    "tidybot": Method(tidybot, has_labelled_examples=True),
    "in_context": Method(in_context),
    "in_context_answers": Method(in_context_with_answers, has_labelled_examples=True),
    "cipher_levenshtein": _cipher(cipher("levenshtein")),
    "cipher_embedding": _cipher(cipher("embedding"), needs_embeddings=True),
    "gate": Method(gate),
    "introspective": Method(introspective_planning, has_knowledge=True, needs_embeddings=True),
    "zero_shot": Method(zero_shot),
}
"""All methods by name."""
