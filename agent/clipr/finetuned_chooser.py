"""Choices by a local language model that was fine-tuned to follow rules. An addition of this project.

The model chooses in one situation at a time and reads the rules that are closest in meaning. A grammar restricts its
reply to one of the options, in the words of the prompt, and the number of the rule that decides.
:mod:`housewise.selftrain.clipr` creates its training examples.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from housewise.agent.clipr.language_steps import ActionChoice, Guidance
from housewise.agent.clipr.local_steps.local_steps import LocalSteps
from housewise.agent.clipr.prompt_templates import CliprPrompts
from housewise.language.base import ChatModel, ChatRequest, Message, Reply, Sampling
from housewise.language.embedder import Embedder, cosine
from housewise.language.gbnf import REPLY, literal, one_of
from housewise.language.gbnf import rule as grammar_rule
from housewise.worlds.choices.scenario import Situation

MAX_PROMPT_RULES = 6
"""Number of rules in one prompt."""
PREFIX, _BETWEEN = "Option:", ", by rule "
_REPLY = re.compile(rf" (.*){_BETWEEN}(\d{{1,4}})\s*", re.DOTALL)
_MAX_TOKENS = 160
"""Maximum length of a reply. An option may be a whole sentence."""


def choice_request(prompts: CliprPrompts, situation: Situation, rules: Sequence[str]) -> ChatRequest:
    """Build the request for one choice.

    Args:
        prompts: Prompt templates.
        situation: Situation to choose in.
        rules: At least one rule, in order.
    """
    messages = tuple(
        Message(role, prompts.fill("choose_one", role, situation=situation, rules=rules)) for role in ("system", "user")
    )
    options = one_of(literal(action) for action in situation.actions)
    numbers = one_of(literal(str(number + 1)) for number in range(len(rules)))
    reply = f"{literal(' ')} {options} {literal(_BETWEEN)} {numbers}"
    return ChatRequest(
        messages, Sampling(0.0, max_tokens=_MAX_TOKENS, logprobs=True), PREFIX, grammar_rule(REPLY, reply)
    )


def format_choice_reply(action: str, rule: int) -> str:
    """Format the expected reply after the prefix: an option and the number of a rule.

    Args:
        action: The option.
        rule: Index of the rule, from 0.
    """
    return f" {action}{_BETWEEN}{rule + 1}"


def parse_choice_reply(reply: Reply, situation: Situation, rules: Sequence[str]) -> ActionChoice:
    """Parse a reply. The reasoning is the rule it names; the confidence is the reply's probability."""
    said = _REPLY.fullmatch(reply.text)
    action, rule = (said[1], int(said[2])) if said else ("", 0)
    if action not in situation.actions or not 1 <= rule <= len(rules):
        return ActionChoice(None, reply.text.strip())
    sure = math.exp(sum(reply.token_logprobs)) if reply.token_logprobs else None
    return ActionChoice(
        situation.actions.index(action), rules[rule - 1], None if sure is None else 1 + min(9, int(10 * sure))
    )


class FineTunedChooser(LocalSteps):
    """Local components, but a fine-tuned language model chooses if there are rules, with one call per situation.

    Args:
        embedder: Sentence embeddings.
        model: Chat model fine-tuned to follow rules. The caller closes it.
    """

    def __init__(self, embedder: Embedder, model: ChatModel) -> None:
        super().__init__(embedder)
        self.name = f"local components, choices by {model.name}"
        self._model, self._prompts = model, CliprPrompts()

    def choose(self, situations: Sequence[Situation], guidance: Guidance) -> list[ActionChoice]:
        """See LanguageSteps.choose. Without rules the local components choose."""
        rules = [rule.text for rule in guidance.all_rules]
        if not rules:
            return super().choose(situations, guidance)
        shown = [self._nearest_rules(situation, rules) for situation in situations]
        pairs = list(zip(situations, shown, strict=True))
        asked = [choice_request(self._prompts, situation, some) for situation, some in pairs]
        replies = [reply for [reply] in self._model.complete(asked)]
        self.usage.add(replies)
        return [parse_choice_reply(reply, *pair) for reply, pair in zip(replies, pairs, strict=True)]

    def _nearest_rules(self, situation: Situation, rules: Sequence[str]) -> list[str]:
        """Return the rules that are closest in meaning to a situation, in their original order."""
        about = f"{situation.request} {' or '.join(situation.actions)}"
        near = cosine(self._embedder, [about], list(rules))[0]
        chosen = sorted(range(len(rules)), key=lambda number: -near[number])[:MAX_PROMPT_RULES]
        return [rules[number] for number in sorted(chosen)]
