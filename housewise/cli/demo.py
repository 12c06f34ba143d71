"""``housewise demo``: the local model with and without its adapter, and the scripted planner, tidy the same house."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

from housewise.cli.run_folders import shell_command
from housewise.language.adapters import BUNDLED
from housewise.systems.personalize.settings import PersonalizeSettings, house_settings
from housewise.systems.personalize.system import Personalize

SCRIPTED, TRAINED, UNTRAINED = "scripted", "trained", "untrained"


def demo_runs(houses: int, seed: int) -> dict[str, PersonalizeSettings]:
    """The settings of each run of the demo, by its folder: those of the model differ in the adapter alone.

    Args:
        houses: how many generated houses.
        seed: of the first house.
    """
    trained = house_settings(settings={"houses": houses, "seed": seed, "adapter": BUNDLED})
    return {
        SCRIPTED: house_settings(settings={"houses": houses, "seed": seed, "planner": "scripted"}),
        TRAINED: trained,
        UNTRAINED: trained.changed(adapter=None),
    }


def run_demo(out: Path, houses: int, seed: int, console: Console) -> Path:
    """Play all runs of the demo and write a report of them.

    Args:
        out: folder for the runs and the report.
        houses: how many houses.
        seed: of the first house.
        console: where progress goes.

    Returns:
        The report's path.
    """
    from housewise.cli.run_progress import play_without_table, print_lines
    from housewise.report import write_report

    figures: dict[str, dict[str, Any]] = {}
    runs = demo_runs(houses, seed)
    for number, (name, settings) in enumerate(runs.items(), start=1):
        console.rule(f"{number} of {len(runs)}: {_WORDS[name]}")
        figures[name] = play_without_table(Personalize(settings), out / name, console)["overall"]
    with console.status("making the report and the films"):
        path = write_report(out)
    print_lines(console, "", *summary_lines(figures), f"report: {path}; {shell_command('report', out)} --open shows it")
    return path


_WORDS = {
    SCRIPTED: "the scripted planner, which knows what people want",
    TRAINED: f"SmolLM2-135M with its adapter, {BUNDLED}",
    UNTRAINED: "SmolLM2-135M without an adapter, all else the same",
}


def summary_lines(figures: dict[str, dict[str, Any]]) -> list[str]:
    """What came of the demo, in two lines.

    Args:
        figures: of each run over all of its episodes, as in ``metrics.json``.
    """
    success = {name: f"{100 * row['success_rate']:.0f} %" for name, row in figures.items()}
    own = {name: f"{100 * row.get('own_choice', 0):.0f} %" for name, row in figures.items()}
    worse = any(row["success_rate"] < 0 for row in figures.values())
    return [
        f"success: scripted {success[SCRIPTED]}, the model with its adapter {success[TRAINED]}, without it "
        f"{success[UNTRAINED]}{' (below 0: more was misplaced than put right)' if worse else ''}",
        f"the two differ in the adapter alone; they chose {own[TRAINED]} and {own[UNTRAINED]} of their steps "
        "themselves, helpers for small models the others",
    ]
