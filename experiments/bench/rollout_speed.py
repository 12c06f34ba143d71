"""Speed of runs that play several episodes at a time with the local model."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from housewise.experiments.measured_values import MeasuredValue
from housewise.rollout.executor import RunCallback
from housewise.rollout.run import Run
from housewise.rollout.system import Job
from housewise.systems.personalize.record import read_house_records
from housewise.systems.personalize.settings import PersonalizeSettings, house_settings
from housewise.systems.personalize.system import Personalize

_PERSON = "majority"


class StartClock(RunCallback):
    """Takes the time from the start of the first episode, when the model has been loaded."""

    def __init__(self) -> None:
        self.start: float | None = None

    def on_episode_start(self, job: Job) -> None:
        """See RunCallback.on_episode_start."""
        self.start = self.start or time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since then."""
        return time.perf_counter() - (self.start or time.perf_counter())


def time_runs(workers: int, demonstrations: int = 0, **settings: Any) -> Iterator[MeasuredValue]:
    """Measure a run that plays several episodes at a time, and one that plays them one after another.

    All play the same episodes. Replies are drawn in other company and may differ in a few words, and episodes then in
    length, so steps and tokens are measured as well.

    Args:
        workers: Number of episodes at a time.
        demonstrations: Number of houses in which it is demonstrated first what people want. None remembers nothing.
        **settings: Settings of the runs.
    """
    with TemporaryDirectory() as folder:
        base = house_settings(settings=settings)
        config = base.with_changes(workers=workers)
        if demonstrations:
            config = add_memory(config, demonstrations, Path(folder) / "demonstrations")
        speeds = time_run(config, Path(folder) / "run")
        if workers > 1:
            alone = time_run(base.with_changes(workers=1), Path(folder) / "alone")
            speeds["times_one"] = speeds["episodes_per_minute"] / alone["episodes_per_minute"]
    yield from (MeasuredValue("all", 0, measure, speed) for measure, speed in speeds.items())


def time_alone(**settings: Any) -> Iterator[MeasuredValue]:
    """Measure a run; see time_run."""
    with TemporaryDirectory() as folder:
        speeds = time_run(house_settings(settings=settings), Path(folder) / "run")
    yield from (MeasuredValue("all", 0, measure, speed) for measure, speed in speeds.items())


def time_run(config: PersonalizeSettings, folder: Path) -> dict[str, float]:
    """Play a run in a new folder, and return its speeds without the time of loading."""
    clock = StartClock()
    Run(Personalize(config), folder).play(clock)
    seconds = clock.seconds
    records = list(read_house_records(folder / "episodes"))
    results = [record.result for record in records]
    return {
        "requests_per_second": sum(len(record.plans) for record in records) / seconds,
        "episodes_per_minute": 60 * len(results) / seconds,
        "steps_per_minute": 60 * sum(result.scores["steps"] for result in results) / seconds,
        "prompt_tokens_per_second": sum(result.usage.prompt_tokens for result in results) / seconds,
        "tokens_per_second": sum(result.usage.completion_tokens for result in results) / seconds,
    }


def add_memory(config: PersonalizeSettings, houses: int, folder: Path) -> PersonalizeSettings:
    """Return settings with a memory of demonstrations, one in each of some other houses, that are played first."""
    demonstrated = config.with_changes(
        planner="demonstrator",
        tasks={"houses": houses, "seed": 1000},
        max_steps=1000,
        memory={"start": _PERSON, "folder": str(folder / "people"), "new": True},
    )
    run = Run(Personalize(demonstrated), folder / "run")
    run.play(RunCallback())
    return config.with_changes(memory={"start": _PERSON, "folder": str(run.folder / "memory"), "learn": "never"})
