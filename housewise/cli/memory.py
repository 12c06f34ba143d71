"""``housewise memory``: look at what is remembered of people, correct it, forget it, take it along."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from housewise.core.console import Console
from housewise.core.errors import UserError, suggest_names

if TYPE_CHECKING:
    from housewise.people.memory import About, Memory, MemoryFolder

_KINDS = ("reaction", "rule", "answer", "goal")
_STYLES = ("yaml", "jsonl")


def _known_people(incomplete: str) -> list[str]:
    from housewise.people.memory import MemoryFolder

    return [name for name in MemoryFolder.default().people() if name.startswith(incomplete)]


PersonArgument = Annotated[str, typer.Argument(metavar="PERSON", help="Whose.", autocompletion=_known_people)]
MemoriesOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Where memories are; ~/.local/share/housewise/memory by default.",
        envvar="HOUSEWISE_MEMORY",
    ),
]
KindOption = Annotated[
    str | None, typer.Option(metavar="NAME", help=f"{', '.join(_KINDS[:-1])} or {_KINDS[-1]}.", show_default=False)
]
TextOption = Annotated[str | None, typer.Option(metavar="WORDS", help="What it says.")]
ValueOption = Annotated[
    str | None, typer.Option(metavar="NUMBER|WORDS", help="What it comes to: 1 for good, -1 for bad, or an answer.")
]
ThingOption = Annotated[
    list[str] | None, typer.Option(metavar="KIND", help="Kind of thing; may be given several times.")
]
RoomOption = Annotated[str | None, typer.Option(metavar="KIND", help="Kind of room.")]
ReceptacleOption = Annotated[str | None, typer.Option(metavar="KIND", help="Kind of place for things.")]
TaskOption = Annotated[str | None, typer.Option(metavar="NAME", help="What was to be done.")]
SituationOption = Annotated[str | None, typer.Option(metavar="WORDS", help="When it holds.")]


def show(
    person: Annotated[
        str | None,
        typer.Argument(help="Whose; says of whom there is a memory by default.", autocompletion=_known_people),
    ] = None,
    thing: ThingOption = None,
    room: RoomOption = None,
    receptacle: ReceptacleOption = None,
    task: TaskOption = None,
    situation: SituationOption = None,
    kind: KindOption = None,
    meaning: Annotated[bool, typer.Option("--meaning", help="Look for what is close in meaning as well.")] = False,
    most: Annotated[int | None, typer.Option(min=1, help="How many are shown at most.")] = None,
    memories: MemoriesOption = None,
) -> None:
    """Show what is remembered: all of it, or what is recalled about something, the most to the point first.

    What newer notes about the same contradict is marked as overruled.

    Examples:

      housewise memory show

      housewise memory show ada

      housewise memory show ada --thing mug --receptacle sink

      housewise memory show ada --thing teacup --meaning
    """
    from housewise.cli.note_tables import show_all, show_people, show_recalled

    folder = _folder(memories)
    if person is None:
        show_people(folder, Console())
        return
    about = _about(thing, room, receptacle, task, situation)
    embedder = None
    if meaning and not about:
        raise UserError("--meaning compares with something; say with what, as in --thing teacup")
    if meaning:
        from housewise.language.embedder import MiniLM

        embedder = MiniLM()
    memory = folder.load(person)
    if about:
        found = memory.recall(about, most or len(memory), kinds=_kinds(kind), embedder=embedder)
        show_recalled(memory, found, Console())
    else:
        show_all(memory, _kinds(kind), most, Console())


def add(
    person: PersonArgument,
    text: Annotated[str, typer.Argument(metavar="WORDS", help="What it says.")] = "",
    kind: Annotated[str, typer.Option(metavar="NAME", help="reaction, rule, answer or goal.")] = "rule",
    value: ValueOption = None,
    thing: ThingOption = None,
    room: RoomOption = None,
    receptacle: ReceptacleOption = None,
    task: TaskOption = None,
    situation: SituationOption = None,
    memories: MemoriesOption = None,
) -> None:
    """Tell something about a person; a memory begins with the first note.

    Examples:

      housewise memory add ada "no shoes in here" --thing shoe --room kitchen

      housewise memory add ada --kind reaction --value -1 --thing mug
    """
    from housewise.cli.note_tables import show_notes
    from housewise.people.memory.note import parse_note

    about = _about(thing, room, receptacle, task, situation)
    fields = {"person": person, "kind": _kind(kind), "text": text, "about": about, "value": _value(value)}
    with _folder(memories).edit_memory(person, new=True) as memory:
        note = memory.add(parse_note(fields, "the note"))
    show_notes("remembered", [note], Console())


def edit(
    person: PersonArgument,
    id: Annotated[str, typer.Argument(metavar="ID", help="Of the note, or how it begins.")],
    text: TextOption = None,
    value: ValueOption = None,
    kind: KindOption = None,
    thing: ThingOption = None,
    room: RoomOption = None,
    receptacle: ReceptacleOption = None,
    task: TaskOption = None,
    situation: SituationOption = None,
    memories: MemoriesOption = None,
) -> None:
    """Correct a note; from then on it counts before all others. An empty word takes something out.

    What was concluded from the note as it was is forgotten.

    Examples:

      housewise memory edit ada 9c1b04 --value -1

      housewise memory edit ada 9c1b04 --room "" --thing mug --thing cup
    """
    from housewise.cli.note_tables import show_notes

    about = {"room": room, "receptacle": receptacle, "task": task, "situation": situation}
    changed: dict[str, Any] = {field: words for field, words in about.items() if words is not None}
    if thing is not None:
        changed["things"] = [each for each in thing if each.strip()]
    fields: dict[str, Any] = {"text": text, "kind": _kind(kind) if kind is not None else None}
    fields = {field: words for field, words in fields.items() if words is not None}
    if value is not None:
        fields["value"] = _value(value)
    if not changed and not fields:
        raise UserError(f"nothing to change of note {id}; say what, as in --value -1 or --text WORDS")
    with _folder(memories).edit_memory(person) as memory:
        before = memory.copy()
        about_now = {**memory[id].about.model_dump(), **changed}
        note = memory.edit(id, **fields, **({"about": about_now} if changed else {}))
    show_notes("corrected", [note], Console())
    gone = [each for each in before.notes if each.id not in memory and each.id != before[id].id]
    if gone:
        show_notes("forgotten, as concluded from what it was", gone, Console())


def forget(
    person: PersonArgument,
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID...", help="Of notes, or how they begin.")] = None,
    thing: ThingOption = None,
    room: RoomOption = None,
    receptacle: ReceptacleOption = None,
    task: TaskOption = None,
    situation: SituationOption = None,
    everything: Annotated[bool, typer.Option("--everything", help="All that is remembered.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    memories: MemoriesOption = None,
) -> None:
    """Forget notes, or all that say something about something, with what was concluded from them.

    They are gone from the memory, and do not come back from a run that is under way. Records of runs, and the copies of
    memories beside them, keep what they have: delete those folders too.

    Examples:

      housewise memory forget ada 9c1b04

      housewise memory forget ada --thing mug

      housewise memory forget ada --everything
    """
    from housewise.cli.note_tables import show_notes

    about = _about(thing, room, receptacle, task, situation)
    if sum([bool(ids), bool(about), everything]) != 1:
        raise UserError("say what to forget: ids of notes, or --thing and the like, or --everything; one of these")
    what: Sequence[str | About] = ids or [about]
    folder = _folder(memories)
    if not ids and not yes:
        _ask(_forgotten(folder.load(person), what), person)
    with folder.edit_memory(person) as memory:
        gone = _forgotten(memory, what)
    show_notes("forgotten", gone, Console())


def export(
    person: PersonArgument,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Where it goes; shown by default.")] = None,
    style: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="yaml, for people, or jsonl, for programs; by FILE's ending."),
    ] = None,
    memories: MemoriesOption = None,
) -> None:
    """Write a memory as YAML, to read and to change, or as JSON lines, a note a line.

    Examples:

      housewise memory export ada --out ada.yaml

      housewise memory export ada --format jsonl
    """
    from housewise.core.files import write_text
    from housewise.people.memory.import_export import find_format, to_jsonl, to_yaml

    if style is not None and style not in _STYLES:
        raise UserError(f"no format {style}; {suggest_names(style, _STYLES)}")
    style = style or (find_format(out) if out else None) or "yaml"
    memory = _folder(memories).load(person)
    text = to_yaml(memory) if style == "yaml" else to_jsonl(memory, forgotten=False)
    if out is None:
        # As it is, whatever the terminal's encoding.
        sys.stdout.buffer.write(text.encode("utf-8"))
    elif out.exists():
        raise UserError(f"{out}: is there already, and may have been corrected; name another file")
    else:
        write_text(out, text)
        Console().print(f"{len(memory)} notes: {out}", soft_wrap=True, highlight=False)


def import_(
    person: PersonArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="As export writes it, or another memory's notes.jsonl.")],
    memories: MemoriesOption = None,
) -> None:
    """Add the notes of a file; those that were changed in it replace what is remembered.

    Nothing that the file leaves out is forgotten, and nothing comes back that was.

    Examples:

      housewise memory import ada ada.yaml
    """
    from housewise.cli.note_tables import show_imported
    from housewise.people.memory.import_export import read_memory_file, import_notes

    written = read_memory_file(file)
    try:
        with _folder(memories).edit_memory(person, new=True) as memory:
            found = import_notes(memory, written)
    except UserError as error:
        raise UserError(f"{file}: {error}") from error
    show_imported(found, Console())


COMMANDS: dict[str, Callable[..., None]] = {
    "show": show,
    "add": add,
    "edit": edit,
    "forget": forget,
    "export": export,
    "import": import_,
}


def _folder(named: Path | None) -> MemoryFolder:
    from housewise.people.memory import MemoryFolder

    return MemoryFolder.default(named)


def _about(
    things: list[str] | None, room: str | None, receptacle: str | None, task: str | None, situation: str | None
) -> About:
    from housewise.people.memory.note import parse_about

    fields = {"things": things or (), "room": room, "receptacle": receptacle, "task": task, "situation": situation}
    return parse_about(fields, "what it is about")


def _kind(name: str) -> Any:
    if name not in _KINDS:
        raise UserError(f"no kind of notes is called {name}; {suggest_names(name, _KINDS)}")
    return name


def _kinds(name: str | None) -> list[Any] | None:
    return None if name is None else [_kind(name)]


def _value(words: str | None) -> float | str | None:
    """A number where it is one."""
    if words is None:
        return None
    try:
        return float(words)
    except ValueError:
        return words


def _forgotten(memory: Memory, what: Sequence[str | About]) -> list[Any]:
    """What a memory forgets; what was concluded from an earlier one is gone when its turn comes."""
    chosen = [memory[each].id if isinstance(each, str) else each for each in what]
    return [note for each in chosen if not isinstance(each, str) or each in memory for note in memory.forget(each)]


def _ask(notes: Sequence[Any], person: str) -> None:
    from housewise.cli.note_tables import show_notes

    if not notes:
        return
    if not sys.stdin.isatty():
        raise UserError(f"{len(notes)} notes of {person} would be forgotten; add --yes if they are to be")
    show_notes("to be forgotten", notes, Console())
    typer.confirm("Forget them?", abort=True)
