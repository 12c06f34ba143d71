"""ADAPT's tables 1 and 2, figures 3 and 4: satisfaction and questions of every agent by fold, seen and unseen people.

    python -m housewise.experiments.adapt.main_results --people FOLDER --json OUT [--fold 0] [--quick]

All agents that are models go on from the same warm-up, are answered by the same person, held to the same grammar and
given the same scenes. Errors are those of the mean over breakfasts, and over folds where there are several.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from housewise.core.console import Console, print_lines
from housewise.core.errors import UserError, suggest_names
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.core.settings import merge_nested
from housewise.core.tables import FittedTable, table
from housewise.core.text_files import read_json
from housewise.experiments.adapt.figures import in_words
from housewise.experiments.adapt.pictures import draw
from housewise.experiments.adapt.rows import OURS, PARAPHRASED, Rows
from housewise.experiments.adapt.study import AGENTS, PUBLISHED, AdaptStudy, StudyAgent
from housewise.experiments.quick import say_left_out
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, find_profile_files, load_profiles
from housewise.selftrain.adapt.settings import AdaptTrainingConfig, load_adapt_training
from housewise.terminal.selftrain_progress import TrainingDisplay

SHIPPED = {"warm_up": {"people": 0}, "run": {"models": {"agent": {"adapter": "breakfast"}}}}
QUICK = {
    "warm_up": {"people": 2, "each": 1},
    "own_asking": {"each": 1},
    "rollouts": {"repeats": 1},
    "run": {"tasks": {"task": [3]}, "agent": {"max_steps": 6}},
}
_SPENT = "spent.json"  # how long all commands together have worked in a folder, but for rows that were cut off


def results_table(rows: Mapping[str, Any]) -> FittedTable:
    """The table: ours, and the published figures beside."""
    columns = ("agent", "seen", "unseen", "asked", "n", "published *", "asked *")
    lines = []
    for name, row in rows.items():
        printed = PUBLISHED["rows"].get(name)
        beside = [f"{printed['unseen'][0]:.1f}", f"{printed['questions_unseen'][0]:.1f}"] if printed else ["", ""]
        rates = [in_words(row[side]["satisfaction"], 100) for side in ("seen", "unseen")]
        lines.append((name, *rates, in_words(row["unseen"]["questions"]), str(row["unseen"]["n"]), *beside))
    return table("satisfaction (%) of seen and unseen people, and questions, ± standard error", columns, lines)


def _settings(
    people: Path | None, quick: bool, model: str | None, warm_up: bool, overrides: Sequence[str]
) -> AdaptTrainingConfig:
    """Without a model of one's own, what comes along is gone on from."""
    found = people or ADAPT_PROFILES
    named = {} if people is None else {"run": {"tasks": {"people": str(people)}}}
    start = {"run": {"models": {"agent": {"model": model}}}} if model else {} if quick or warm_up else SHIPPED
    few = {"run": {"tasks": {"person": [person.name for person in load_profiles(found)[:2]]}}} if quick else {}
    settings: dict[str, Any] = reduce(merge_nested, [named, start, few, QUICK if quick else {}], {})
    return load_adapt_training(settings=settings, overrides=overrides)


def _folder(config: AdaptTrainingConfig) -> Path:
    """The same for the same settings and people."""
    chosen = config.run.tasks.people
    files = find_profile_files(chosen) if chosen else []
    told = json.dumps(config.identity, sort_keys=True, default=str).encode() + b"".join(map(Path.read_bytes, files))
    return Path("runs") / f"adapt-{hashlib.sha256(told).hexdigest()[:10]}"


def _seconds(folder: Path) -> float:
    """What earlier commands have spent in a folder."""
    try:
        return float(read_json(folder / _SPENT)["seconds"])
    except (UserError, ValueError, KeyError, TypeError):
        return 0.0


def _select_agents(study: AdaptStudy, names: Sequence[str], console: Console) -> list[StudyAgent]:
    """The agents that are to be played.

    Raises:
        UserError: when one cannot be.
    """
    for name in names:
        if name not in AGENTS:
            raise UserError(f"--agent {name}: no such agent; {suggest_names(name, AGENTS)}")
        if missing := study.missing(AGENTS[name]):
            raise UserError(f"--agent {name}: {missing}; leave it out")
    if names:
        return [AGENTS[name] for name in names]
    for agent in AGENTS.values():
        if missing := study.missing(agent):
            print_lines(console, f"{agent.name} is left out: {missing}")
    return study.agents()


def _check_folds(study: AdaptStudy, folds: Sequence[int]) -> Sequence[int]:
    for number in folds:
        if not 0 <= number < len(study.splits):
            raise UserError(f"--fold {number}: there are the folds 0 to {len(study.splits) - 1}")
    return folds


def _figures(study: AdaptStudy, rows: Rows, folds: Sequence[int], settings: AdaptTrainingConfig) -> dict[str, Any]:
    return {
        **rows.figures(),
        "reflection": study.reflections(folds),
        "oracle_reflection": study.reflections(folds, oracle=True),
        "lessons": study.lessons(folds),
        "published_on_another_scale": PUBLISHED,
        "folds": {number: {"unseen": study.splits[number].unseen} for number in folds},
        "settings": settings.model_dump(mode="json"),
    }


def main(
    people: Annotated[Path | None, typer.Option(help="File or folder of people; the sixteen of ADAPT.")] = None,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", callback=check_writable_file, help="Write the figures there, after every row."),
    ] = None,
    fold: Annotated[list[int] | None, typer.Option(help="Only this fold; several as --fold 0 --fold 1.")] = None,
    agent: Annotated[list[str] | None, typer.Option(help="Only this agent.")] = None,
    seen: Annotated[
        bool, typer.Option(help="Play for the people of the training too, or for the others alone.")
    ] = True,
    quick: Annotated[bool, typer.Option(help="Two people, one task, few steps: whether all of it works.")] = False,
    warm_up: Annotated[
        bool, typer.Option("--warm-up", help="Warm a model up, with questions and without (hours on a CPU).")
    ] = False,
    model: Annotated[
        str | None, typer.Option(help="The model that is warmed up and trained, rather than the shipped breakfast.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of everything; the same one goes on.")] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw satisfaction against questions, and figures 3 and 4, there.")
    ] = None,
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value, as in warm_up.people=20.")] = None,
) -> None:
    """Train and play every agent, by folds of people, each from the adapter that comes along (breakfast).

    Examples:

      python -m housewise.experiments.adapt.main_results --fold 0 --no-seen --json results.json

      python -m housewise.experiments.adapt.main_results --people my_people --agent "Never Ask" --agent Reflection-DPO

      python -m housewise.experiments.adapt.main_results --quick --json quick.json
    """
    console, began, made = Console(highlight=False), perf_counter(), provenance()
    say_left_out(quick, "two people, one task, one fold, few steps")
    config = _settings(people, quick, model, warm_up, overrides or ())
    study = AdaptStudy(config, out or _folder(config), TrainingDisplay(console))
    folds = _check_folds(study, fold or list(range(1 if quick else len(study.splits))))
    planned = list(product(folds, _select_agents(study, agent or (), console)))
    earlier, rows = _seconds(study.folder), Rows(study)
    for place, (number, cook) in enumerate(planned, start=1):
        spent = (earlier + perf_counter() - began) / 60
        print_lines(
            console, f"row {place} of {len(planned)}: {cook.name}, fold {number}, after {spent:.0f} minutes in all"
        )
        rows.add(cook.name, number, study.records(cook, number, seen))
        seconds = round(earlier + perf_counter() - began, 1)
        write_json(study.folder / _SPENT, {"seconds": seconds})
        left = len(planned) - place
        found = _figures(study, rows, folds, config) | {"quick": quick, "rows_left": left, "seconds": seconds}
        if json_file is not None:
            write_json(json_file, found | made)
    if figure is not None:
        draw(found["rows"], figure)
    _say(found, console)


def _say(found: Mapping[str, Any], console: Console) -> None:
    console.print(results_table(found["rows"]))
    console.print("* published, unseen people: another model, person and verifier, and so another scale")
    if compared := found["at_equal_questions"]:
        console.print(
            f"with {compared['questions']:.1f} questions: {OURS} {100 * compared['ours']:.1f} %, "
            f"its rivals {100 * compared['rivals']:.1f} % (interpolated)"
        )
    if PARAPHRASED in found["ahead_of"]:
        loss = in_words(found["ahead_of"][PARAPHRASED]["satisfaction"], 100)
        console.print(f"answered in other words, {OURS} loses {loss} points of satisfaction")


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
