"""Reflects on records of a student's breakfasts: Reflection-DPO with our scripted teacher and our people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from housewise.agent.adapt.planner_prompt import Interaction
from housewise.agent.adapt.scripted_cook.exploring_cook import ExploringCook
from housewise.agent.adapt.scripted_cook.oracle_cook import OracleCook
from housewise.core.record import Record
from housewise.core.validation import StrictModel
from housewise.language.embedder import Embedder
from housewise.language.words import one_line
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.kitchen.question_topics import QuestionTopic
from housewise.people.respondent import Question
from housewise.selftrain.adapt.breakfast_replay import (
    AnsweredQuestions,
    BreakfastScene,
    Decide,
    play_steps,
    recorded_scene,
)
from housewise.selftrain.adapt.question_oracle import QuestionOracle
from housewise.selftrain.adapt.reflection_dpo import (
    ReflectionDPO,
    ReflectionStep,
    ReflectionThresholds,
    StudentStep,
    dpo_pair,
)
from housewise.selftrain.examples import Preference
from housewise.systems.adapt.record import CookingActionEvent
from housewise.systems.adapt.world import MAX_ANSWER_CHARACTERS, BreakfastObservation
from housewise.worlds.kitchen.action_parser import ImpossibleAction, KitchenAction, parse_action
from housewise.worlds.kitchen.kitchen_data import KitchenVerbs

_ABOVE_ALL = 2.0  # larger than every difference of probabilities


class EpisodeReflection(StrictModel):
    """The corrective data of a breakfast.

    Attributes:
        episode: Name of its record.
        steps: Number of its steps.
        data: The steps at which the teacher would have done something else.
    """

    episode: str
    steps: int
    data: tuple[ReflectionStep, ...]


@dataclass(frozen=True)
class RecordedStep(StudentStep):
    """A step of a recorded breakfast that is played again.

    Attributes:
        seen: The observation before it.
        answered: Questions that were answered before it.
    """

    seen: BreakfastObservation
    answered: AnsweredQuestions


def reflect_on_record(
    reflection_dpo: ReflectionDPO,
    record: Record,
    people: Mapping[str, KitchenProfile],
    embedder: Embedder,
    oracle: Sequence[QuestionTopic] | None = None,
) -> EpisodeReflection:
    """Return the corrective data of a recorded breakfast.

    Args:
        reflection_dpo: The method, with the student that cooked.
        record: The record.
        people: People by name.
        embedder: Embedder of the answering person.
        oracle: What can be asked, to replace the student's question with one whose answer is known to change the
            teacher's action. This ablation is not in the paper.

    Raises:
        UserError: The record is of another person, or the model cannot be used.
    """
    scene, decide = recorded_scene(record, dict(people), embedder)
    person, verbs = people[scene.speaker.name], scene.kitchen.kitchen.verbs
    cook = ExploringCook(OracleCook(person, scene.judge.task), verbs)
    get_question = None if oracle is None else _ask_oracle(QuestionOracle(scene, person, oracle))
    data = reflection_dpo.corrective_data(
        _recorded_steps(scene, decide),
        teacher=lambda step: cook.act(step.seen.cooking, step.seen.named),
        user=lambda question: one_line(scene.speaker.answer(Question(question)).text[:MAX_ANSWER_CHARACTERS]),
        is_same_action=lambda one, other: _parse_or_text(one, verbs) == _parse_or_text(other, verbs),
        get_question=get_question,
    )
    steps = len(record.of_type(CookingActionEvent))
    return EpisodeReflection(episode=record.header.name, steps=steps, data=tuple(data))


def _recorded_steps(scene: BreakfastScene, decide: Decide) -> Iterator[RecordedStep]:
    answered: AnsweredQuestions = ()
    for seen, turns, action in play_steps(scene.world, decide):
        if seen.question is not None:
            answered += ((seen.question, seen.text),)
        yield RecordedStep(Interaction(scene.briefing, tuple(turns), seen.made), action, seen, answered)


def _ask_oracle(oracle: QuestionOracle) -> Callable[[RecordedStep, str], str | None]:
    return lambda step, teacher_action: oracle.best_question(step.seen, step.answered, teacher_action)


def _parse_or_text(line: str, verbs: KitchenVerbs) -> KitchenAction | str:
    try:
        return parse_action(line, verbs)
    except ImpossibleAction:
        return line


def is_question(action: str) -> bool:
    """Return whether an action is a question."""
    return action.lower().startswith("ask ")


def choose_thresholds(data: Sequence[ReflectionStep], questions: float, actions: float) -> ReflectionThresholds:
    """Return thresholds with which given shares of the steps become questions and teacher's actions, if possible.

    The paper does not publish its thresholds, but these shares. No question is chosen whose answer makes the teacher's
    action less likely.

    Args:
        data: All steps.
        questions: Share of the steps that become questions.
        actions: Share of the steps that become the teacher's action.
    """
    undecided = [step for step in data if step.delta_t >= 0]
    gains = sorted((step.delta_q for step in undecided if step.delta_q is not None), reverse=True)
    wanted = round(questions * len(data))
    question = max(gains[wanted], 0.0) if wanted < len(gains) else 0.0
    rest = sorted(step.delta_t for step in undecided if step.delta_q is None or step.delta_q <= question)
    wanted = max(round(actions * len(data)) - (len(data) - len(undecided)), 0)
    return ReflectionThresholds(question, rest[wanted] if wanted < len(rest) else _ABOVE_ALL)


def teacher_preferences(reflections: Sequence[EpisodeReflection]) -> list[Preference]:
    """Return a preference for the teacher's action at each step: the ablation without reflection (section 6.3)."""
    return [
        dpo_pair(step, step.teacher, f"{episode.episode}/{step.step}: action")
        for episode in reflections
        for step in episode.data
    ]
