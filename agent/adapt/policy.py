"""ADAPT's policy: a language model predicts the next action, which may be a question (arXiv 2504.04040, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from housewise.agent.adapt.action_grammar import NameableThings, action_grammar, question_grammar
from housewise.agent.adapt.planner_prompt import THOUGHT, Interaction, PlannerPrompt, assistant_turn
from housewise.agent.adapt.reply_lines import first_action, first_line
from housewise.agent.base import total_usage
from housewise.core.record import Usage
from housewise.language.base import ChatModel, ChatRequest, Message, Reply, Sampling

MAX_THOUGHT_TOKENS = 60

AllowedAction = Literal["act", "ask", "either"]
"""What the next action may be: anything but a question, a question, or either."""


@dataclass(frozen=True)
class PolicyReply:
    """The prediction of a policy.

    Attributes:
        action: The next action a_k in words.
        thought: Thought before the action; empty if the model was not asked to think.
        usage: Model usage.
    """

    action: str
    thought: str
    usage: Usage


class LLMPolicy:
    """The policy π as a language model.

    Args:
        model: Chat model.
        prompt: Writes the planner prompt.
        sampling: Sampling parameters.
        verbs: Verbs that can be applied to food (82 in section 6).
        grounded: Whether replies are held to the grammar of actions (the decoder constraints of section 6).
        thinks: Whether the model thinks before each action ("ReAct", section 6; arXiv 2210.03629).
    """

    def __init__(
        self,
        model: ChatModel,
        prompt: PlannerPrompt,
        sampling: Sampling,
        verbs: Sequence[str],
        grounded: bool = True,
        thinks: bool = False,
    ) -> None:
        self._model, self._prompt, self._sampling, self._verbs = model, prompt, sampling, verbs
        self._grounded, self._thinks = grounded, thinks

    def act(self, interaction: Interaction, named: NameableThings, may: AllowedAction = "either") -> PolicyReply:
        """Predict the next action (section 3): a_k = π(g, a_0:k-1, o_0:k-1, u_0:k-1).

        Args:
            interaction: Goal and history.
            named: Things that the action may name.
            may: Which kinds of action are allowed, if replies are constrained by the grammar.

        Raises:
            ChatModelError: The model does not reply.
        """
        messages = self._prompt.messages(interaction)
        thoughts = [self._think(messages)] if self._thinks else []
        thought = first_line(thoughts[0].text).removeprefix(THOUGHT).strip() if thoughts else ""
        constraints = self._decoder_constraints(named, may) if self._grounded else None
        reply = self._complete(ChatRequest(messages, self._sampling, assistant_turn("", thought), constraints))
        return PolicyReply(first_action(reply), thought, total_usage([*thoughts, reply]))

    def _think(self, messages: tuple[Message, ...]) -> Reply:
        return self._complete(ChatRequest(messages, replace(self._sampling, max_tokens=MAX_THOUGHT_TOKENS), THOUGHT))

    def _decoder_constraints(self, named: NameableThings, may: AllowedAction) -> str:
        """Return the context-free grammar of the actions that are valid now (section 6)."""
        return question_grammar() if may == "ask" else action_grammar(named, self._verbs, may == "either")

    def _complete(self, request: ChatRequest) -> Reply:
        [[reply]] = self._model.complete([request])
        return reply
