"""A language model that cooks: it reads what has happened and says the next action, a question among them.

What it has read once stays as it was: each turn adds to the conversation and changes nothing before it, so that a model
reads every word once and a whole episode can be learned as one conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from housewise.agent.adapt.action_grammar import NameableThings, action_grammar, question_grammar
from housewise.agent.adapt.prompts import AdaptPrompts
from housewise.agent.base import total_usage
from housewise.core.record import Usage
from housewise.language.base import ChatModel, ChatRequest, Message, PromptTooLongError, Reply, Sampling
from housewise.language.markup import strip_markup
from housewise.language.words import one_line

PREFIX, THOUGHT, QUESTION = "Action:", "Thought:", "Question:"
MAX_TURNS = 100
MAX_REPLY_CHARACTERS = 1000  # characters of a reply that are read
MAX_THOUGHT_TOKENS = 60  # tokens of a thought
_MAX_OBSERVATION_CHARACTERS = 800  # characters of an observation that are shown

_EMPHASIS = "*_` "
_BEFORE_ACTION = re.compile(
    rf"[>#+•{_EMPHASIS}-]*(?:\d{{1,3}}[.):]\s+)?[{_EMPHASIS}]*(?:{PREFIX[:-1]}[{_EMPHASIS}]*:[{_EMPHASIS}]*)?", re.I
)

AllowedAction = Literal["act", "ask", "either"]
"""What the next action may be: anything but a question, a question, or either."""
QuestionPolicy = Literal["free", "never", "always"]
"""Whether a question is an action like others, is none, or comes before every action."""


@dataclass(frozen=True)
class CookingTurn:
    """An action, and what came of it.

    Attributes:
        answer: whether that is what the person said.
        failed: whether it was impossible.
        made: what had been made before it, where that was news then.
        thought: that came before it.
    """

    action: str
    observation: str
    answer: bool = False
    failed: bool = False
    made: str = ""
    thought: str = ""


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


@dataclass(frozen=True)
class CookReply:
    """What a model said.

    Attributes:
        action: the next one.
        thought: before it; empty where it was not to think.
        usage: tokens.
    """

    action: str
    thought: str
    usage: Usage


class CookingConversation:
    """What a robot has done and heard, as a model reads it.

    Args:
        prompts: the words.
        asking: what it is told of questions.
        thinks: whether it is told to think before it acts.
        turns: how many of the last are shown.
    """

    def __init__(
        self, prompts: AdaptPrompts, asking: QuestionPolicy = "free", thinks: bool = False, turns: int = MAX_TURNS
    ) -> None:
        self._prompts, self._asking, self._thinks, self._turns = prompts, asking, thinks, turns

    def messages(self, briefing: Briefing, history: Sequence[CookingTurn], made: str) -> tuple[Message, ...]:
        """The conversation up to the next action.

        Args:
            briefing: what stays the same.
            past: what has happened, the oldest first.
            made: what has been made so far, where that is news.
        """
        shown = list(history)[-self._turns :] if self._turns else []
        messages, heard = (
            [Message("system", self._system_prompt(briefing))],
            self._prompts.task.format(task=briefing.task),
        )
        for turn in shown:
            messages += [
                self._user_message(briefing, heard, turn.made),
                Message("assistant", assistant_turn(turn.action, turn.thought)),
            ]
            heard = self._observation_text(turn)
        return (*messages, self._user_message(briefing, heard, made))

    def reflection_messages(
        self, briefing: Briefing, history: Sequence[CookingTurn], made: str, own: str, other: str
    ) -> tuple[Message, ...]:
        """The conversation up to what could have been asked (ADAPT, arXiv 2504.04040, section 4).

        Args:
            briefing, past, made: see messages.
            own: the action that the robot would take.
            other: what somebody would do who knows the person.
        """
        *before, last = self.messages(briefing, history, made)
        asked = self._prompts.reflect.format(own=own, other=other)
        return (*before, Message("user", f"{last.content}\n{asked}"))

    def _system_prompt(self, briefing: Briefing) -> str:
        words = self._prompts
        ask = {"never": "", "free": f"{words.ask}\n", "always": f"{words.always}\n"}[self._asking]
        known = words.known.format(known="\n".join(briefing.known)) if briefing.known else words.unknown
        house, think = words.house.format(layout=briefing.layout), words.think if self._thinks else ""
        return "\n".join(filter(None, (words.robot.format(ask=ask), think, house, known)))

    def _user_message(self, briefing: Briefing, heard: str, made: str) -> Message:
        news = self._prompts.made.format(made=made) if made else ""
        asked = self._prompts.next_.format(task=briefing.task[:1].lower() + briefing.task[1:])
        return Message("user", "\n".join(filter(None, (heard, news, asked))))

    def _observation_text(self, turn: CookingTurn) -> str:
        observation = turn.observation[:_MAX_OBSERVATION_CHARACTERS]
        if turn.answer:
            return self._prompts.answer.format(answer=observation)
        return self._prompts.failed.format(observation=observation) if turn.failed else observation


class LLMCook:
    """Asks a chat model for every action.

    Args:
        model: answers.
        conversation: what it reads.
        sampling: how replies are drawn.
        verbs: that can be done to food.
        grounded: whether its replies are held to the grammar of actions.
        thinks: whether it thinks before it acts (ReAct, arXiv 2210.03629).
    """

    def __init__(
        self,
        model: ChatModel,
        conversation: CookingConversation,
        sampling: Sampling,
        verbs: Sequence[str],
        grounded: bool = True,
        thinks: bool = False,
    ) -> None:
        self._model, self._conversation, self._sampling, self._verbs = model, conversation, sampling, verbs
        self._grounded, self._thinks = grounded, thinks

    def act(
        self,
        briefing: Briefing,
        history: Sequence[CookingTurn],
        made: str,
        named: NameableThings,
        may: AllowedAction = "either",
    ) -> CookReply:
        """The next action; of a conversation that a local model finds too long, the older half is left out.

        Args:
            briefing: what stays the same.
            past: what has happened, the oldest first.
            made: what has been made so far, where that is news.
            named: what can be named.
            may: what it may be, as far as replies are held to a grammar.

        Raises:
            ChatModelError: when the model does not answer.
        """
        while True:
            try:
                return self._act(briefing, history, made, named, may)
            except PromptTooLongError:
                if not history:
                    raise
                history = history[(len(history) + 1) // 2 :]

    def _act(
        self, briefing: Briefing, history: Sequence[CookingTurn], made: str, named: NameableThings, may: AllowedAction
    ) -> CookReply:
        messages = self._conversation.messages(briefing, history, made)
        thought, replies = "", list[Reply]()
        if self._thinks:
            reply = self._complete(
                ChatRequest(messages, replace(self._sampling, max_tokens=MAX_THOUGHT_TOKENS), THOUGHT)
            )
            thought = _first_line(reply.text).removeprefix(THOUGHT).strip()
            replies.append(reply)
        grammar = self._grammar(named, may) if self._grounded else None
        prefix = assistant_turn("", thought)
        reply = self._complete(ChatRequest(messages, self._sampling, prefix, grammar))
        # Half an action may be another one.
        action = _parse_action(reply.complete_lines)
        return CookReply(action, thought, total_usage([*replies, reply]))

    def _grammar(self, named: NameableThings, may: AllowedAction) -> str:
        return question_grammar() if may == "ask" else action_grammar(named, self._verbs, may == "either")

    def _complete(self, request: ChatRequest) -> Reply:
        [[reply]] = self._model.complete([request])
        return reply


def assistant_turn(action: str, thought: str = "") -> str:
    """An assistant's turn; without an action what it begins with."""
    acted = f"{PREFIX} {action}" if action else PREFIX
    return f"{THOUGHT} {thought}\n{acted}" if thought else acted


def _parse_action(text: str) -> str:
    """The first line of a reply that is no thought, without the marks and the label in front of it."""
    line = next((line for line in _lines(text) if not line.startswith(THOUGHT)), "")
    bare = _BEFORE_ACTION.sub("", line, count=1)
    return bare if bare == line else bare.rstrip(_EMPHASIS)


def _first_line(text: str) -> str:
    return next(_lines(text), "")


def _lines(text: str) -> Iterator[str]:
    return filter(None, map(one_line, strip_markup(text[:MAX_REPLY_CHARACTERS]).splitlines()))
