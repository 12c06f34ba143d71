"""Print findings: a table by topic, then the commands that fix what is missing or broken."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from housewise.doctor.findings import Finding, State

_STYLES: dict[State, str] = {"ok": "green", "missing": "yellow", "broken": "bold red"}


def print_findings(findings: Sequence[Finding], is_working: bool, console: Console) -> None:
    """Print findings.

    Args:
        findings: Findings, sorted by topic.
        is_working: Whether the embedded simulator works.
        console: Where they are printed.
    """
    console.print(_build_table(findings))
    remedies: dict[str, list[str]] = {}
    for found in findings:
        if found.remedy:
            remedies.setdefault(found.remedy, []).append(found.what)
    for remedy, whats in remedies.items():
        # Not wrapped, so that the command can be copied.
        console.print(Text(f"# {', '.join(whats)}\n{remedy}"), soft_wrap=True)
    verdict = (
        "works: housewise run --planner scripted can start"
        if is_working
        else "does not work: see core and raycast above"
    )
    console.print(f"\nThe embedded simulator {verdict}.")


def _build_table(findings: Sequence[Finding]) -> Table:
    table = Table(box=box.SIMPLE)
    table.add_column("what", overflow="fold")
    table.add_column("state", no_wrap=True)
    table.add_column("details", overflow="fold")
    for topic, group in groupby(findings, lambda found: found.topic):
        table.add_section()
        table.add_row(Text(topic, "bold"))
        for found in group:
            table.add_row(Text(found.what), Text(found.state, _STYLES[found.state]), Text(found.details))
    return table
