"""What ADAPT's language models read: the planner prompt and the reflection prompt (arXiv 2504.04040, appendix C).

An interaction only grows: each turn is appended and earlier turns do not change. A model therefore reads every word
once (prefix caching), and a whole episode can be learned as one conversation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from housewise.agent.adapt.prompts import AdaptPrompts
from housewise.language.base import Message

PREFIX, THOUGHT, QUESTION = "Action:", "Thought:", "Question:"
MAX_TURNS = 100
_MAX_OBSERVATION_CHARACTERS = 800

QuestionPolicy = Literal["free", "never", "always"]
"""free: a question is one of the actions. never: there are no questions ("Never Ask", section 6). always: a question
precedes every action ("Always Ask")."""


@dataclass(frozen=True)
class Briefing:
    """What stays the same throughout an episode.

    Attributes:
        task: The task goal g in words.
        layout: Rooms and furniture, without objects (section 4).
        known: What the person said on other days, one line each. Empty in the paper.
    """

    task: str
    layout: str
    known: tuple[str, ...] = ()


@dataclass(frozen=True)
class CookingTurn:
    """One step of an interaction: an action and its result (section 3).

    Attributes:
        action: The action a_k in words: a physical action, a question or the termination action.
        observation: The observation o_k, or the user's response u_k to a question.
        answer: Whether ``observation`` is the user's response.
        failed: Whether the action was impossible.
        made: Dishes made so far, stated before this action; empty if unchanged since the previous turn.
        thought: Thought before the action.
    """

    action: str
    observation: str
    answer: bool = False
    failed: bool = False
    made: str = ""
    thought: str = ""


@dataclass(frozen=True)
class Interaction:
    """The prompt x of step k before it is put into words: goal and interaction history (sections 3 and 5).

    Attributes:
        briefing: The goal g, and what else stays the same.
        turns: Actions, observations and user responses of the steps 0 to k-1.
        made: Dishes made so far; empty if unchanged since the last turn.
    """

    briefing: Briefing
    turns: tuple[CookingTurn, ...] = ()
    made: str = ""

    def with_answer(self, question: str, answer: str) -> Interaction:
        """Return the interaction after one more question and the user's response."""
        asked = CookingTurn(f'Ask "{question}"', answer, answer=True, made=self.made)
        return Interaction(self.briefing, (*self.turns, asked))


class PlannerPrompt:
    """Writes interactions as chat messages.

    Args:
        prompts: Prompt templates.
        asking: What the prompt says about questions.
        thinks: Whether the prompt asks for a thought before each action ("ReAct", section 6).
        turns: Number of recent turns to include.
    """

    def __init__(
        self, prompts: AdaptPrompts, asking: QuestionPolicy = "free", thinks: bool = False, turns: int = MAX_TURNS
    ) -> None:
        self._prompts, self._asking, self._thinks, self._turns = prompts, asking, thinks, turns

    def messages(self, interaction: Interaction) -> tuple[Message, ...]:
        """Return the planner prompt, which asks for the next action (appendix C.1)."""
        briefing = interaction.briefing
        messages = [Message("system", self._system_prompt(briefing))]
        observation = self._prompts.task.format(task=briefing.task)
        for turn in interaction.turns[-self._turns :] if self._turns else ():
            messages += [
                self._user_message(briefing, observation, turn.made),
                Message("assistant", assistant_turn(turn.action, turn.thought)),
            ]
            observation = self._observation_text(turn)
        return (*messages, self._user_message(briefing, observation, interaction.made))

    def reflection_messages(self, interaction: Interaction, student: str, teacher: str) -> tuple[Message, ...]:
        """Return the reflection prompt, which asks for a question that predicts the teacher's action (appendix C.2).

        It continues the planner's conversation, without a system prompt of its own. The teacher's reason is not stated.

        Args:
            interaction: The interaction before the action.
            student: The student's action.
            teacher: The teacher's action.
        """
        *before, last = self.messages(interaction)
        asked = self._prompts.reflect.format(own=student, other=teacher)
        return (*before, Message("user", f"{last.content}\n{asked}"))

    def _system_prompt(self, briefing: Briefing) -> str:
        words = self._prompts
        ask = {"never": "", "free": f"{words.ask}\n", "always": f"{words.always}\n"}[self._asking]
        known = words.known.format(known="\n".join(briefing.known)) if briefing.known else words.unknown
        house, think = words.house.format(layout=briefing.layout), words.think if self._thinks else ""
        return "\n".join(filter(None, (words.robot.format(ask=ask), think, house, known)))

    def _user_message(self, briefing: Briefing, observation: str, made: str) -> Message:
        news = self._prompts.made.format(made=made) if made else ""
        asked = self._prompts.next_.format(task=briefing.task[:1].lower() + briefing.task[1:])
        return Message("user", "\n".join(filter(None, (observation, news, asked))))

    def _observation_text(self, turn: CookingTurn) -> str:
        observation = turn.observation[:_MAX_OBSERVATION_CHARACTERS]
        if turn.answer:
            return self._prompts.answer.format(answer=observation)
        return self._prompts.failed.format(observation=observation) if turn.failed else observation


def assistant_turn(action: str, thought: str = "") -> str:
    """Return an assistant message. Without an action it ends at ``Action:``, where the model continues."""
    acted = f"{PREFIX} {action}" if action else PREFIX
    return f"{THOUGHT} {thought}\n{acted}" if thought else acted
