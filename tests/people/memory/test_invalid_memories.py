"""Notes from the future, unexpected folders and damaged memories."""

import os
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.people.memory import About, Memory, MemoryFolder, Note
from housewise.people.memory.import_export import import_notes, read_memory_file, to_jsonl, to_yaml
from housewise.people.memory.note import current_time, next_millisecond
from tests.commands import housewise, one_line, output
from tests.in_process import memory_command
from tests.people.memory.notes import reaction

SOON = (datetime.now(timezone.utc) + timedelta(days=3)).isoformat()
FUTURE = ("2199-12-31T23:59:59Z", SOON)


@pytest.fixture
def folder(tmp_path: Path) -> MemoryFolder:
    return MemoryFolder(tmp_path / "memories")


@pytest.mark.parametrize("time", FUTURE, ids=("far", "soon"))
@pytest.mark.parametrize("form", [to_yaml, to_jsonl])
def test_a_note_from_the_future_is_refused(
    tmp_path: Path, folder: MemoryFolder, time: str, form: Callable[[Memory], str]
) -> None:
    note = reaction("mug", "sink", 1, time)
    with pytest.raises(UserError, match=r"'mug on sink' is dated .*, in the future; correct its time"):
        Memory("ada").add(note)
    file = tmp_path / ("ada.yaml" if form is to_yaml else "ada.jsonl")
    file.write_text(form(Memory("ada", [note])))
    with pytest.raises(UserError, match="in the future"):
        import_notes(Memory("ada"), read_memory_file(file))
    failed = memory_command(folder.root, "import", "ada", file)
    assert failed.returncode == 2 and failed.stderr.startswith(f"error: {file}: the note 'mug on sink' is dated")
    assert not folder.people()


def test_an_edit_cannot_move_a_note_into_the_future() -> None:
    known = Memory("ada", [reaction("mug", "sink", 1)])
    [before] = known.notes
    with pytest.raises(UserError, match="in the future"):
        known.edit(before.id, time=FUTURE[0])
    assert known.notes == (before,)


@pytest.mark.parametrize("time", FUTURE, ids=("far", "soon"))
def test_an_existing_note_from_the_future_can_be_edited(time: str) -> None:
    """Earlier versions accepted such notes. Notes of today take precedence."""
    known = Memory("ada", [reaction("mug", "sink", 1, time)])
    new = known.add(reaction("mug", "sink", -1, current_time()))
    question = About(things=("mug",))
    assert known.recall(question, 1)[0].note == new
    again = known.edit(known.notes[0].id, value="left")
    assert again.time < SOON and known.recall(question, 1)[0].note == again
    assert next_millisecond(known.notes[-1].time) > known.notes[-1].time
    assert Memory("ada", known.notes).notes == known.notes


def test_one_damaged_memory_does_not_hide_the_others(folder: MemoryFolder) -> None:
    output(memory_command(folder.root, "add", "ada", "no shoes"))
    for name, content in (("bruno", "{"), ("stray folder", "x"), (".hidden", "x")):
        (folder.root / name).mkdir()
        (folder.root / name / "notes.jsonl").write_text(content)
    (folder.root / "chiyo").mkdir()
    os.mkfifo(folder.root / "chiyo" / "notes.jsonl")
    (folder.root / "dmitri").mkdir()
    (folder.root / "a file").touch()
    lines = output(memory_command(folder.root, "show")).splitlines()
    assert lines[0].split() == ["ada", "1", "note"]
    told = "\n".join(lines[1:])
    assert len(lines) == 4 and "line 1 is damaged" in told and "'stray folder' cannot be a person's name" in told
    assert "not a regular file" in told and "hidden" not in told
    assert [note.text for note in folder.load("ada").notes] == ["no shoes"]


def test_an_editor_that_leaves_a_device_file_is_reported(folder: MemoryFolder, tmp_path: Path) -> None:
    output(
        memory_command(folder.root, "add", "ada", "no shoes", "--thing", "shoe", "--room", "kitchen", "--value", "-1")
    )
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nrm "$1" && ln -s /dev/zero "$1"\n')
    editor.chmod(0o755)
    variables = {"HOUSEWISE_MEMORY": str(folder.root), "EDITOR": str(editor), "VISUAL": ""}
    line = one_line(housewise("rules", "edit", "ada", **variables))
    assert "not a regular file" in line and "nothing was changed" in line


def test_notes_are_sorted_by_time() -> None:
    notes = [Note(person="ada", kind="rule", text=str(n), time=f"2026-01-0{n}T00:00:00Z") for n in (3, 1, 2)]
    assert [note.text for note in Memory("ada", notes).notes] == ["1", "2", "3"]
