"""``housewise demo``: the local model, trained and untrained, and the scripted planner tidy the same house."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

from housewise.core.tables import Fitted, table
from housewise.language.adapters import PERSONALIZE, packaged_adapters
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize

# The untrained model seldom says anything that can be done; there is no need to ask it 150 times.
_UNTRAINED = {"most_plans": 6, "most_idle_plans": 3, "sampling": {"temperature": 0.3, "max_tokens": 90}}
_TRAINED = {"most_plans": 40, "most_idle_plans": 4}


def planners() -> dict[str, dict[str, Any]]:
    """Settings of each planner that the demo shows, by the name that its table gives it."""
    trained = {f"trained ({name})": {"adapter": name, **_TRAINED} for name in packaged_adapters(PERSONALIZE)}
    return {"scripted": {"planner": "scripted"}, **trained, "untrained": _UNTRAINED}


def run_demo(out: Path, houses: int, seed: int, console: Console) -> Path:
    """Play all planners on generated houses and write a report of them.

    Args:
        out: folder for the runs and the report.
        houses: how many houses.
        seed: of the first house.
        console: where progress goes.

    Returns:
        The report's path.
    """
    from housewise.report import write_report
    from housewise.terminal import play

    common = {"houses": houses, "seed": seed}
    figures: dict[str, Any] = {}
    for name, settings in planners().items():
        console.rule(name)
        figures[name] = play(
            Personalize(house_settings(settings={**common, **settings})), out / name.split()[0], console
        )
    with console.status("making the report and the films"):
        path = write_report(out)
    console.print(_comparison(figures))
    console.print(
        "The model is SmolLM2-135M: untrained as it comes, trained in other houses. The "
        "scripted planner knows what people want, and shows what is possible."
    )
    console.print(f"report: {path}", soft_wrap=True)
    return path


def _comparison(figures: dict[str, Any]) -> Fitted:
    columns = ("planner", "success %", "executable %", "plans", "steps", "seconds")
    rows = []
    for name, figure in figures.items():
        row = figure["overall"]
        shares = (100 * row["success_rate"], 100 * row["executability"], row["plans"], row["steps"], row["seconds"])
        rows.append((name, *(f"{share:.0f}" for share in shares)))
    return table("the same houses", columns, rows)
