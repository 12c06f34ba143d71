"""How much of what each person wants the scripted cook fulfils: the ceiling, and the check of the verifiers.

The cook plays every person, every task and several scenes with full knowledge. What it leaves open is either named as
given up (the scene has not got it, or two wishes do not go together) or a fault of the cook or of a verifier.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from housewise.agent.adapt.scripted_cook.oracle_cook import OracleCook
from housewise.experiments.measured_values import MeasuredValue
from housewise.people.kitchen.preference_judge import PreferenceJudge, satisfaction_rate
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.kitchen.published_judge import PublishedJudge
from housewise.worlds.kitchen.kitchen_data import load_kitchen
from housewise.worlds.kitchen.world import TextKitchen


@dataclass
class Breakfast:
    """One breakfast that the cook made.

    Attributes:
        steps: Number of executed actions.
        failed: Number of impossible actions.
        satisfied: Ids of satisfied wishes.
        open: Wishes that the cook aimed at and that are violated in the end, with the reason.
        given_up: Wishes that applied and that it saw no way for, with the reason.
        satisfaction: Share of satisfied among applicable wishes; None where none applies.
        published_satisfaction: The same as the authors' published functions decide.
    """

    steps: int
    failed: int
    satisfied: list[str] = field(default_factory=list)
    open: dict[str, str] = field(default_factory=dict)
    given_up: dict[str, str] = field(default_factory=dict)
    satisfaction: float | None = None
    published_satisfaction: float | None = None


def cook_for(person: KitchenProfile, task: int, seed: int) -> Breakfast:
    """Let the scripted cook play one task in the scene of a seed, and have it judged."""
    world, cook = TextKitchen(task, seed), OracleCook(person, task)
    given_up = cook.choice(world.dynamics).given_up
    failed, ended = 0, False
    while not ended:
        step = world.step(cook.act(world.dynamics))
        failed, ended = failed + step.failed, step.ended or step.truncated
    made, verdicts = Breakfast(world.trace.step, failed), PreferenceJudge(task).verdicts(person, world.trace)
    for verdict in verdicts:
        id = verdict.preference.id
        if verdict.decision == "satisfied":
            made.satisfied.append(id)
        elif verdict.decision == "violated" and id in given_up:
            made.given_up[id] = given_up[id]
        elif verdict.decision == "violated":
            made.open[id] = verdict.why
    made.satisfaction = satisfaction_rate(verdicts)
    made.published_satisfaction = PublishedJudge(task).satisfaction(person, world.trace)
    return made


def check_verifiers(people: str | None = None, scenes: int = 3, seed: int = 0) -> Iterator[MeasuredValue]:
    """Yield the measures of the oracle's breakfasts for every person and task.

    Args:
        people: File or folder of people; the sixteen of ADAPT by default.
        scenes: Number of scenes for each person and task.
        seed: Seed of the first scene.
    """
    tasks = load_kitchen().tasks.tasks
    for person in load_profiles(people or ADAPT_PROFILES):
        for index, task in enumerate(tasks):
            for number in range(scenes):
                made = cook_for(person, task, seed + number * len(tasks) + index)
                aimed_at = len(made.satisfied) + len(made.open)
                measures = {
                    "applicable": aimed_at + len(made.given_up),
                    "aimed_at": aimed_at,
                    "satisfied": len(made.satisfied),
                    "satisfaction": made.satisfaction,
                    "published_satisfaction": made.published_satisfaction,
                    "steps": made.steps,
                    "failed": made.failed,
                }
                for measure, value in measures.items():
                    if value is not None:
                        yield MeasuredValue(f"{person.name}-{task}", number, measure, float(value))
