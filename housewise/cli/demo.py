"""``housewise demo``: the local model with and without its adapter, and the scripted planner, in the same houses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from housewise.core.console import Console, print_lines
from housewise.terminal.options import option

if TYPE_CHECKING:
    from housewise.systems.personalize.settings import PersonalizeSettings

SCRIPTED, TRAINED, UNTRAINED = "scripted", "trained", "untrained"
_HEADINGS = {
    SCRIPTED: "the scripted planner, which knows the preferences",
    TRAINED: "SmolLM2-135M with its bundled adapter",
    UNTRAINED: "SmolLM2-135M without an adapter, otherwise the same",
}


def demo(
    out: Annotated[Path, option("FOLDER", "Folder of the runs and the report.")] = Path("runs/demo"),
    houses: Annotated[int, option("N", "Number of generated houses.")] = 1,
    seed: Annotated[int, option("N", "Seed of the first house.")] = 3,
) -> None:
    """Play a generated house with the local model and with the scripted planner, and make a report with films.

    Examples:

      housewise demo

      housewise demo --houses 3 --out runs/three-houses
    """
    from housewise.report import write_report
    from housewise.systems.personalize.system import Personalize
    from housewise.terminal.run_folders import shell_command
    from housewise.terminal.run_progress import play_run

    console = Console()
    figures: dict[str, dict[str, Any]] = {}
    runs = demo_runs(houses, seed)
    for number, (name, settings) in enumerate(runs.items(), start=1):
        console.rule(f"{number} of {len(runs)}: {_HEADINGS[name]}")
        figures[name] = play_run(Personalize(settings), out / name, console, summary=False)["overall"]
    with console.status("making the report and the films"):
        path = write_report(out)
    print_lines(console, "", *summary_lines(figures), f"report: {path}; {shell_command('report', out)} --open shows it")


def demo_runs(houses: int, seed: int) -> dict[str, PersonalizeSettings]:
    """Return the settings of each run, by its folder. Those of the model differ only in the adapter.

    Args:
        houses: Number of generated houses.
        seed: Seed of the first house.
    """
    from housewise.language.adapters import BUNDLED
    from housewise.systems.personalize.settings import house_settings

    trained = house_settings(settings={"houses": houses, "seed": seed, "adapter": BUNDLED})
    return {
        SCRIPTED: house_settings(settings={"houses": houses, "seed": seed, "planner": "scripted"}),
        TRAINED: trained,
        UNTRAINED: trained.with_changes(adapter=None),
    }


def summary_lines(figures: dict[str, dict[str, Any]]) -> list[str]:
    """Return the result of the demo in two lines.

    Args:
        figures: Figures of each run over all its episodes, as in ``metrics.json``.
    """
    success = {name: f"{100 * row['success_rate']:.0f} %" for name, row in figures.items()}
    own = {name: f"{100 * row.get('own_choice', 0):.0f} %" for name, row in figures.items()}
    worse = any(row["success_rate"] < 0 for row in figures.values())
    return [
        f"success: scripted {success[SCRIPTED]}, the model with its adapter {success[TRAINED]}, without it "
        f"{success[UNTRAINED]}{' (below 0: more things were misplaced than put right)' if worse else ''}",
        f"the two differ only in the adapter; the model chose {own[TRAINED]} and {own[UNTRAINED]} of the steps itself, "
        "helpers for small models chose the others",
    ]
