"""Show, correct, forget, export and import what is remembered of people.

Examples:

  # everybody with a memory, and the notes about one person
  housewise memory show
  housewise memory show ada

  # a robot that tidies by these notes
  housewise run --memory ada
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from housewise.cli.note_tables import print_import, print_notes, print_people, print_recalled, print_whole_memory
from housewise.cli.registration import check_options
from housewise.core.console import Console, print_lines, print_note
from housewise.core.errors import UserError, suggest_names
from housewise.core.formatting import plural
from housewise.terminal.options import MemoriesOption, MemoryOptions, YesOption, option, panel_option, person_argument

if TYPE_CHECKING:
    from housewise.people.memory import About, Memory, Note

_NOTE_KINDS = ("reaction", "rule", "answer", "goal")
_FORMATS = ("yaml", "jsonl")
_subject_option = partial(panel_option, "Subject")

KindOption = Annotated[
    str | None,
    option("NAME", "Kind of notes: reaction, rule, answer or goal. Default: all, or unchanged.", show_default=False),
]
TextOption = Annotated[str | None, option("WORDS", "Text of the note.")]
ValueOption = Annotated[str | None, option("NUMBER|WORDS", "Value of the note: 1 for good, -1 for bad, or an answer.")]


@dataclass(frozen=True)
class SubjectOptions:
    """Options that say what a note is about. Fields are named like those of the notes."""

    things: Annotated[
        list[str] | None,
        _subject_option("KIND", "Kind of thing that it is about. May be given several times.", "--thing"),
    ] = None
    room: Annotated[str | None, _subject_option("KIND", "Kind of room that it is about.")] = None
    receptacle: Annotated[str | None, _subject_option("KIND", "Kind of receptacle that it is about.")] = None
    task: Annotated[str | None, _subject_option("NAME", "Task that it is about.")] = None
    subtask: Annotated[str | None, _subject_option("NAME", "Part of the task.")] = None
    situation: Annotated[str | None, _subject_option("WORDS", "Situation in which it holds.")] = None
    question: Annotated[str | None, _subject_option("WORDS", "Question that was answered.")] = None

    def about(self) -> About:
        """Return the subject as in notes.

        Raises:
            UserError: It cannot be the subject of a note.
        """
        from housewise.people.memory.note import parse_about

        return parse_about({**vars(self), "things": self.things or ()}, "what it is about")


def show(
    context: typer.Context,
    subject: SubjectOptions,
    person: Annotated[
        str | None, person_argument("Name of the person. By default, everybody with a memory is listed.")
    ] = None,
    kind: KindOption = None,
    meaning: Annotated[bool, option(None, "Also recall notes with a similar meaning.", "--meaning")] = False,
    max_notes: Annotated[int | None, option("N", "Maximum number of notes. Default: all.", min=1)] = None,
    memories: MemoriesOption = None,
) -> None:
    """Show the notes about a person: all of them, or those recalled for a subject, the most relevant first.

    Examples:

      housewise memory show

      housewise memory show ada

      housewise memory show ada --thing mug --receptacle sink

      housewise memory show ada --thing teacup --meaning

    A note that newer notes on the same subject contradict is marked as overruled.
    """
    if person is None:
        check_options(context, {"--memories"}, "is about the notes of one person; name the person as well")
        print_people(MemoryOptions("", memories).folder, Console())
        return
    about = subject.about()
    if meaning and not about:
        raise UserError("--meaning compares with a subject; give one, as in --thing teacup")
    memory = MemoryOptions(person, memories).load()
    kinds = None if kind is None else [_check_kind(kind)]
    if not about:
        print_whole_memory(memory, kinds, max_notes, Console())
        return
    from housewise.language.embedder import MiniLM

    embedder = MiniLM() if meaning else None
    recalled = memory.recall(about, max_notes or len(memory), kinds=kinds, embedder=embedder)
    print_recalled(memory, recalled, Console())


def add(
    target: MemoryOptions,
    subject: SubjectOptions,
    text: Annotated[str, typer.Argument(metavar="WORDS", help="Text of the note.")] = "",
    kind: Annotated[str, option("NAME", "Kind of the note: reaction, rule, answer or goal.")] = "rule",
    value: ValueOption = None,
) -> None:
    """Add a note about a person. The first note creates the memory.

    Examples:

      housewise memory add ada "no shoes in here" --thing shoe --room kitchen

      housewise memory add ada --kind reaction --value -1 --thing mug
    """
    from housewise.people.memory.note import parse_note

    about = subject.about()
    fields = {"kind": _check_kind(kind), "text": text, "about": about, "value": _parse_value(value)}
    with target.edit(missing_ok=True) as memory:
        note = memory.add(parse_note({"person": target.person, **fields}, "the note"))
    _suggest_house_kinds(note.about)
    print_notes("remembered", [note], Console())


def edit(
    target: MemoryOptions,
    subject: SubjectOptions,
    id: Annotated[str, typer.Argument(metavar="ID", help="Id of the note, or its first characters.")],
    text: TextOption = None,
    value: ValueOption = None,
    kind: KindOption = None,
) -> None:
    """Correct a note. From then on it counts as the newest one.

    Examples:

      housewise memory edit ada 9c1b04 --value -1

      housewise memory edit ada 9c1b04 --room "" --thing mug --thing cup

    An empty value ("") removes a field. Notes that were concluded from the note before it was corrected are forgotten.
    """
    changed = {field: words for field, words in vars(subject).items() if words is not None}
    if subject.things is not None:
        changed["things"] = [each for each in subject.things if each.strip()]
    options = {"text": text, "kind": None if kind is None else _check_kind(kind), "value": _parse_value(value)}
    fields: dict[str, Any] = {field: words for field, words in options.items() if words is not None}
    if not changed and not fields:
        raise UserError(f"nothing to change of note {id}; say what, as in --value -1 or --text WORDS")
    with target.edit() as memory:
        before = memory.copy()
        if changed:
            fields["about"] = {**memory[id].about.model_dump(), **changed}
        note = memory.edit(id, **fields)
    if changed:
        _suggest_house_kinds(note.about)
    print_notes("corrected", [note], Console())
    lost = [each for each in before.notes if each.id not in memory and each.id != before[id].id]
    if lost:
        print_notes("forgotten, as concluded from the earlier version", lost, Console())


def forget(
    target: MemoryOptions,
    subject: SubjectOptions,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID...", help="Ids of notes, or their first characters.")
    ] = None,
    everything: Annotated[bool, option(None, "Forget all notes about the person.", "--everything")] = False,
    yes: YesOption = False,
) -> None:
    """Forget notes, or all notes on a subject, together with the notes that were concluded from them.

    Examples:

      housewise memory forget ada 9c1b04

      housewise memory forget ada --thing mug

      housewise memory forget ada --everything

    A run that is under way does not bring them back. Records of runs, and the copies of memories beside them, keep
    them: delete those folders too.
    """
    about = subject.about()
    if sum([bool(ids), bool(about), everything]) != 1:
        raise UserError("say what to forget: ids of notes, or --thing and the like, or --everything; one of these")
    subjects: Sequence[str | About] = ids or [about]
    if not ids and not yes:
        _confirm(_forget_all(target.load(), subjects), target.person)
    with target.edit() as memory:
        forgotten = _forget_all(memory, subjects)
    print_notes("forgotten", forgotten, Console())


def export(
    target: MemoryOptions,
    out: Annotated[Path | None, option("FILE", "A new file. By default, the memory is printed.")] = None,
    format: Annotated[
        str | None, option("NAME", "yaml or jsonl. Default: by the ending of FILE, else yaml.", "--format")
    ] = None,
) -> None:
    """Export a memory as YAML, for reading and editing, or as JSON lines, one note per line.

    Examples:

      housewise memory export ada --out ada.yaml

      housewise memory export ada --format jsonl
    """
    from housewise.core.files import write_text
    from housewise.people.memory.import_export import find_format, to_jsonl, to_yaml

    if format is not None and format not in _FORMATS:
        raise UserError(f"no format {format}; {suggest_names(format, _FORMATS)}")
    format = format or (find_format(out) if out else None) or "yaml"
    memory = target.load()
    text = to_yaml(memory) if format == "yaml" else to_jsonl(memory, forgotten=False)
    if out is None:
        # UTF-8 whatever the encoding of the terminal, so that the output can be imported again.
        sys.stdout.buffer.write(text.encode("utf-8"))
    elif out.exists():
        raise UserError(f"{out}: exists already and may have been edited; name another file")
    else:
        write_text(out, text)
        print_lines(Console(), f"{plural(len(memory), 'note')}: {out}")


def import_(
    target: MemoryOptions,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file that export wrote, or notes.jsonl of another memory.")
    ],
) -> None:
    """Import the notes of a file. Notes that were edited in the file replace those in the memory.

    Examples:

      housewise memory import ada ada.yaml

      # the memory that a run left
      housewise memory import ada runs/tidy/memory/ada/notes.jsonl

    Notes that the file lacks are kept, and notes that were forgotten stay forgotten.
    """
    from housewise.people.memory.import_export import import_notes, read_memory_file

    content = read_memory_file(file)
    try:
        with target.edit(missing_ok=True) as memory:
            imported = import_notes(memory, content)
    except UserError as error:
        raise UserError(f"{file}: {error}") from error
    print_import(imported, Console())


COMMANDS: dict[str, Callable[..., None]] = {
    "show": show,
    "add": add,
    "edit": edit,
    "forget": forget,
    "export": export,
    "import": import_,
}


def _check_kind(name: str) -> Any:
    if name not in _NOTE_KINDS:
        raise UserError(f"no kind of notes is called {name}; {suggest_names(name, _NOTE_KINDS)}")
    return name


def _parse_value(words: str | None) -> float | str | None:
    """Return a number if the words are one, else the words."""
    try:
        return None if words is None else float(words)
    except ValueError:
        return words


def _suggest_house_kinds(about: About) -> None:
    """Print a note for each everyday word where houses have a kind of another name, as notes are recalled by kinds."""
    from housewise.agent.clipr.house_groups import thing_groups
    from housewise.agent.clipr.house_place_words import PlaceVocabulary
    from housewise.language.words import word_stems
    from housewise.worlds.house.preferences import RECEPTACLE_KINDS, ROOM_KINDS

    if about.task:
        return
    known = {tuple(word_stems(thing)): thing for group in thing_groups() for thing in group.things}
    places = ((about.room, "room", ROOM_KINDS), (about.receptacle, "receptacle", RECEPTACLE_KINDS))
    meant = [(thing, "thing", known.get(tuple(word_stems(thing)))) for thing in about.things]
    for word, what, kinds in places:
        kind = PlaceVocabulary().mark_phrases(word) if word else None
        meant += [(word, what, kind)] if word and kind in kinds else []
    for word, what, kind in meant:
        if kind not in (None, word):
            print_note(
                f"houses have no kind of {what} {word!r}; did you mean {kind}? (housewise memory edit corrects it)"
            )


def _forget_all(memory: Memory, subjects: Sequence[str | About]) -> list[Note]:
    """Forget notes by id or subject, and return them. Some may be gone before their turn, with an earlier one."""
    chosen = [memory[each].id if isinstance(each, str) else each for each in subjects]
    return [note for each in chosen if not isinstance(each, str) or each in memory for note in memory.forget(each)]


def _confirm(notes: Sequence[Note], person: str) -> None:
    if not notes:
        return
    if not sys.stdin.isatty():
        raise UserError(f"{plural(len(notes), 'note')} of {person} would be forgotten; confirm with --yes")
    print_notes("to be forgotten", notes, Console())
    typer.confirm("Forget them?", abort=True)
