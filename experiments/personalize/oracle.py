"""How tidy a house gets when the robot knows what people want: what body, map and step limit leave possible.

    python -m housewise.experiments.personalize.oracle [--data HOUSEKEEP] [--houses 100] [--quick] \\
        [--json FILE] [--workers 2]
    python -m housewise.experiments.personalize.oracle --data HOUSEKEEP --houses 0 --scene Pomaria_0_int --sample 50

The scripted planner plays the tasks behind LLM-Personalize's tables, where there is data, and generated houses; or of
any scenes a sample of their episodes. It does whatever is nearest. Of every episode below 100 % the table says what was
left, and why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.progress import track

from housewise.core.console import Console
from housewise.core.errors import UserError
from housewise.core.files import check_writable_file, write_json
from housewise.core.processes import process_pool
from housewise.core.provenance import provenance
from housewise.core.record import Result
from housewise.core.tables import table
from housewise.experiments.quick import say_left_out
from housewise.rollout.run import Run
from housewise.rollout.scores import summarize
from housewise.systems.personalize.record import HouseRecord, read_house_records
from housewise.systems.personalize.settings import PersonalizeSettings, house_settings
from housewise.systems.personalize.system import Personalize
from housewise.systems.personalize.tasks import HouseTask, list_tasks
from housewise.terminal.option_values import simulator_choice
from housewise.terminal.options import GpuOption, SimulatorOption
from housewise.worlds.house.simulator import RAYCAST, SimulatorChoice

SCENES = ("Merom_1_int", "Pomaria_2_int")
GENERATED = "generated"

LEFT = "left where it was"
"""Said of a thing that the robot knew of and never tried to move."""

_QUICK_HOUSES = 10


@dataclass(frozen=True)
class Played:
    """One episode.

    Attributes:
        group: its scene, or ``"generated"``.
        name: of its record.
        result: how it ended.
        left: why each object that is not where people want it is not, by its name.
    """

    group: str
    name: str
    result: Result
    left: dict[str, str]


def episodes(
    data: Path | None,
    houses: int,
    quick: bool,
    simulator: SimulatorChoice = RAYCAST,
    scenes: Sequence[str] = SCENES,
    sample: int | None = None,
) -> Iterator[tuple[str, PersonalizeSettings]]:
    """The group and the settings of every episode to play.

    Args:
        data: the Housekeep folder; None leaves its scenes out.
        houses: how many generated houses.
        quick: of the data only the test tasks, and few houses.
        simulator: which, and where it renders.
        scenes: of the data.
        sample: how many episodes of each scene, evenly spread over them; the tasks of the tables by default.
    """
    scripted = {"planner": "scripted", "simulator": simulator.name, "gpu": simulator.gpu}
    task_sets = (None,) if sample else ("test",) if quick else ("test", "train")
    for scene in scenes if data else ():
        for task_set in task_sets:
            wanted = {"data": str(data), "scenes": [scene], "episodes": task_set, **scripted}
            config = house_settings(settings=wanted)
            for task in _spread(list_tasks(config.tasks), sample):
                yield scene, config.with_changes(episodes=[task.episode])
    for house in range(min(houses, _QUICK_HOUSES) if quick else houses):
        yield GENERATED, house_settings(settings={**scripted, "seed": house, "houses": 1})


def _spread(tasks: Sequence[HouseTask], sample: int | None) -> list[HouseTask]:
    """So many of some tasks, evenly spread over them; None takes all."""
    few = min(sample or len(tasks), len(tasks))
    return [tasks[number * len(tasks) // few] for number in range(few)]


def play(group: str, config: PersonalizeSettings) -> Played:
    """Play the one episode that a configuration names."""
    with TemporaryDirectory() as folder:
        Run(Personalize(config), Path(folder)).play()
        record = next(read_house_records(Path(folder) / "episodes"))
    return Played(group, record.name, record.result, left_over(record))


def left_over(record: HouseRecord) -> dict[str, str]:
    """Why each object that did not end up where people want it did not, by its name."""
    correct = record.initial_state.correct
    return {name: _why(record, name) for name, place in record.final.placements.items() if place not in correct[name]}


def _why(record: HouseRecord, name: str) -> str:
    problems = [action.reason for action in record.actions if action.target == name and action.status == "failed"]
    if name not in record.known_things:
        return "undiscovered"
    if "no free space" in problems:
        return "no space"
    if record.result.end_reason == "out of steps" and not _has_dismissed(record, name):
        return "no steps left"
    return problems[-1] if problems else LEFT


def _has_dismissed(record: HouseRecord, name: str) -> bool:
    """Whether the planner took the task as done while it knew of an object."""
    return any(name in plan.known_things for plan in record.plans if plan.second_look)


def figures(played: Sequence[Played]) -> dict[str, Any]:
    """Success rates in percent by group, what goes with them, and the episodes that are not perfect."""
    groups = {group: [one.result for one in played if one.group == group] for group in _groups(played)}
    summaries = {group: in_percent(summarize(results, Personalize.scores)) for group, results in groups.items()}
    return {
        "success_rate": {group: row["success_rate"] for group, row in summaries.items()},
        "success_rate_stderr": {group: row["success_rate_stderr"] for group, row in summaries.items()},
        "by_group": summaries,
        "left": {group: _reasons(one.left for one in played if one.group == group) for group in groups},
        "imperfect": [
            {
                "episode": one.name,
                "success_rate": 100 * one.result.scores["success_rate"],
                "ended": one.result.end_reason,
                "steps": round(one.result.scores["steps"]),
                "left": one.left,
            }
            for one in played
            if one.result.scores["success_rate"] < 1
        ],
    }


def in_percent(row: Mapping[str, Any]) -> dict[str, Any]:
    """A summary with its success in percent, as the files of experiments have it."""
    return {**row, **{key: 100 * row[key] for key in ("success_rate", "success_rate_stderr") if key in row}}


def _reasons(left: Iterable[dict[str, str]]) -> dict[str, int]:
    """How many objects were left for each reason, the most common first."""
    return dict(Counter(why for one in left for why in one.values()).most_common())


def _groups(played: Sequence[Played]) -> list[str]:
    return list(dict.fromkeys(one.group for one in played))


def main(
    data: Annotated[
        Path | None,
        typer.Option(envvar="HOUSEKEEP_DATA", help="Housekeep folder; without it only generated houses are played."),
    ] = None,
    houses: Annotated[int, typer.Option(min=0, help="How many generated houses, from seed 0 on.")] = 100,
    quick: Annotated[
        bool, typer.Option(help=f"Five tasks instead of 25 for each scene, {_QUICK_HOUSES} houses.")
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Write the figures there.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    simulator: SimulatorOption = None,
    gpu: GpuOption = None,
    scenes: Annotated[
        list[str] | None, typer.Option("--scene", help="Scene of the data; give it again for more.")
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="So many episodes of each scene, spread over all, instead of the tables' tasks."),
    ] = None,
) -> None:
    """Let the scripted planner, which knows what people want, tidy houses.

    Examples:

      python -m housewise.experiments.personalize.oracle --quick

      python -m housewise.experiments.personalize.oracle --data ~/housekeep --workers 8 --json oracle.json

      python -m housewise.experiments.personalize.oracle --data ~/housekeep --houses 0 --scene Pomaria_0_int --sample 50
    """
    console, made = Console(), provenance()
    chosen = simulator_choice(simulator, gpu)
    say_left_out(quick, f"of the data's tasks the tests alone, and at most {_QUICK_HOUSES} generated houses")
    planned = list(episodes(data, houses, quick, chosen, scenes or SCENES, sample))
    if not planned:
        raise UserError("no episode to play; give --houses a number above 0, or name the Housekeep folder with --data")
    groups, configs = zip(*planned, strict=True)
    with process_pool(workers) as pool:
        coming = pool.map(play, groups, configs)
        played = list(track(coming, "episodes", total=len(groups), console=console, transient=True))
    content = figures(played)
    _show(console, content)
    if json_file is not None:
        settings = configs[-1].model_dump(exclude={"data", "scenes", "episodes", "seed"})
        seeds = {"seed": 0, "houses": groups.count(GENERATED), "quick": quick}
        seeds |= {"sample": sample} if sample else {}
        setup = {"config": settings, **made}
        write_json(json_file, {**content, **seeds, **setup})


def _show(console: Console, content: dict[str, Any]) -> None:
    rows = [
        (
            one["episode"],
            f"{one['success_rate']:.0f}",
            f"{one['ended']} ({one['steps']} steps)",
            ", ".join(f"{count} {why}" for why, count in Counter(one["left"].values()).most_common()),
        )
        for one in content["imperfect"]
    ]
    if rows:
        console.print(table("episodes below 100 %", ("episode", "success %", "ended", "objects left"), rows))
    groups = [
        (
            group,
            str(row["episodes"]),
            f"{row['success_rate']:.1f}",
            f"{row['success_rate_stderr']:.1f}",
            f"{row['steps']:.0f}",
            f"{row['plans']:.0f}",
        )
        for group, row in content["by_group"].items()
    ]
    console.print(table("full knowledge", ("scene", "episodes", "success %", "± s.e.", "steps", "plans"), groups))
    for group, left in content["left"].items():
        reasons = ", ".join(f"{count} {why}" for why, count in left.items()) or "nothing"
        console.print(f"left in {group}: {reasons}", soft_wrap=True)
    rates = "  ".join(f"{group} {rate:.2f}" for group, rate in content["success_rate"].items())
    console.print(f"success_rate {rates}", soft_wrap=True)


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
