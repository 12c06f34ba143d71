"""Tables of the notes in a memory, and of the rules among them, on the terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from housewise.core.console import print_lines
from housewise.core.errors import UserError
from housewise.core.formatting import plural
from housewise.core.printable_text import excerpt

if TYPE_CHECKING:
    from housewise.people.memory import Kind, Memory, MemoryFolder, Note, RecalledNote
    from housewise.people.memory.import_export import ImportResult

_MAX_VALUE = 20
"""Characters of a value that are shown."""


def print_people(folder: MemoryFolder, console: Console) -> None:
    """Print the people that have a memory, then one line for each memory that cannot be read.

    Raises:
        UserError: The only memory cannot be read.
    """
    names = folder.folder_names()
    if not names:
        print_lines(console, f"no memories in {folder.root}; `housewise memory add` creates one")
        return
    grid, damaged = _new_grid(2), []
    for name in names:
        try:
            grid.add_row(Text(name, "cyan"), Text(plural(len(folder.load(name)), "note")))
        except UserError as error:
            if len(names) == 1:
                raise
            damaged.append(f"left out: {error}")
    if grid.rows:
        console.print(grid)
    print_lines(console, *damaged)


def print_whole_memory(memory: Memory, kinds: Collection[Kind] | None, limit: int | None, console: Console) -> None:
    """Print notes, the oldest first, each with the newer notes that support or contradict it.

    Args:
        memory: Memory of a person.
        kinds: Kinds of the printed notes, or None for all.
        limit: Number of printed notes, the latest ones, or None for all.
        console: Where they are printed.
    """
    from housewise.people.memory import About

    remarks = {}
    for each in memory.recall(About(), len(memory), kinds):
        remarks[each.note.id] = _describe_evidence(each)
        remarks |= {note.id: f"overruled by {each.note.original_id}" for note in each.contradicted}
    notes = [note for note in memory.notes if kinds is None or note.kind in kinds]
    grid = _new_grid(5)
    for note in notes[-limit:] if limit else notes:
        remark = remarks.get(note.id, "")
        _add_note(grid, note, remark, "dim" if remark.startswith("overruled") else "")
    if notes:
        console.print(grid)
    _print_digest(memory, console)


def print_recalled(memory: Memory, recalled: Sequence[RecalledNote], console: Console) -> None:
    """Print recalled notes, and below each the notes that it overrules.

    Args:
        memory: Memory that they were recalled from.
        recalled: The notes, the most relevant first.
        console: Where they are printed.
    """
    grid = _new_grid(5)
    for each in recalled:
        _add_note(grid, each.note, _describe_evidence(each))
        for note in each.contradicted:
            _add_note(grid, note, f"overruled by {each.note.original_id}", "dim")
    console.print(grid if recalled else "nothing is recalled")
    _print_digest(memory, console)


def print_notes(heading: str, notes: Iterable[Note], console: Console) -> None:
    """Print notes under a heading."""
    grid = _new_grid(5)
    for note in notes:
        _add_note(grid, note)
    console.print(f"{heading}:" if grid.rows else f"{heading}: nothing")
    if grid.rows:
        console.print(grid)


def print_import(result: ImportResult, console: Console) -> None:
    """Print how many notes an import added, corrected and skipped."""
    print_lines(
        console,
        f"{plural(len(result.added), 'note')} added, {len(result.edited)} corrected, {result.known} known already, "
        f"{len(result.dropped)} forgotten as the file says",
    )
    if result.forgotten:
        print_lines(
            console,
            f"{result.forgotten} had been forgotten and stay so; to add one again, write it without its id and time",
        )


def print_rules(memory: Memory, topic: str | None, console: Console) -> None:
    """Print the rules of a memory with their ids.

    Args:
        memory: Memory of a person.
        topic: Topic of the printed rules, or None for all.
        console: Where they are printed.
    """
    from housewise.agent.clipr.rule_editing import list_rules

    grid = _new_grid(3, no_wrap=2)
    for rule in list_rules(memory, topic):
        text = Text(rule.note.text or str(rule.note.value))
        text.append(f" ({'; '.join(rule.remarks)})" if rule.remarks else "", "dim")
        grid.add_row(Text(rule.id, "cyan"), Text(rule.topic, "dim"), text)
    console.print(grid if grid.rows else f"no rules of {memory.person}{f' about {excerpt(topic)}' if topic else ''}")


def _print_digest(memory: Memory, console: Console) -> None:
    print_lines(console, f"{plural(len(memory), 'note')} of {memory.person}, digest {memory.digest}")


def _new_grid(columns: int, no_wrap: int = 3) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for column in range(columns):
        grid.add_column(no_wrap=column < no_wrap and columns > 2, overflow="fold")
    return grid


def _add_note(grid: Table, note: Note, remark: str = "", style: str = "") -> None:
    value = "" if note.value is None else f"{note.value:g}" if isinstance(note.value, float) else note.value
    text = Text(note.text, style)
    text.append(f"{' ' if note.text else ''}({remark})" if remark else "", "dim")
    cells = (Text(note.kind, style), Text(value[:_MAX_VALUE], style), Text(note.about.phrase, style))
    grid.add_row(Text(note.original_id, "cyan"), *cells, text)


def _describe_evidence(recalled: RecalledNote) -> str:
    """Describe how many notes support and contradict a note, and how similar its subject is."""
    parts = []
    if recalled.count > 1 or recalled.contradicted:
        parts.append(f"{plural(recalled.count, 'note')} for it")
    if recalled.contradicted:
        parts.append(f"{len(recalled.contradicted)} against it")
    if recalled.similarity < 1:
        parts.append(f"by meaning, {recalled.similarity:.2f}")
    return ", ".join(parts)
