"""How long a step of the text kitchen takes, without a model."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Annotated

import typer

from housewise.agent.adapt.scripted_cook.oracle_cook import OracleCook
from housewise.core.console import Console
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from housewise.worlds.kitchen.world import TextKitchen


def step_times(episodes: int) -> list[float]:
    """Milliseconds of every step of breakfasts that the scripted cook makes; its thinking is not counted."""
    people = load_profiles(ADAPT_PROFILES)
    times = []
    for number in range(episodes):
        task = number % 8 + 1
        world = TextKitchen(task, seed=number)
        for action in OracleCook(people[number % len(people)], task).plan(world.dynamics):
            begun = time.perf_counter()
            world.step(action)
            times.append(1000 * (time.perf_counter() - begun))
    return times


def main(
    episodes: Annotated[int, typer.Option(min=1, help="Breakfasts that are made.")] = 128,
    json_file: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Write the figures there.")
    ] = None,
) -> None:
    """Time the steps of the text kitchen.

    Examples:

      python -m housewise.experiments.adapt.speed --json kitchen_speed.json
    """
    times = sorted(step_times(episodes))
    figures = {
        "steps": len(times),
        "mean_ms": statistics.fmean(times),
        "median_ms": statistics.median(times),
        "p99_ms": times[int(0.99 * (len(times) - 1))],
    }
    Console().print(
        f"{figures['steps']} steps: {figures['mean_ms']:.3f} ms on average, {figures['median_ms']:.3f} in the median, "
        f"{figures['p99_ms']:.3f} at the 99th percentile",
        highlight=False,
    )
    if json_file is not None:
        write_json(json_file, {**figures, **provenance()})


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
