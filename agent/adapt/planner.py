"""A language model that cooks: it reads what has happened and says the next action, a question among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from housewise.agent.adapt.grammar import Nameable, action_grammar
from housewise.agent.adapt.prompts import Prompts
from housewise.language.base import ChatModel, ChatRequest, Message, Reply, Sampling
from housewise.language.words import one_line

PREFIX = "Action:"
LONGEST_ACTION = 1000  # characters of a reply that are read
_LONGEST_SHOWN = 600  # characters of an observation that are shown again later


@dataclass(frozen=True)
class Turn:
    """An action, and what came of it.

    Attributes:
        answer: whether that is what the person said.
        failed: whether it was impossible.
    """

    action: str
    observation: str
    answer: bool = False
    failed: bool = False


@dataclass(frozen=True)
class Briefing:
    """What stays the same while a breakfast is made.

    Attributes:
        task: in words.
        layout: rooms and furniture.
        known: what the person has said on other days, a line each.
    """

    task: str
    layout: str
    known: tuple[str, ...] = ()


class ModelCook:
    """Asks a chat model for every action.

    Args:
        model: answers.
        prompts: what it reads.
        sampling: how replies are drawn.
        verbs: that can be done to food.
        asks: whether it may ask the person.
        grounded: whether its replies are held to the grammar of actions.
        turns: how many of the last are shown.
    """

    def __init__(
        self,
        model: ChatModel,
        prompts: Prompts,
        sampling: Sampling,
        verbs: Sequence[str],
        asks: bool = True,
        grounded: bool = True,
        turns: int = 20,
    ) -> None:
        self._model, self._prompts, self._sampling = model, prompts, sampling
        self._verbs, self._asks, self._grounded, self._turns = verbs, asks, grounded, turns

    def act(self, briefing: Briefing, past: Sequence[Turn], made: str, named: Nameable) -> tuple[str, Reply]:
        """The next action, and the reply that says it.

        Args:
            briefing: what stays the same.
            past: what has happened, the oldest first.
            made: what has been made so far.
            named: what can be named.

        Raises:
            ChatModelError: when the model does not answer.
        """
        grammar = action_grammar(named, self._verbs, self._asks) if self._grounded else None
        request = ChatRequest(self.messages(briefing, past, made), self._sampling, PREFIX, grammar)
        [[reply]] = self._model.complete([request])
        lines = [one_line(line) for line in reply.text[:LONGEST_ACTION].splitlines()]
        said = next((line for line in lines if line), "")
        return said.removeprefix(PREFIX).strip(), reply

    def messages(self, briefing: Briefing, past: Sequence[Turn], made: str) -> tuple[Message, ...]:
        """The conversation as the model reads it."""
        words = self._prompts
        ask = f"{words.ask}\n" if self._asks else ""
        known = words.known.format(known="\n".join(briefing.known)) if briefing.known else words.unknown
        house = words.house.format(layout=briefing.layout)
        system = "\n".join((words.robot.format(ask=ask), house, known))
        shown = list(past)[-self._turns :] if self._turns else []
        messages, heard = [Message("system", system)], words.task.format(task=briefing.task)
        for turn in shown:
            messages += [Message("user", heard), Message("assistant", f"{PREFIX} {turn.action}")]
            heard = self._heard(turn)
        asked = words.next_.format(made=made, task=briefing.task[:1].lower() + briefing.task[1:])
        return (*messages, Message("user", f"{heard}\n{asked}"))

    def _heard(self, turn: Turn) -> str:
        observation = turn.observation[:_LONGEST_SHOWN]
        if turn.answer:
            return self._prompts.answer.format(answer=observation)
        return self._prompts.failed.format(observation=observation) if turn.failed else observation
