"""A chat model that cooks: it reads the conversation so far and names the next action, which may be a question. (ADAPT)

A conversation only grows: each turn is appended and earlier turns do not change. A model therefore reads every word
once (prefix caching), and a whole episode can be learned as one conversation.
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
MAX_REPLY_CHARACTERS = 1000
MAX_THOUGHT_TOKENS = 60
_MAX_OBSERVATION_CHARACTERS = 800

_EMPHASIS = "*_` "
_BEFORE_ACTION = re.compile(
    rf"[>#+•{_EMPHASIS}-]*(?:\d{{1,3}}[.):]\s+)?[{_EMPHASIS}]*(?:{PREFIX[:-1]}[{_EMPHASIS}]*:[{_EMPHASIS}]*)?", re.I
)

AllowedAction = Literal["act", "ask", "either"]
"""What the next action may be: anything but a question, a question, or either."""
QuestionPolicy = Literal["free", "never", "always"]
"""Whether a question is an action among others, does not exist, or precedes every action."""


@dataclass(frozen=True)
class CookingTurn:
    """An action and its result.

    Attributes:
        action: The action in words.
        observation: The result, or the person's answer.
        answer: Whether ``observation`` is the person's answer.
        failed: Whether the action was impossible.
        made: What had been made before the action, if that had changed.
        thought: Thought before the action.
    """

    action: str
    observation: str
    answer: bool = False
    failed: bool = False
    made: str = ""
    thought: str = ""


@dataclass(frozen=True)
class Briefing:
    """What stays the same throughout an episode.

    Attributes:
        task: The task in words.
        layout: Rooms and furniture.
        known: What the person said on other days, one line each.
    """

    task: str
    layout: str
    known: tuple[str, ...] = ()


@dataclass(frozen=True)
class CookReply:
    """The reply of a model.

    Attributes:
        action: Next action.
        thought: Thought before the action; empty if the model was not asked to think.
        usage: Model usage.
    """

    action: str
    thought: str
    usage: Usage


class CookingConversation:
    """Formats what a robot has done and heard as chat messages.

    Args:
        prompts: Prompt templates.
        asking: What the prompt says about questions.
        thinks: Whether the prompt asks for a thought before each action.
        turns: Number of recent turns to include.
    """

    def __init__(
        self, prompts: AdaptPrompts, asking: QuestionPolicy = "free", thinks: bool = False, turns: int = MAX_TURNS
    ) -> None:
        self._prompts, self._asking, self._thinks, self._turns = prompts, asking, thinks, turns

    def messages(self, briefing: Briefing, history: Sequence[CookingTurn], made: str) -> tuple[Message, ...]:
        """Return the conversation up to the next action.

        Args:
            briefing: What stays the same throughout the episode.
            past: Turns so far, oldest first.
            made: What has been made so far, if that has changed.
        """
        shown = list(history)[-self._turns :] if self._turns else []
        messages = [Message("system", self._system_prompt(briefing))]
        heard = self._prompts.task.format(task=briefing.task)
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
        """Return the conversation that asks which question would have helped. (arXiv 2504.04040, section 4)

        Args:
            briefing: What stays the same throughout the episode.
            past: Turns so far, oldest first.
            made: What has been made so far, if that has changed.
            own: Action that the robot would take.
            other: Action of somebody who knows the person.
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
        model: Chat model.
        conversation: Formats the messages.
        sampling: Sampling parameters.
        verbs: Verbs that can be applied to food.
        grounded: Whether replies are constrained by the grammar of actions.
        thinks: Whether the model thinks before each action (ReAct, arXiv 2210.03629).
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
        """Return the next action. If the prompt is too long for a local model, the older half of the turns is dropped.

        Args:
            briefing: What stays the same throughout the episode.
            past: Turns so far, oldest first.
            made: What has been made so far, if that has changed.
            named: Things that the action may name.
            may: Which kinds of action are allowed, if replies are constrained by the grammar.

        Raises:
            ChatModelError: The model does not reply.
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
            sampling = replace(self._sampling, max_tokens=MAX_THOUGHT_TOKENS)
            reply = self._complete(ChatRequest(messages, sampling, THOUGHT))
            thought = next(_lines(reply.text), "").removeprefix(THOUGHT).strip()
            replies.append(reply)
        grammar = self._grammar(named, may) if self._grounded else None
        prefix = assistant_turn("", thought)
        reply = self._complete(ChatRequest(messages, self._sampling, prefix, grammar))
        # A truncated action could be read as a different one, so that incomplete lines are dropped.
        action = _action_line(reply.complete_lines)
        return CookReply(action, thought, total_usage([*replies, reply]))

    def _grammar(self, named: NameableThings, may: AllowedAction) -> str:
        return question_grammar() if may == "ask" else action_grammar(named, self._verbs, may == "either")

    def _complete(self, request: ChatRequest) -> Reply:
        [[reply]] = self._model.complete([request])
        return reply


def assistant_turn(action: str, thought: str = "") -> str:
    """Return an assistant message. Without an action, return its beginning."""
    acted = f"{PREFIX} {action}" if action else PREFIX
    return f"{THOUGHT} {thought}\n{acted}" if thought else acted


def _action_line(text: str) -> str:
    """Return the first line of a reply that is not a thought, without markup and the label in front of it."""
    line = next((line for line in _lines(text) if not line.startswith(THOUGHT)), "")
    bare = _BEFORE_ACTION.sub("", line, count=1)
    return bare if bare == line else bare.rstrip(_EMPHASIS)


def _lines(text: str) -> Iterator[str]:
    return filter(None, map(one_line, strip_markup(text[:MAX_REPLY_CHARACTERS]).splitlines()))
