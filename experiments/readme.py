"""Fills the figures of README and docs from the files in ``results``, and finds those that say something else.

Run ``python -m housewise.experiments.readme`` in the project's folder; with ``--check`` nothing is written.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from housewise.core.console import Console, print_note
from housewise.core.errors import UserError
from housewise.core.exit_codes import run_cli
from housewise.core.files import write_text
from housewise.core.formatting import plural
from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.lab_tables import LAB_TABLES
from housewise.experiments.documents.marks import fill_marks
from housewise.experiments.documents.model_memory import MEMORY_TABLES
from housewise.experiments.documents.results_page import RESULTS_TABLES
from housewise.experiments.documents.settings import SETTINGS_TABLES
from housewise.experiments.tables import describe_change


def documents(root: Path) -> list[Path]:
    """README and docs of a project.

    Raises:
        UserError: it has none.
    """
    readme = root / "README.md"
    if not readme.is_file() or not (root / "results").is_dir():
        raise UserError(f"{root}: no README.md with results beside it; name the project's folder with --root")
    return [readme, *sorted((root / "docs").glob("*.md"))]


def main(
    root: Annotated[Path, typer.Option(help="The project's folder.")] = Path(),
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 where a figure differs.")] = False,
) -> None:
    """Fill in the figures of README.md and docs/*.md from results/, and the tables of settings and of memory.

    Examples:

      python -m housewise.experiments.readme --check
    """
    console = Console(soft_wrap=True, highlight=False)
    files, wrong = FigureFiles(root / "results"), 0
    for name, table in files.read_all().items():
        for adapter in table.header.changed_adapters:
            print_note(f"results/{name}: {describe_change(adapter)}")
    tables = RESULTS_TABLES | SETTINGS_TABLES | MEMORY_TABLES | LAB_TABLES
    for path in documents(root):
        name = path.relative_to(root).as_posix()
        text, differences = fill_marks(path.read_text(encoding="utf-8"), name, files, tables)
        wrong += len(differences)
        if check:
            for each in differences:
                console.print(f"{name}: {each}")
        elif differences:
            write_text(path, text)
            console.print(f"{name}: {plural(len(differences), 'line')} changed")
    if check:
        raise typer.Exit(1 if wrong else 0)


if __name__ == "__main__":
    run_cli(lambda: typer.run(main))
