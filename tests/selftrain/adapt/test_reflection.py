"""Algorithm 1 and its thresholds, and reflecting upon an episode that was played."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from housewise.agent.adapt.planner_prompt import CookingTurn, PlannerPrompt
from housewise.agent.adapt.prompts import SHORT_PROMPTS, load_prompts
from housewise.core.errors import UserError
from housewise.core.record import Record
from housewise.language.base import ChatRequest, PromptTooLongError, Reply, TokenLogprob
from housewise.language.embedder import has_minilm, shared_minilm
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.kitchen.question_topics import QuestionTopic, default_topics
from housewise.selftrain.adapt.breakfast_replay import play_breakfast, recorded_scene
from housewise.selftrain.adapt.question_oracle import QuestionOracle
from housewise.selftrain.adapt.record_reflection import (
    EpisodeReflection,
    choose_thresholds,
    is_question,
    reflect_on_record,
    teacher_preferences,
)
from housewise.selftrain.adapt.reflection_dpo import (
    ReflectionDPO,
    ReflectionStep,
    ReflectionThresholds,
    Student,
    dpo_dataset,
    reflection,
)
from housewise.systems.adapt.record import CookingActionEvent
from housewise.systems.adapt.world import BreakfastObservation
from tests.people.kitchen.sixteen import ADAPT_PEOPLE
from tests.systems.command_runs import adapt, record_of

QUESTION = "How do you take your coffee?"


def datum(student: float, teacher: float, then: float | None = None) -> ReflectionStep:
    """A step with the probabilities of the student's action, and of the teacher's without and with the answer."""
    return ReflectionStep(
        step=3,
        prompt=({"role": "user", "content": "Tea."},),
        student="Search fridge_0",
        teacher="Look for lemon",
        question=None if then is None else QUESTION,
        answer="",
        student_now=student,
        teacher_now=teacher,
        teacher_then=then,
    )


@pytest.mark.parametrize(
    ("student", "teacher", "then", "chosen"),
    [
        (0.2, 0.3, 0.9, "action"),  # the student would rather do what the teacher does
        (0.5, 0.4, 0.6, "question"),  # the answer adds 0.2, more than 0.1
        (0.5, 0.4, 0.5, "action"),  # it adds no more than 0.1, but the student is hardly surer, by less than 0.2
        (0.9, 0.4, 0.45, None),
        (0.9, 0.4, None, None),
        (0.5, 0.4, None, "action"),
    ],
)
def test_algorithm_1(student: float, teacher: float, then: float | None, chosen: str | None) -> None:
    assert reflection(datum(student, teacher, then), ReflectionThresholds(question=0.1001, action=0.2)) == chosen


def test_thresholds_give_the_shares_that_are_wanted() -> None:
    data = [datum(0.5 + number / 1000, 0.3, 0.3 + (number % 97) / 200) for number in range(1, 101)]
    thresholds = choose_thresholds(data, 0.37, 0.48)
    chosen = [reflection(each, thresholds) for each in data]
    assert abs(chosen.count("question") - 37) <= 1 and abs(chosen.count("action") - 48) <= 2
    assert thresholds.question > 0 and thresholds.action > 0


def test_no_question_is_chosen_that_makes_it_worse_and_nothing_may_be_left() -> None:
    worse = [datum(0.5, 0.3, 0.2) for _ in range(10)]
    thresholds = choose_thresholds(worse, 0.5, 0.5)
    assert thresholds.question == 0 and "question" not in [reflection(each, thresholds) for each in worse]
    assert choose_thresholds([], 0.37, 0.48).question == 0


def test_what_is_learned_of_it() -> None:
    asking = datum(0.5, 0.4, 0.9).model_copy(update={"student": f'Ask "{QUESTION}"'})
    data = (datum(0.5, 0.4, 0.9), datum(0.2, 0.3), asking)
    episode = EpisodeReflection(episode="juan-4-run0", steps=9, data=data)
    thresholds = ReflectionThresholds(0.1, 0.0)
    first, second = dpo_dataset(episode.data, thresholds, episode.episode)
    assert first.chosen == f' Ask "{QUESTION}"' and first.rejected == " Search fridge_0" and first.prefix == "Action:"
    assert second.chosen == " Look for lemon" and second.source == "juan-4-run0/3: action"
    assert [each.chosen for each in teacher_preferences([episode])] == [" Look for lemon"] * 3
    assert is_question(data[2].student) and not is_question(data[0].student)


class Sure:
    """A student that asks the same whenever it reflects, and whose probabilities are known."""

    name = "sure"

    def __init__(self, question: str = QUESTION) -> None:
        self.question, self.reflected = question, list[str]()

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        self.reflected += [request.messages[-1].content for request in requests]
        return [[Reply(f" {self.question}")] for _ in requests]

    def score_tokens(self, request: ChatRequest, continuations: Sequence[str]) -> list[tuple[TokenLogprob, ...]]:
        """Whatever is said is twice as likely after an answer; of every two tokens one is certain."""
        answered = any(message.content.startswith("They say:") for message in request.messages)
        certain, other = TokenLogprob("a", 0.0), TokenLogprob("b", math.log(0.4 if answered else 0.2))
        return [(certain, other) for _ in continuations]

    def close(self) -> None: ...


class Forgetful(Sure):
    """Reads so many turns of a conversation and no more."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def score_tokens(self, request: ChatRequest, continuations: Sequence[str]) -> list[tuple[TokenLogprob, ...]]:
        if sum(message.role == "assistant" for message in request.messages) > self._most:
            raise PromptTooLongError("too long", "too long")
        return super().score_tokens(request, continuations)


def reflect(
    student: Student,
    record: Record,
    oracle: Sequence[QuestionTopic] | None = None,
    people: Mapping[str, KitchenProfile] = ADAPT_PEOPLE,
) -> EpisodeReflection:
    method = ReflectionDPO(student, PlannerPrompt(load_prompts(SHORT_PROMPTS)), 40)
    return reflect_on_record(method, record, people, shared_minilm(), oracle)


@pytest.mark.skipif(not has_minilm(), reason="needs MiniLM")
def test_an_episode_is_played_again_and_every_step_compared(tmp_path: Path) -> None:
    adapt("--planner", "never", "person=juan", "task=[4]", "--out", tmp_path)
    record = record_of(tmp_path, "juan-4-run0")
    student = Sure()
    found = reflect(student, record)
    assert found.steps == record.result.scores["executed"] == len(record.of_type(CookingActionEvent))
    assert 0 < len(found.data) <= found.steps and len(student.reflected) == len(found.data)
    each = found.data[0]
    assert each.question == QUESTION and each.answer.startswith("I drink coffee black")
    assert each.student_now == pytest.approx(0.6) and each.delta_t == pytest.approx(0)
    assert each.delta_q == pytest.approx(0.1)
    assert f"You would: {each.student}\nWho knows them would: {each.teacher}" in student.reflected[0]
    line = json.loads(found.model_dump_json())["data"][0]
    assert line["delta_q"] == pytest.approx(0.1) and "delta_t" in line
    assert EpisodeReflection.model_validate_json(found.model_dump_json()) == found
    short = reflect(Forgetful(3), record)
    assert short.steps == found.steps and 0 < len(short.data) < len(found.data)
    assert short.data == found.data[: len(short.data)], "what is longer than it reads is left out"
    nothing = reflect(Sure("None"), record)
    assert {datum.question for datum in nothing.data} == {None}
    with pytest.raises(UserError, match="nobody is named 'juan'"):
        reflect(student, record, people={})


@pytest.mark.skipif(not has_minilm(), reason="needs MiniLM")
def test_an_oracle_asks_what_the_teachers_action_turns_on(tmp_path: Path) -> None:
    adapt("--planner", "never", "person=juan", "task=[4]", "--out", tmp_path)
    record, student = record_of(tmp_path, "juan-4-run0"), Sure()
    juan, own = ADAPT_PEOPLE["juan"], reflect(student, record)
    student.reflected.clear()
    found = reflect(student, record, default_topics())
    assert not student.reflected, "the student is not asked what it could have asked"
    assert [(each.step, each.teacher) for each in found.data] == [(each.step, each.teacher) for each in own.data]
    asked = [each for each in found.data if each.question is not None]
    assert asked and all(any(wish.text in each.answer for wish in juan.preferences) for each in asked)
    scene, said = recorded_scene(record, dict(ADAPT_PEOPLE), shared_minilm())
    hindsight, known = QuestionOracle(scene, juan, default_topics()), {each.step: each for each in asked}

    def decide(seen: BreakfastObservation, turns: Sequence[CookingTurn]) -> str | None:
        if each := known.get(len(turns)):
            assert each.question is not None
            usual, then = hindsight.next_action(seen, ()), hindsight.next_action(seen, ((each.question, each.answer),))
            assert then != usual != each.teacher
            assert (
                then == each.teacher or each.teacher not in dict(hindsight.decisive_questions(usual, seen, ())).values()
            )
        return said(seen, turns)

    assert len(play_breakfast(scene.world, decide)) == found.steps
