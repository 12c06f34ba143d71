"""Reflection of ADAPT (arXiv 2504.04040, section 4 and algorithm 1): which question would have been worth asking.

At each of a student's steps a teacher acts as well, and the student's question is answered. The probability of an
action is the mean over its tokens of the student's probability for each of them, given those before it, without a
grammar.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, computed_field

from housewise.agent.adapt.action_grammar import NO_QUESTION, reflection_grammar
from housewise.agent.adapt.llm_cook import PREFIX, QUESTION, CookingConversation, CookingTurn
from housewise.agent.adapt.scripted_cook.exploring_cook import ExploringCook
from housewise.agent.adapt.scripted_cook.oracle_cook import OracleCook
from housewise.core.record import Record
from housewise.core.validation import StrictModel
from housewise.language.base import ChatModel, ChatRequest, Message, PromptTooLongError, Sampling, TokenScorer
from housewise.language.embedder import Embedder
from housewise.language.words import one_line
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.kitchen.question_topics import QuestionTopic
from housewise.people.respondent import Question
from housewise.selftrain.adapt.breakfast_replay import BreakfastScene, play_breakfast, recorded_scene
from housewise.selftrain.adapt.question_oracle import QuestionOracle
from housewise.selftrain.examples import Preference
from housewise.systems.adapt.world import MAX_ANSWER_CHARACTERS, BreakfastObservation
from housewise.worlds.kitchen.action_parser import ImpossibleAction, KitchenAction, parse_action
from housewise.worlds.kitchen.kitchen_data import KitchenVerbs

Target = Literal["question", "action"]
_ABOVE_ALL = 2.0  # larger than every difference of probabilities


class Student(ChatModel, TokenScorer, Protocol):
    """A model that cooks, and that reports the probabilities of given texts."""


def is_question(action: str) -> bool:
    """Return whether an action is a question."""
    return action.lower().startswith("ask ")


class ReflectionStep(BaseModel):
    """A step at which the teacher would have done something other than the student.

    Attributes:
        step: Index of the step in the episode.
        prompt: The student's prompt (x in the paper).
        student, teacher: Their actions.
        question: The student's question; None if it has none.
        answer: The person's answer.
        student_now, teacher_now: Probabilities of the two actions.
        teacher_then: Probability of the teacher's action after the question and the answer; None without a question.
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
        """Increase of the probability of the teacher's action by the answer."""
        return None if self.teacher_then is None else self.teacher_then - self.teacher_now

    @computed_field  # type: ignore[prop-decorator]
    @property
    def delta_t(self) -> float:
        """Difference between the probabilities of the student's action and the teacher's."""
        return self.student_now - self.teacher_now

    @property
    def is_question_of_student(self) -> bool:
        """Whether the student asked, which the teacher never does."""
        return is_question(self.student)


class EpisodeReflection(StrictModel):
    """The reflection on an episode.

    Attributes:
        episode: Name of its record.
        steps: Number of its steps.
        data: The steps at which the teacher would have done something else.
    """

    episode: str
    steps: int
    data: tuple[ReflectionStep, ...]


@dataclass(frozen=True)
class ReflectionThresholds:
    """Thresholds of algorithm 1.

    Attributes:
        question: Smallest delta_q with which a question is learned (epsilon 1).
        action: Largest delta_t with which the teacher's action is learned (epsilon 2).
    """

    question: float
    action: float


class Reflector:
    """Reflects on episodes of a student.

    Args:
        student: The model that cooked.
        conversation: Writes the student's prompts.
        people: People by name.
        embedder: Embedder of the answering person.
        max_question_tokens: Maximum number of tokens of a question.
        oracle: What can be asked, to replace the student's question with one whose answer is known to change the
            teacher's action. This ablation is not in the paper.
    """

    def __init__(
        self,
        student: Student,
        conversation: CookingConversation,
        people: Mapping[str, KitchenProfile],
        embedder: Embedder,
        max_question_tokens: int,
        oracle: Sequence[QuestionTopic] | None = None,
    ) -> None:
        self._student, self._conversation, self._people, self._embedder = student, conversation, people, embedder
        self._oracle = oracle
        self._sampling = Sampling(temperature=0.0, max_tokens=max_question_tokens, stop=("\n",))

    def reflect(self, record: Record) -> EpisodeReflection:
        """Return the teacher's actions at the steps of an episode, with the student's questions and their answers.

        Steps whose prompt is longer than a local model can read are left out.

        Raises:
            UserError: The record is of another person, or the model cannot be used.
        """
        scene, decide_as_recorded = recorded_scene(record, dict(self._people), self._embedder)
        verbs = scene.kitchen.kitchen.verbs
        cook = OracleCook(self._people[scene.speaker.name], scene.judge.task)
        teacher, data, answered = ExploringCook(cook, verbs), list[ReflectionStep](), list[tuple[str, str]]()
        oracle = None if self._oracle is None else QuestionOracle(scene, self._people[scene.speaker.name], self._oracle)

        def think_of(seen: BreakfastObservation, turns: Sequence[CookingTurn], own: str, other: str) -> str | None:
            if oracle is not None:
                return oracle.best_question(seen, tuple(answered), other)
            return self._generate_question(
                self._conversation.reflection_messages(scene.briefing, turns, seen.made, own, other)
            )

        def decide(seen: BreakfastObservation, turns: Sequence[CookingTurn]) -> str | None:
            if seen.question is not None:
                answered.append((seen.question, seen.text))
            own = decide_as_recorded(seen, turns)
            if own is not None:
                other = teacher.act(seen.cooking, seen.named)
                if not _is_same_action(own, other, verbs):
                    # The student read only the newer part of a prompt that is too long, which is not learned.
                    with suppress(PromptTooLongError):
                        question = think_of(seen, turns, own, other)
                        data.append(self._reflect_on_step(scene, seen, turns, own, other, question))
            return own

        steps = sum(1 for _ in play_breakfast(scene.world, decide))
        return EpisodeReflection(episode=record.header.name, steps=steps, data=tuple(data))

    def _reflect_on_step(
        self,
        scene: BreakfastScene,
        seen: BreakfastObservation,
        turns: Sequence[CookingTurn],
        own: str,
        other: str,
        question: str | None,
    ) -> ReflectionStep:
        conversation = self._conversation
        now = conversation.messages(scene.briefing, turns, seen.made)
        student_now, teacher_now = self._probabilities(now, [own, other])
        answer, teacher_then = "", None
        if question is not None:
            answer = one_line(scene.speaker.answer(Question(question)).text[:MAX_ANSWER_CHARACTERS])
            asked = CookingTurn(f'Ask "{question}"', answer, answer=True, made=seen.made)
            [teacher_then] = self._probabilities(conversation.messages(scene.briefing, [*turns, asked], ""), [other])
        return ReflectionStep(
            step=len(turns),
            prompt=tuple(message.turn for message in now),
            student=own,
            teacher=other,
            question=question,
            answer=answer,
            student_now=student_now,
            teacher_now=teacher_now,
            teacher_then=teacher_then,
        )

    def _generate_question(self, messages: tuple[Message, ...]) -> str | None:
        [[reply]] = self._student.complete([ChatRequest(messages, self._sampling, QUESTION, reflection_grammar())])
        line = one_line(reply.text).strip()
        question, mark, _ = line.partition("?")
        return None if not mark or line == NO_QUESTION else f"{question}?"

    def _probabilities(self, messages: tuple[Message, ...], actions: Sequence[str]) -> list[float]:
        """Return the mean probability of the tokens of each action."""
        tokens = self._student.score_tokens(ChatRequest(messages, prefix=PREFIX), [f" {action}" for action in actions])
        return [sum(math.exp(token.logprob) for token in each) / len(each) for each in tokens]


def _is_same_action(own: str, other: str, verbs: KitchenVerbs) -> bool:
    """Return whether two lines are parsed as the same action."""

    def parse_or_text(line: str) -> KitchenAction | str:
        try:
            return parse_action(line, verbs)
        except ImpossibleAction:
            return line

    return parse_or_text(own) == parse_or_text(other)


def learning_target(step: ReflectionStep, thresholds: ReflectionThresholds) -> Target | None:
    """Return what the student should have done (algorithm 1), or None if nothing is learned."""
    if step.delta_t < 0:
        return "action"
    if step.delta_q is not None and step.delta_q > thresholds.question:
        return "question"
    return "action" if step.delta_t < thresholds.action else None


def choose_thresholds(data: Sequence[ReflectionStep], questions: float, actions: float) -> ReflectionThresholds:
    """Return thresholds with which given shares of the steps become questions and teacher's actions, if possible.

    No question is chosen whose answer makes the teacher's action less likely.

    Args:
        data: All steps.
        questions, actions: Shares of the steps.
    """
    undecided = [step for step in data if step.delta_t >= 0]
    gains = sorted((step.delta_q for step in undecided if step.delta_q is not None), reverse=True)
    wanted = round(questions * len(data))
    question = max(gains[wanted], 0.0) if wanted < len(gains) else 0.0
    rest = sorted(step.delta_t for step in undecided if step.delta_q is None or step.delta_q <= question)
    wanted = max(round(actions * len(data)) - (len(data) - len(undecided)), 0)
    return ReflectionThresholds(question, rest[wanted] if wanted < len(rest) else _ABOVE_ALL)


def preferences_from_reflections(
    reflections: Iterable[EpisodeReflection], thresholds: ReflectionThresholds
) -> list[Preference]:
    """Return a preference for each step from which something is learned: the target over the student's action."""
    preferences = []
    for episode in reflections:
        for step in episode.data:
            target = learning_target(step, thresholds)
            if target is not None:
                action = step.teacher if target == "action" else f'Ask "{step.question}"'
                preferences.append(_preference(step, action, f"{episode.episode}/{step.step}: {target}"))
    return [each for each in preferences if each.chosen != each.rejected]


def teacher_preferences(reflections: Iterable[EpisodeReflection]) -> list[Preference]:
    """Return a preference for the teacher's action at each step: the ablation without reflection."""
    return [
        _preference(step, step.teacher, f"{episode.episode}/{step.step}: action")
        for episode in reflections
        for step in episode.data
    ]


def _preference(step: ReflectionStep, chosen: str, source: str) -> Preference:
    return Preference(
        prompt=step.prompt, prefix=PREFIX, chosen=f" {chosen}", rejected=f" {step.student}", source=source
    )
