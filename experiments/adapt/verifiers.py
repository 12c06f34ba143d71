"""How much of what each person wants the scripted cook fulfils: the ceiling, and the check of the verifiers.

The cook plays every person, every task and several scenes with full knowledge. What it leaves open is either named as
given up (the scene has not got it, or two wishes do not go together) or a fault of the cook or of a verifier.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from housewise.agent.adapt.scripted_cook.oracle_cook import OracleCook
from housewise.core.console import Console
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.people.kitchen.preference_judge import PreferenceJudge, PreferenceVerdict, satisfaction_rate
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.kitchen.published_judge import PublishedJudge
from housewise.worlds.kitchen.kitchen_data import load_kitchen
from housewise.worlds.kitchen.world import TextKitchen


@dataclass
class Breakfast:
    """One breakfast that the cook made.

    Attributes:
        given_up: wishes that applied and that it saw no way for, with the reason.
        open: wishes that it aimed at and that are violated in the end.
        rate: satisfied of applicable wishes; None where none applies.
        published: the same as the authors' published functions decide.
    """

    person: str
    task: int
    seed: int
    steps: int
    failed: int
    satisfied: list[str] = field(default_factory=list)
    open: dict[str, str] = field(default_factory=dict)
    given_up: dict[str, str] = field(default_factory=dict)
    rate: float | None = None
    published: float | None = None


def cook_for(person: KitchenProfile, task: int, seed: int) -> Breakfast:
    """Let the scripted cook play one task in the scene of a seed, and have it judged."""
    world = TextKitchen(task, seed)
    cook = OracleCook(person, task)
    given_up = cook.choice(world.dynamics).given_up
    failed = 0
    while True:
        step = world.step(cook.act(world.dynamics))
        failed += step.failed
        if step.ended or step.truncated:
            break
    breakfast = Breakfast(person.name, task, seed, world.trace.step, failed)
    verdicts = PreferenceJudge(task).verdicts(person, world.trace)
    for verdict in verdicts:
        _file(verdict, breakfast, given_up)
    breakfast.rate = satisfaction_rate(verdicts)
    breakfast.published = PublishedJudge(task).satisfaction(person, world.trace)
    return breakfast


def _file(verdict: PreferenceVerdict, breakfast: Breakfast, given_up: dict[str, str]) -> None:
    id = verdict.preference.id
    if verdict.decision == "satisfied":
        breakfast.satisfied.append(id)
    elif verdict.decision == "violated" and id in given_up:
        breakfast.given_up[id] = given_up[id]
    elif verdict.decision == "violated":
        breakfast.open[id] = verdict.why


def summary(breakfasts: Sequence[Breakfast]) -> dict[str, Any]:
    """Figures over breakfasts.

    Returns:
        ``scripted_cook``: satisfied of what can be satisfied (0 to 1); ``n``: how many that is; ``satisfied``;
        ``applicable``: ``n`` and what was given up; ``of_applicable``: satisfied of those; ``given_up`` and ``open``:
        by person, preference and reason how often; ``rate``: satisfied of applicable wishes, the mean over breakfasts
        in which any applies (0 to 1), and ``published_rate`` as the authors' published functions decide, which is
        another scale.
    """
    satisfied = sum(len(one.satisfied) for one in breakfasts)
    open_ = sum(len(one.open) for one in breakfasts)
    given_up = sum(len(one.given_up) for one in breakfasts)
    n = satisfied + open_
    return {
        "scripted_cook": satisfied / n if n else None,
        "n": n,
        "satisfied": satisfied,
        "applicable": n + given_up,
        "of_applicable": satisfied / (n + given_up) if n + given_up else None,
        "given_up": _count_wishes((one.person, one.given_up) for one in breakfasts),
        "open": _count_wishes((one.person, one.open) for one in breakfasts),
        "rate": _mean(one.rate for one in breakfasts),
        "published_rate": _mean(one.published for one in breakfasts),
        "breakfasts": len(breakfasts),
        "failed_actions": sum(one.failed for one in breakfasts),
        "steps": {
            "mean": sum(one.steps for one in breakfasts) / len(breakfasts) if breakfasts else None,
            "most": max((one.steps for one in breakfasts), default=None),
        },
    }


def _mean(rates: Iterable[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return sum(known) / len(known) if known else None


def _count_wishes(wishes: Iterable[tuple[str, dict[str, str]]]) -> list[dict[str, Any]]:
    counts = Counter((person, id, why) for person, found in wishes for id, why in found.items())
    return [
        {"person": person, "preference": id, "why": why, "times": times}
        for (person, id, why), times in sorted(counts.items())
    ]


def _by_reason(counted: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The wishes of which the same is said, in one line each."""
    found: dict[str, list[str]] = {}
    for one in counted:
        times = f" x{one['times']}" if one["times"] > 1 else ""
        found.setdefault(one["why"], []).append(f"{one['person']} {one['preference']}{times}")
    return {why: ", ".join(wishes) for why, wishes in found.items()}


def main(
    people: Annotated[Path | None, typer.Option(help="File or folder of people; the sixteen of ADAPT.")] = None,
    scenes: Annotated[int, typer.Option(min=1, help="Scenes for each person and task.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first scene.")] = 0,
    json_file: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Write the figures there.")
    ] = None,
) -> None:
    """Have the scripted cook make every breakfast for every person, and judge it.

    Examples:

      python -m housewise.experiments.adapt.verifiers --json verifiers.json

      python -m housewise.experiments.adapt.verifiers --people my_people.yaml --scenes 10 --json mine.json
    """
    console = Console()
    found = load_profiles(people or ADAPT_PROFILES)
    tasks = load_kitchen().tasks.tasks
    begun = time.perf_counter()
    breakfasts = [
        cook_for(person, task, seed + number * len(tasks) + index)
        for person in found
        for index, task in enumerate(tasks)
        for number in range(scenes)
    ]
    figures = {
        **summary(breakfasts),
        "people": len(found),
        "wishes": sum(len(person.preferences) for person in found),
        "scenes": scenes,
        "seed": seed,
        "seconds": round(time.perf_counter() - begun, 1),
    }
    share = figures["scripted_cook"]
    shown = "nothing could be satisfied" if share is None else f"{100 * share:.1f} % of {figures['n']} wishes satisfied"
    console.print(f"{len(found)} people, {len(breakfasts)} breakfasts: {shown}", highlight=False)
    for kind, words in (("given_up", "given up, as"), ("open", "violated:")):
        for why, wishes in _by_reason(figures[kind]).items():
            console.print(f"  {words} {why} - {wishes}", highlight=False)
    if json_file is not None:
        write_json(json_file, {**figures, **provenance()})


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
