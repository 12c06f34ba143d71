"""Reflection-DPO: trains a student to ask what it needs to know to do as a teacher does (arXiv 2504.04040, section 5).

In the paper's order: ``corrective_data`` has the teacher correct the student's trajectory, ``get_question`` and
``probability`` are what Algorithm 1 takes, ``ReflectionStep`` has its two differences, ``reflection`` is the algorithm,
and ``dpo_dataset`` is what DPO learns from (``selftrain.trainers`` trains).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, computed_field

from housewise.agent.adapt.action_grammar import NO_QUESTION, reflection_grammar
from housewise.agent.adapt.planner_prompt import PREFIX, QUESTION, Interaction, PlannerPrompt
from housewise.language.base import ChatModel, ChatRequest, Message, PromptTooLongError, Sampling, TokenScorer
from housewise.language.words import one_line
from housewise.selftrain.examples import Preference

Choice = Literal["question", "action"]
"""What is chosen over the student's action: the question a^q, or the teacher's action a^t."""


class Student(ChatModel, TokenScorer, Protocol):
    """The student LLM π^s: it predicts actions and questions, and reports the probabilities of given ones."""


@dataclass(frozen=True)
class StudentStep:
    """A step of a student's trajectory.

    Attributes:
        interaction: Goal and history before the step: x.
        action: The student's action a^s.
    """

    interaction: Interaction
    action: str


Step = TypeVar("Step", bound=StudentStep)


class ReflectionStep(BaseModel):
    """A step at which the teacher predicts another action than the student, with what Algorithm 1 needs to know.

    Attributes:
        step: Index k of the step in the trajectory.
        prompt: The planner prompt x.
        student, teacher: The actions a^s and a^t.
        question: The candidate question a^q; None if the student has none.
        answer: The user's response to it.
        student_now, teacher_now: The probabilities P(a^s|x) and P(a^t|x) under the student.
        teacher_then: The probability P(a^t|q,x) after the question and its answer; None without a question.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    step: int
    prompt: tuple[dict[str, str], ...]
    student: str
    teacher: str
    question: str | None
    answer: str
    student_now: float
    teacher_now: float
    teacher_then: float | None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def delta_q(self) -> float | None:
        """Utility of the question: P(a^t|q,x) - P(a^t|x)."""
        return None if self.teacher_then is None else self.teacher_then - self.teacher_now

    @computed_field  # type: ignore[prop-decorator]
    @property
    def delta_t(self) -> float:
        """How far the teacher's action is out of the student's distribution: P(a^s|x) - P(a^t|x)."""
        return self.student_now - self.teacher_now


@dataclass(frozen=True)
class ReflectionThresholds:
    """Thresholds of Algorithm 1.

    Attributes:
        question: A question is chosen if its utility delta_q is above it (ε1).
        action: The teacher's action is chosen if delta_t is below it (ε2).
    """

    question: float
    action: float


class ReflectionDPO:
    """Makes corrective data with a student, a teacher and a user.

    Args:
        student: The student LLM.
        prompt: Writes its prompts.
        max_question_tokens: Maximum number of tokens of a question.
    """

    def __init__(self, student: Student, prompt: PlannerPrompt, max_question_tokens: int) -> None:
        self._student, self._prompt = student, prompt
        self._sampling = Sampling(temperature=0.0, max_tokens=max_question_tokens, stop=("\n",))

    def corrective_data(
        self,
        trajectory: Iterable[Step],
        teacher: Callable[[Step], str],
        user: Callable[[str], str],
        is_same_action: Callable[[str, str], bool],
        get_question: Callable[[Step, str], str | None] | None = None,
    ) -> Iterator[ReflectionStep]:
        """Yield the teacher's corrections of a trajectory: "Generating data with a privileged teacher".

        Steps whose prompt is longer than the student reads are left out.

        Args:
            trajectory: Steps of the student, whose own actions are executed (DAgger).
            teacher: The teacher π^t, which knows the user's preferences.
            user: Answers a question as the user.
            is_same_action: Whether two lines are the same action.
            get_question: Finds the candidate question in place of the student.
        """
        for k, step in enumerate(trajectory):
            teacher_action = teacher(step)
            if is_same_action(step.action, teacher_action):
                continue
            with suppress(PromptTooLongError):
                question = (get_question or self.get_question)(step, teacher_action)
                yield self._weigh(k, step, teacher_action, question, user)

    def get_question(self, step: StudentStep, teacher_action: str) -> str | None:
        """Return the student's candidate question a^q, or None if it has none: getQuestion of Algorithm 1."""
        messages = self._prompt.reflection_messages(step.interaction, step.action, teacher_action)
        [[reply]] = self._student.complete([ChatRequest(messages, self._sampling, QUESTION, reflection_grammar())])
        line = one_line(reply.text).strip()
        question, mark, _ = line.partition("?")
        return None if not mark or line == NO_QUESTION else f"{question}?"

    def probability(self, messages: tuple[Message, ...], actions: Sequence[str]) -> list[float]:
        """Return P(a|x) of each action under the student: the mean of its tokens' probabilities, without a grammar."""
        tokens = self._student.score_tokens(ChatRequest(messages, prefix=PREFIX), [f" {action}" for action in actions])
        return [sum(math.exp(token.logprob) for token in each) / len(each) for each in tokens]

    def _weigh(
        self, k: int, step: StudentStep, teacher_action: str, question: str | None, user: Callable[[str], str]
    ) -> ReflectionStep:
        """Return a step with the probabilities whose differences Algorithm 1 takes; P(a^t|q,x) is after the answer."""
        x = self._prompt.messages(step.interaction)
        student_now, teacher_now = self.probability(x, [step.action, teacher_action])
        answer, teacher_then = "", None
        if question is not None:
            answer = user(question)
            answered = self._prompt.messages(step.interaction.with_answer(question, answer))
            [teacher_then] = self.probability(answered, [teacher_action])
        return ReflectionStep(
            step=k,
            prompt=tuple(message.turn for message in x),
            student=step.action,
            teacher=teacher_action,
            question=question,
            answer=answer,
            student_now=student_now,
            teacher_now=teacher_now,
            teacher_then=teacher_then,
        )


def reflection(step: ReflectionStep, thresholds: ReflectionThresholds) -> Choice | None:
    """Return what is chosen over the student's action, or None to skip the step (Algorithm 1)."""
    if step.delta_t < 0:
        return "action"
    if step.delta_q is not None and step.delta_q > thresholds.question:
        return "question"
    return "action" if step.delta_t < thresholds.action else None


def dpo_dataset(
    data: Iterable[ReflectionStep], thresholds: ReflectionThresholds, trajectory: str
) -> Iterator[Preference]:
    """Yield the data set (x, a_chosen, a_rejected) of a trajectory, in which the student's action is rejected."""
    for step in data:
        choice = reflection(step, thresholds)
        chosen = f'Ask "{step.question}"' if choice == "question" else step.teacher
        if choice is not None and chosen != step.student:
            yield dpo_pair(step, chosen, f"{trajectory}/{step.step}: {choice}")


def dpo_pair(step: ReflectionStep, chosen: str, source: str) -> Preference:
    """Return an element of the data set."""
    return Preference(
        prompt=step.prompt, prefix=PREFIX, chosen=f" {chosen}", rejected=f" {step.student}", source=source
    )
