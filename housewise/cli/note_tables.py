"""``housewise memory`` on the terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from housewise.core.errors import UserError
from housewise.core.plurals import plural
from housewise.people.memory import About, Kind, Memory, MemoryFolder, Note, RecalledNote
from housewise.people.memory.import_export import ImportResult


def show_people(folder: MemoryFolder, console: Console) -> None:
    """Print of whom something is remembered, then in a line each which memories cannot be read.

    Raises:
        UserError: when there is one memory alone, which cannot be read.
    """
    names = folder.folder_names()
    if not names:
        console.print(f"no memories in {folder.root}; `housewise memory add` begins one", soft_wrap=True)
        return
    grid = _grid(2)
    damaged = []
    for name in names:
        try:
            grid.add_row(Text(name, "cyan"), Text(plural(len(folder.load(name)), "note")))
        except UserError as error:
            if len(names) == 1:
                raise
            damaged.append(f"left out: {error}")
    if grid.rows:
        console.print(grid)
    for line in damaged:
        console.print(line, soft_wrap=True, highlight=False)


def show_all(memory: Memory, kinds: Collection[Kind] | None, most: int | None, console: Console) -> None:
    """Print notes, the oldest first, each with what newer ones make of it.

    Args:
        memory: of a person.
        kinds: of notes; None for all.
        most: how many, the latest; None for all.
        console: where it goes.
    """
    remarks = {}
    for each in memory.recall(About(), len(memory), kinds):
        remarks[each.note.id] = _remark(each)
        remarks |= {note.id: f"overruled by {each.note.original_id}" for note in each.contradicted}
    notes = [note for note in memory.notes if kinds is None or note.kind in kinds]
    grid = _grid(5)
    for note in notes[-most:] if most else notes:
        remark = remarks.get(note.id, "")
        _row(grid, note, remark, "dim" if remark.startswith("overruled") else "")
    if notes:
        console.print(grid)
    _summary(memory, console)


def show_recalled(memory: Memory, found: Sequence[RecalledNote], console: Console) -> None:
    """Print what is recalled, and below each what it overrules.

    Args:
        memory: that it was recalled from.
        found: in order.
        console: where it goes.
    """
    grid = _grid(5)
    for each in found:
        _row(grid, each.note, _remark(each))
        for note in each.contradicted:
            _row(grid, note, f"overruled by {each.note.original_id}", "dim")
    console.print(grid if found else "nothing is recalled")
    _summary(memory, console)


def show_notes(heading: str, notes: Iterable[Note], console: Console) -> None:
    """Print some notes under a heading."""
    rows = list(notes)
    console.print(f"{heading}:" if rows else f"{heading}: nothing")
    grid = _grid(5)
    for note in rows:
        _row(grid, note, "")
    if rows:
        console.print(grid)


def show_imported(found: ImportResult, console: Console) -> None:
    """Print what has come of an import."""
    console.print(
        f"{plural(len(found.added), 'note')} added, {len(found.edited)} corrected, {found.known} known already, "
        f"{len(found.dropped)} forgotten as the file says",
        soft_wrap=True,
    )
    if found.forgotten:
        console.print(
            f"{found.forgotten} had been forgotten and stay so; to tell one anew, write it without its id and time",
            soft_wrap=True,
        )


def _summary(memory: Memory, console: Console) -> None:
    console.print(f"{plural(len(memory), 'note')} of {memory.person}, digest {memory.digest}", soft_wrap=True)


def _grid(columns: int) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for column in range(columns):
        grid.add_column(no_wrap=column < 3 and columns > 2, overflow="fold")
    return grid


def _row(grid: Table, note: Note, remark: str, style: str = "") -> None:
    value = "" if note.value is None else f"{note.value:g}" if isinstance(note.value, float) else note.value
    about = Text(note.about.phrase, style)
    said = Text(note.text, style)
    said.append(f"{' ' if note.text else ''}({remark})" if remark else "", "dim")
    grid.add_row(Text(note.original_id, "cyan"), Text(note.kind, style), Text(value[:20], style), about, said)


def _remark(recalled: RecalledNote) -> str:
    """How sure it is."""
    words = []
    if recalled.count > 1 or recalled.contradicted:
        words.append(f"{plural(recalled.count, 'note')} for it")
    if recalled.contradicted:
        words.append(f"{len(recalled.contradicted)} against it")
    if recalled.similarity < 1:
        words.append(f"by meaning, {recalled.similarity:.2f}")
    return ", ".join(words)
