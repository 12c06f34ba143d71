"""Breakfasts as conversations: played by a cook, or played again from a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from housewise.agent.adapt.llm_cook import Briefing, CookingTurn
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

_MOST_STEPS = 1000  # an episode that is over is not cut again
Told = tuple[tuple[str, str], ...]
"""Questions with their answers."""
Decide = Callable[[BreakfastObservation, Sequence[CookingTurn]], str | None]
"""The next action, going by what is perceived and what has happened; None ends the episode."""


@dataclass(frozen=True)
class Scene:
    """A breakfast that can be made.

    Attributes:
        speaker: answers for the person.
        briefing: what a model is told at the beginning.
    """

    kitchen: TextKitchen
    world: BreakfastWorld
    judge: PreferenceJudge
    speaker: KitchenRespondent
    briefing: Briefing


def scene_for(
    person: KitchenProfile, task: int, seed: int, embedder: Embedder, answered: Told = (), known: Told = ()
) -> Scene:
    """A breakfast for somebody who answers by meaning.

    Args:
        person: for whom.
        task: its number.
        seed: of the scene.
        embedder: of the one who answers.
        answered: answers that are given again to the same questions.
        known: what the person has said on other days.
    """
    kitchen, judge = TextKitchen(task, seed, max_steps=_MOST_STEPS), PreferenceJudge(task)
    speaker = KitchenRespondent(person, judge, kitchen.trace, embedder)
    world = BreakfastWorld(kitchen, person, judge, lambda: speaker, person.name, dict(answered))
    return Scene(
        kitchen, world, judge, speaker, Briefing(kitchen.task.text, kitchen.layout(), format_known_answers(known))
    )


def told_by(record: Record, people: dict[str, KitchenProfile], embedder: Embedder) -> tuple[Scene, Decide]:
    """The scene of a recorded breakfast, and what its robot did there.

    Raises:
        UserError: when the person is none of these.
    """
    setting = AdaptInitialState.model_validate(record.header.setting)
    if setting.person not in people:
        raise UserError(f"{record.header.name}: nobody is named {setting.person!r}; give the people it was played for")
    answered = tuple((event.question, event.text) for event in reversed(record.of_type(KitchenAnswerEvent)))
    scene = scene_for(people[setting.person], setting.number, record.header.seed, embedder, answered)
    said = [event.said for event in record.of_type(CookingActionEvent)]
    return scene, lambda seen, turns: said[len(turns)] if len(turns) < len(said) else None


def tell(world: BreakfastWorld, decide: Decide) -> list[CookingTurn]:
    """Make a breakfast to its end."""
    return list(telling(world, decide))


def telling(world: BreakfastWorld, decide: Decide) -> Iterator[CookingTurn]:
    """Make a breakfast, a turn after the other."""
    seen, turns = world.reset(), list[CookingTurn]()
    while (action := decide(seen, turns)) is not None:
        made, step = seen.made, world.step(action)
        seen = step.observation
        turns.append(seen.turn(action, made))
        yield turns[-1]
        if step.over or (seen.last is not None and seen.last.ended):
            return


def without_failures(turns: Sequence[CookingTurn]) -> list[CookingTurn]:
    """Some turns without those that came to nothing, which are not to be learned."""
    kept: list[CookingTurn] = []
    made = ""
    for turn in turns:
        made = turn.made or made
        if not turn.failed:
            kept.append(replace(turn, made=made))
            made = ""
    return kept
