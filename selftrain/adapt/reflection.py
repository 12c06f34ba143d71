"""Which question would have paid: what a teacher does at a student's steps, and what an answer would have changed.

Source: ADAPT (arXiv 2504.04040), section 4 and algorithm 1. The probability of an action is the mean over its tokens of
what the student gives each of them behind those before it, without a grammar.
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
from housewise.language.base import ChatModel, ChatRequest, Message, PromptTooLongError, Sampling, TokenScorer
from housewise.language.embedder import Embedder
from housewise.language.words import one_line
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.kitchen.question_topics import QuestionTopic
from housewise.people.respondent import Question
from housewise.selftrain.adapt.hindsight import Hindsight
from housewise.selftrain.adapt.telling import Scene, telling, told_by
from housewise.selftrain.preferences import Preference
from housewise.systems.adapt.world import MAX_ANSWER_CHARACTERS, BreakfastObservation
from housewise.worlds.kitchen.action_parser import ImpossibleAction, KitchenAction, parse_action
from housewise.worlds.kitchen.kitchen_data import KitchenVerbs

Choice = Literal["question", "action"]
_EVERY = 2.0  # above all differences of probabilities


class Student(ChatModel, TokenScorer, Protocol):
    """A model that cooks, and that tells how likely it is to say given texts."""


def asks(action: str) -> bool:
    """Whether an action is a question."""
    return action.lower().startswith("ask ")


class Datum(BaseModel):
    """A step at which the teacher would have done something else than the student.

    Attributes:
        step: of the episode, from 0.
        prompt: what the student read (x in the paper).
        student, teacher: their actions.
        question: what the student could have asked; None where it thinks of nothing.
        answer: what the person says to that.
        student_now, teacher_now: probability of either action.
        teacher_then: that of the teacher's with question and answer before it; None without a question.
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
        """By how much the answer makes the teacher's action likelier."""
        return None if self.teacher_then is None else self.teacher_then - self.teacher_now

    @computed_field  # type: ignore[prop-decorator]
    @property
    def delta_t(self) -> float:
        """By how much the student's own action is likelier than the teacher's."""
        return self.student_now - self.teacher_now

    @property
    def asked(self) -> bool:
        """Whether the student asked, which the teacher never does."""
        return asks(self.student)


class Reflected(BaseModel):
    """An episode that was reflected upon.

    Attributes:
        episode: name of its record.
        steps: that it had.
        data: those at which the teacher would have done something else.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    episode: str
    steps: int
    data: tuple[Datum, ...]


@dataclass(frozen=True)
class Thresholds:
    """Those of algorithm 1.

    Attributes:
        question: what an answer has to add to the probability of the teacher's action (epsilon 1).
        action: by how much the student's own action may be likelier for the teacher's to be learned (epsilon 2).
    """

    question: float
    action: float


class Reflector:
    """Reflects upon a student's episodes.

    Args:
        student: who cooked.
        conversation: as it read what happened.
        people: for whom, by name.
        embedder: of the person who answers.
        most_tokens: of a question.
        oracle: what can be asked, where the question is not the student's own but one of which it is known that the
            teacher's action turns on its answer: an ablation that is not the paper's.
    """

    def __init__(
        self,
        student: Student,
        conversation: CookingConversation,
        people: Mapping[str, KitchenProfile],
        embedder: Embedder,
        most_tokens: int,
        oracle: Sequence[QuestionTopic] | None = None,
    ) -> None:
        self._student, self._conversation, self._people, self._embedder = student, conversation, people, embedder
        self._oracle = oracle
        self._sampling = Sampling(temperature=0.0, max_tokens=most_tokens, stop=("\n",))

    def reflect(self, record: Record) -> Reflected:
        """What a teacher would have done at every step of an episode, and which question would have told the student.

        Steps at which there is more to read than a local model reads at once are left out.

        Raises:
            UserError: when the record is of somebody else, or the model cannot be asked.
        """
        scene, said = told_by(record, dict(self._people), self._embedder)
        verbs = scene.kitchen.kitchen.verbs
        cook = OracleCook(self._people[scene.speaker.name], scene.judge.task)
        teacher, data, told = ExploringCook(cook, verbs), list[Datum](), list[tuple[str, str]]()
        oracle = None if self._oracle is None else Hindsight(scene, self._people[scene.speaker.name], self._oracle)

        def think_of(seen: BreakfastObservation, turns: Sequence[CookingTurn], own: str, other: str) -> str | None:
            if oracle is not None:
                return oracle.question(seen, tuple(told), other)
            return self._question(self._conversation.reflection_messages(scene.briefing, turns, seen.made, own, other))

        def decide(seen: BreakfastObservation, turns: Sequence[CookingTurn]) -> str | None:
            if seen.question is not None:
                told.append((seen.question, seen.text))
            own = said(seen, turns)
            if own is not None:
                other = teacher.act(seen.cooking, seen.named)
                if not _same(own, other, verbs):
                    # Of what is too long the student read the newer half, which is not learned.
                    with suppress(PromptTooLongError):
                        question = think_of(seen, turns, own, other)
                        data.append(self._datum(scene, seen, turns, own, other, question))
            return own

        steps = sum(1 for _ in telling(scene.world, decide))
        return Reflected(episode=record.header.name, steps=steps, data=tuple(data))

    def _datum(
        self,
        scene: Scene,
        seen: BreakfastObservation,
        turns: Sequence[CookingTurn],
        own: str,
        other: str,
        question: str | None,
    ) -> Datum:
        told = self._conversation
        now = told.messages(scene.briefing, turns, seen.made)
        student_now, teacher_now = self._probabilities(now, [own, other])
        answer, teacher_then = "", None
        if question is not None:
            answer = one_line(scene.speaker.answer(Question(question)).text[:MAX_ANSWER_CHARACTERS])
            asked = CookingTurn(f'Ask "{question}"', answer, answer=True, made=seen.made)
            [teacher_then] = self._probabilities(told.messages(scene.briefing, [*turns, asked], ""), [other])
        return Datum(
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

    def _question(self, messages: tuple[Message, ...]) -> str | None:
        [[reply]] = self._student.complete([ChatRequest(messages, self._sampling, QUESTION, reflection_grammar())])
        said = one_line(reply.text).strip()
        asked, mark, _ = said.partition("?")
        return None if not mark or said == NO_QUESTION else f"{asked}?"

    def _probabilities(self, messages: tuple[Message, ...], actions: Sequence[str]) -> list[float]:
        """Mean probability of the tokens of each action."""
        tokens = self._student.score_tokens(ChatRequest(messages, prefix=PREFIX), [f" {action}" for action in actions])
        return [sum(math.exp(token.logprob) for token in each) / len(each) for each in tokens]


def _same(own: str, other: str, verbs: KitchenVerbs) -> bool:
    """Whether two lines are understood as the same action."""

    def understood(said: str) -> KitchenAction | str:
        try:
            return parse_action(said, verbs)
        except ImpossibleAction:
            return said

    return understood(own) == understood(other)


def choice(datum: Datum, thresholds: Thresholds) -> Choice | None:
    """What the student should have done (algorithm 1); None where nothing is to be learned."""
    if datum.delta_t < 0:
        return "action"
    if datum.delta_q is not None and datum.delta_q > thresholds.question:
        return "question"
    return "action" if datum.delta_t < thresholds.action else None


def thresholds_for(data: Sequence[Datum], questions: float, actions: float) -> Thresholds:
    """Thresholds with which some shares of the data become questions and teacher's actions, as far as they can.

    No question is chosen whose answer makes the teacher's action less likely.

    Args:
        data: all that was reflected upon.
        questions, actions: shares of it.
    """
    open_ = [datum for datum in data if datum.delta_t >= 0]
    gains = sorted((datum.delta_q for datum in open_ if datum.delta_q is not None), reverse=True)
    wanted = round(questions * len(data))
    first = max(gains[wanted], 0.0) if wanted < len(gains) else 0.0
    rest = sorted(datum.delta_t for datum in open_ if datum.delta_q is None or datum.delta_q <= first)
    wanted = max(round(actions * len(data)) - (len(data) - len(open_)), 0)
    return Thresholds(first, rest[wanted] if wanted < len(rest) else _EVERY)


def preferences_of(reflected: Iterable[Reflected], thresholds: Thresholds) -> list[Preference]:
    """What the student should rather have said at each step of which something is to be learned."""
    found = []
    for episode in reflected:
        for datum in episode.data:
            chosen = choice(datum, thresholds)
            if chosen is not None:
                said = datum.teacher if chosen == "action" else f'Ask "{datum.question}"'
                found.append(_preference(datum, said, f"{episode.episode}/{datum.step}: {chosen}"))
    return [each for each in found if each.chosen != each.rejected]


def teacher_preferences(reflected: Iterable[Reflected]) -> list[Preference]:
    """The teacher's actions as they are: the ablation without reflection."""
    return [
        _preference(datum, datum.teacher, f"{episode.episode}/{datum.step}: action")
        for episode in reflected
        for datum in episode.data
    ]


def _preference(datum: Datum, chosen: str, source: str) -> Preference:
    return Preference(
        prompt=datum.prompt, prefix=PREFIX, chosen=f" {chosen}", rejected=f" {datum.student}", source=source
    )
