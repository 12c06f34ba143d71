"""Measures how many episodes a minute come of playing several at a time, with the local model on this machine.

Run ``python -m housewise.experiments.bench.rollout_speed``. Every row plays the same episodes with the same seeds.
Replies are drawn in other company and may differ in a few words, and episodes then in length, which is why tokens and
steps are told, too. With ``--remembering`` the last row's episodes are played once more, by notes of ten
demonstrations.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from housewise.core.console import Console
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.core.tables import table
from housewise.experiments.quick import say_left_out
from housewise.rollout.executor import RunCallback
from housewise.rollout.run import Run
from housewise.rollout.system import Job
from housewise.systems.personalize.record import read_house_records
from housewise.systems.personalize.settings import PersonalizeSettings, house_settings
from housewise.systems.personalize.system import Personalize

PARALLEL = (1, 4, 8, 16)
# The beginnings of episodes measure the same mixture of planning and walking as whole ones.
_FULL = {"houses": 16, "max_plans": 3, "max_steps": 200, "sampling": {"max_tokens": 96}}
_QUICK = {"houses": 4, "max_plans": 2, "max_steps": 100, "sampling": {"max_tokens": 32}}
_QUICK_PARALLEL = (1, 4)
_SHOWN = 1000


class Clock(RunCallback):
    """Notes when the first episode begins: by then the model has been loaded."""

    def __init__(self) -> None:
        self.began_at: float | None = None

    def on_episode_start(self, job: Job) -> None:
        """See Watcher.began."""
        self.began_at = self.began_at or time.perf_counter()

    @property
    def seconds(self) -> float:
        """Since then."""
        return time.perf_counter() - (self.began_at or time.perf_counter())


def measure(config: PersonalizeSettings, parallel: int, folder: Path) -> dict[str, float]:
    """Play a run, so many episodes at a time.

    Args:
        config: of the run.
        parallel: episodes at a time.
        folder: of the run; nothing may be there yet.

    Returns:
        Episodes and low-level steps a minute, reply tokens a second, and the seconds that it took, loading excepted.
    """
    clock = Clock()
    Run(Personalize(config.with_changes(workers=parallel)), folder).play(clock)
    seconds = clock.seconds
    results = [record.result for record in read_house_records(folder / "episodes")]
    return {
        "parallel": parallel,
        "episodes": len(results),
        "episodes_per_minute": 60 * len(results) / seconds,
        "steps_per_minute": 60 * sum(result.scores["steps"] for result in results) / seconds,
        "tokens_per_second": sum(result.usage.completion_tokens for result in results) / seconds,
        "seconds": seconds,
    }


def remembering(config: PersonalizeSettings, houses: int, folder: Path) -> PersonalizeSettings:
    """The same run with a memory of demonstrations in other houses.

    Args:
        config: of the run.
        houses: one demonstration in each.
        folder: for the demonstrations and the memory; nothing may be there yet.
    """
    begun = {"start": Path(config.tasks.person).stem, "folder": str(folder / "people"), "new": True}
    shown = config.with_changes(
        planner="demonstrator", tasks={"houses": houses, "seed": _SHOWN}, max_steps=1000, memory=begun
    )
    Run(Personalize(shown), folder / "shown").play(RunCallback())
    left = {"start": begun["start"], "folder": str(folder / "shown" / "memory"), "learn": "never"}
    return config.with_changes(memory=left)


def main(
    model: Annotated[str, typer.Option(help="local, or local:<folder or Hugging Face name>.")] = "local",
    adapter: Annotated[str | None, typer.Option(help="A PEFT adapter, by name or folder.")] = None,
    seed: Annotated[int, typer.Option(help="Of the first house.")] = 0,
    with_notes: Annotated[
        bool, typer.Option("--remembering", help="Also with a memory of ten demonstrations, most at a time.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help=f"{_QUICK['houses']} short episodes, {_QUICK_PARALLEL} at a time.")
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Write the figures there.")
    ] = None,
) -> None:
    """Measure episodes a minute at 1, 4, 8 and 16 episodes at a time, and as a ratio to one.

    Examples:

      python -m housewise.experiments.bench.rollout_speed --quick

      python -m housewise.experiments.bench.rollout_speed --adapter tidy --remembering --json rollout_speed.json
    """
    console, made = Console(), provenance()
    chosen: dict[str, Any] = {"model": model, "adapter": adapter, "seed": seed}
    say_left_out(quick, f"{_QUICK['houses']} short episodes")
    config = house_settings(settings={**chosen, **(_QUICK if quick else _FULL)})
    rows = []
    with TemporaryDirectory() as folder:
        for parallel in _QUICK_PARALLEL if quick else PARALLEL:
            with console.status(f"{parallel} at a time"):
                rows.append(measure(config, parallel, Path(folder) / str(parallel)))
        if with_notes:
            with console.status("the same with notes"):
                noted = remembering(config, 10, Path(folder))
                rows.append({**measure(noted, int(rows[-1]["parallel"]), Path(folder) / "noted"), "remembering": True})
            rows[-1]["ratio_to_nothing_remembered"] = rows[-1]["episodes_per_minute"] / rows[-2]["episodes_per_minute"]
    for row in rows:
        row["ratio"] = row["episodes_per_minute"] / rows[0]["episodes_per_minute"]
    console.print(
        table(
            f"{config.tasks.houses} episodes with {model}",
            ("at a time", "episodes/min", "times one", "steps/min", "tokens/s"),
            [
                (
                    f"{row['parallel']:.0f}" + (", with notes" if row.get("remembering") else ""),
                    f"{row['episodes_per_minute']:.2f}",
                    f"{row['ratio']:.2f}",
                    f"{row['steps_per_minute']:.0f}",
                    f"{row['tokens_per_second']:.0f}",
                )
                for row in rows
            ],
        )
    )
    if json_file is not None:
        content = {"rows": rows, "config": config.model_dump(), "seed": seed}
        write_json(json_file, {**content, **made})


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
