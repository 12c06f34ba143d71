"""Plays breakfasts as conversations, with decisions of a cook or from a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from housewise.agent.adapt.planner_prompt import Briefing, CookingTurn
from housewise.core.errors import UserError
from housewise.core.record import Record
from housewise.language.embedder import Embedder
from housewise.people.kitchen.preference_judge import PreferenceJudge
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.kitchen.respondent import KitchenRespondent
from housewise.systems.adapt.agents import format_known_answers
from housewise.systems.adapt.record import AdaptInitialState, CookingActionEvent, KitchenAnswerEvent
from housewise.systems.adapt.world import BreakfastObservation, BreakfastWorld
from housewise.worlds.kitchen.world import TextKitchen

_MAX_STEPS = 1000  # a recorded episode has had its own limit
AnsweredQuestions = tuple[tuple[str, str], ...]
"""Questions with their answers."""
Decide = Callable[[BreakfastObservation, Sequence[CookingTurn]], str | None]
"""Returns the next action for an observation and the turns so far, or None to end the episode."""


@dataclass(frozen=True)
class BreakfastScene:
    """A breakfast that can be played.

    Attributes:
        speaker: Answers for the person.
        briefing: What a model reads at the beginning.
    """

    kitchen: TextKitchen
    world: BreakfastWorld
    judge: PreferenceJudge
    speaker: KitchenRespondent
    briefing: Briefing


def make_scene(
    person: KitchenProfile,
    task: int,
    seed: int,
    embedder: Embedder,
    answered: AnsweredQuestions = (),
    known: AnsweredQuestions = (),
) -> BreakfastScene:
    """Return a breakfast for a person who understands questions by meaning.

    Args:
        person: The person.
        task: Number of the task.
        seed: Seed of the scene.
        embedder: Embedder of the answering person.
        answered: Answers that are repeated for the same questions.
        known: What the person has said on other days.
    """
    kitchen, judge = TextKitchen(task, seed, max_steps=_MAX_STEPS), PreferenceJudge(task)
    speaker = KitchenRespondent(person, judge, kitchen.trace, embedder)
    world = BreakfastWorld(kitchen, person, judge, lambda: speaker, person.name, dict(answered))
    return BreakfastScene(
        kitchen, world, judge, speaker, Briefing(kitchen.task.text, kitchen.layout(), format_known_answers(known))
    )


def recorded_scene(
    record: Record, people: dict[str, KitchenProfile], embedder: Embedder
) -> tuple[BreakfastScene, Decide]:
    """Return the scene of a recorded breakfast, and the decisions of its robot.

    Raises:
        UserError: The person of the record is not among the given people.
    """
    initial_state = AdaptInitialState.model_validate(record.header.initial_state)
    if initial_state.person not in people:
        raise UserError(
            f"{record.header.name}: nobody is named {initial_state.person!r}; give the people it was played for"
        )
    answered = tuple((event.question, event.text) for event in reversed(record.of_type(KitchenAnswerEvent)))
    scene = make_scene(people[initial_state.person], initial_state.number, record.header.seed, embedder, answered)
    actions = [event.text for event in record.of_type(CookingActionEvent)]
    return scene, lambda seen, turns: actions[len(turns)] if len(turns) < len(actions) else None


def play_steps(world: BreakfastWorld, decide: Decide) -> Iterator[tuple[BreakfastObservation, list[CookingTurn], str]]:
    """Play a breakfast to its end, and yield each action before it is executed, with the observation and earlier turns.

    The list of turns is the same for all steps, and is complete at the end.
    """
    seen, turns = world.reset(), list[CookingTurn]()
    while (action := decide(seen, turns)) is not None:
        yield seen, turns, action
        made, step = seen.made, world.step(action)
        seen = step.observation
        turns.append(seen.turn(action, made))
        if step.over or (seen.last is not None and seen.last.ended):
            return


def play_breakfast(world: BreakfastWorld, decide: Decide) -> list[CookingTurn]:
    """Play a breakfast to its end, and return its turns."""
    played = [turns for _, turns, _ in play_steps(world, decide)]
    return played[-1] if played else []


def drop_failed_turns(turns: Sequence[CookingTurn]) -> list[CookingTurn]:
    """Return the turns without failed actions, which should not be learned."""
    kept: list[CookingTurn] = []
    made = ""
    for turn in turns:
        made = turn.made or made
        if not turn.failed:
            kept.append(replace(turn, made=made))
            made = ""
    return kept
