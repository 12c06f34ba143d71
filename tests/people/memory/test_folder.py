"""Memories on disk: saving, simultaneous and killed programs, and damaged files."""

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from housewise.core.errors import UserError
from housewise.people.memory import About, Memory, MemoryFolder, Note
from housewise.people.memory.folder import NOTES_FILE, RulesFile
from tests.people.memory.notes import notes, reaction

WRITER = """
import sys
from pathlib import Path
from housewise.people.memory import Memory, MemoryFolder, Note

folder, name, count = MemoryFolder(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])
mine = Memory("ada")
for number in range(count):
    mine.add(Note(person="ada", kind="rule", text=f"{name} {number}"))
    folder.save(mine)
    print(f"{name} {number}", flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> MemoryFolder:
    return MemoryFolder(tmp_path / "memories")


def texts(memory: Memory) -> set[str]:
    return {note.text for note in memory.notes}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(kept=st.lists(notes, max_size=10), gone=st.lists(notes, max_size=3), words=st.text(min_size=1, max_size=50))
def test_a_saved_memory_can_be_loaded(folder: MemoryFolder, kept: list[Note], gone: list[Note], words: str) -> None:
    folder.notes_path("ada").unlink(missing_ok=True)
    memory = Memory("ada", [*kept, Note(person="ada", kind="answer", value=1, text=words)], [note.id for note in gone])
    folder.save(memory)
    read = folder.load("ada")
    assert (read.notes, read.forgotten_ids, read.digest) == (memory.notes, memory.forgotten_ids, memory.digest)
    assert folder.people() == ["ada"]


def test_lines_are_plain_json(folder: MemoryFolder) -> None:
    memory = Memory("ada", [reaction("café cup", "sink", -1.0), reaction("shoe", "bed", 1.0)])
    gone = memory.forget(About(things=("shoe",)))
    folder.save(memory)
    header, note, forgotten = [json.loads(line) for line in folder.notes_path("ada").read_text("utf-8").splitlines()]
    assert header == {"format": "housewise-memory", "version": 1, "person": "ada"}
    assert note["text"] == "café cup on sink" and note["value"] == -1.0 and note["kind"] == "reaction"
    assert note["about"] == {"things": ["café cup"], "receptacle": "sink"}
    assert forgotten == {"forgotten": gone[0].id}
    assert "café" in folder.notes_path("ada").read_text("utf-8")


def test_forgotten_notes_leave_no_trace_on_disk(folder: MemoryFolder) -> None:
    seen = reaction("mug", "sink", -1.0, text="her secret mug")
    rule = Note(person="ada", kind="rule", text="the secret goes on the shelf", derived_from=(seen.id,))
    folder.save(Memory("ada", [seen, rule, reaction("shoe", "bed", 1.0)]))
    # A partial file of a killed program.
    (folder.notes_path("ada").parent / ".0123456789abcdef.partial").write_text("her secret mug")
    with folder.edit_memory("ada") as memory:
        memory.forget(seen.id)
    left = b"".join(path.read_bytes() for path in folder.root.rglob("*") if path.is_file())
    assert b"secret" not in left and b"shoe" in left
    assert stat.S_IMODE(folder.root.stat().st_mode) == 0o700


def test_saving_an_old_copy_restores_nothing(folder: MemoryFolder) -> None:
    """A run has a copy of the memory while a note is forgotten and another one edited."""
    mug, shoe = reaction("mug", "sink", 1.0), reaction("shoe", "bed", 1.0)
    folder.save(Memory("ada", [mug, shoe]))
    run = folder.load("ada")
    with folder.edit_memory("ada") as memory:
        memory.forget(mug.id)
        corrected = memory.edit(shoe.id, value=-1.0)
    learned = run.add(reaction("lamp", "bed", 1.0))
    run.add(Note(person="ada", kind="rule", text="mugs in the sink", derived_from=(mug.id,)))
    kept = folder.save(run)
    assert set(kept.notes) == {corrected, learned} == set(folder.load("ada").notes)


@pytest.mark.parametrize("kept", [[], [reaction("mug", "sink", 1.0)]])
def test_saving_what_is_saved_changes_no_file(folder: MemoryFolder, kept: list[Note]) -> None:
    gone = reaction("shoe", "bed", 1.0)
    memory = folder.save(Memory("ada", kept, [gone.id]))
    RulesFile(folder, memory).write("{}")
    before = folder.notes_path("ada").stat().st_ino
    for same in (memory, Memory("ada"), Memory("ada", [*kept, gone])):
        assert folder.save(same).digest == memory.digest
    assert folder.notes_path("ada").stat().st_ino == before and RulesFile(folder, memory).read() == b"{}"
    folder.save(Memory("ada", forgotten=["0" * 12]))
    assert folder.load("ada").forgotten_ids == {gone.id, "0" * 12} and RulesFile(folder, memory).read() is None


def test_an_error_during_an_edit_changes_nothing(folder: MemoryFolder) -> None:
    folder.save(Memory("ada", [reaction("mug", "sink", 1.0)]))
    before = folder.notes_path("ada").read_bytes()
    with pytest.raises(UserError), folder.edit_memory("ada") as memory:
        memory.forget(About())
        memory.forget("ffff")
    assert folder.notes_path("ada").read_bytes() == before


def test_two_simultaneous_programs_lose_nothing_even_if_one_is_killed(folder: MemoryFolder) -> None:
    command = [sys.executable, "-c", WRITER, str(folder.root)]
    one = subprocess.Popen([*command, "one", "1000000"], stdout=subprocess.PIPE, text=True)
    other = subprocess.Popen([*command, "other", "60"], stdout=subprocess.PIPE, text=True)
    assert one.stdout is not None and other.stdout is not None
    told = [one.stdout.readline().strip() for _ in range(25)]
    os.kill(one.pid, signal.SIGKILL)
    told += [line.strip() for line in one.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
    told += [line.strip() for line in other.stdout]
    assert other.wait(timeout=60) == 0
    one.wait(timeout=60)
    one.stdout.close()
    other.stdout.close()
    kept = texts(folder.load("ada"))
    assert set(told) <= kept and f"other {59}" in kept
    # The next write removes the partial file of the killed program.
    with folder.edit_memory("ada") as memory:
        memory.add(reaction("mug", "sink", 1.0))
    assert {path.name for path in folder.notes_path("ada").parent.iterdir()} <= {NOTES_FILE, ".lock"}


def test_waiting_for_another_program_ends_with_an_error(folder: MemoryFolder) -> None:
    folder.save(Memory("ada", [reaction("mug", "sink", 1.0)]))
    with (
        folder.edit_memory("ada"),
        pytest.raises(UserError, match=r"ada: another program has been writing there for 0\.05 s; wait"),
    ):
        MemoryFolder(folder.root, patience=0.05).save(Memory("ada"))


HEADER = '{"format": "housewise-memory", "version": 1, "person": "ada"}\n'
GOOD = '{"person": "ada", "kind": "rule", "text": "x", "time": "2026-11-23T14:05:00.000Z"}\n'


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "is empty"),
        ("not json\n", "line 1 is damaged"),
        ("[]\n", "line 1 is damaged.*no JSON object"),
        ("{}\n", "does not begin as a memory does"),
        (HEADER.replace("1,", "2,"), "is of version 2, and this Housewise reads version 1"),
        (HEADER.replace("ada", "bruno"), "line 1: has notes about bruno; name the folder bruno"),
        (HEADER.replace('"ada"', "7"), "does not say whose notes"),
        (HEADER.replace('"ada"', '"../../etc"'), "cannot be a person's name"),
        (HEADER + GOOD + GOOD[:40], "line 3 is damaged"),
        (HEADER + GOOD + "\x00\x00\x00\n", "line 3 is damaged"),
        (HEADER + '{"forgotten": ["x"]}\n', "line 2: not the id of a forgotten note"),
        (HEADER + GOOD.replace("rule", "order"), "line 2: field kind: .*correct it, or take it out"),
        (HEADER + GOOD.replace("ada", "bruno"), "is about bruno, but this is the memory of ada"),
        (HEADER + GOOD.replace('"x"', '"' + "x" * 10_000_000 + '"'), "line 2 is damaged .*more than 1000000 char"),
        (
            HEADER + GOOD.replace('"x"', '"' + "x" * 100_000 + '"'),
            "line 2: field text: has 100000 characters; at most 2000",
        ),
        (HEADER + "[" * 100_000 + "\n", "line 2 is damaged"),
        (HEADER + '{"kind": ' * 50_000 + "\n", "line 2 is damaged"),
        (HEADER + GOOD.replace('"x"', '"x", "value": NaN'), "line 2: field value: not a number"),
        (HEADER + GOOD.replace('"x"', '"x", "id": "0123456789ab"'), "line 2: .*its id is '0123456789ab'"),
    ],
)
def test_a_damaged_memory_is_reported_and_not_changed(folder: MemoryFolder, content: str, complaint: str) -> None:
    path = folder.notes_path("ada")
    path.parent.mkdir(parents=True)
    path.write_text(content)
    for use in (lambda: folder.load("ada"), lambda: folder.save(Memory("ada", [reaction("mug", "sink", 1.0)]))):
        with pytest.raises(UserError, match=complaint) as raised:
            use()
        assert len(str(raised.value)) < 500 and "\n" not in str(raised.value)
    assert path.read_text() == content


def test_invalid_utf8_is_reported_in_one_line(folder: MemoryFolder) -> None:
    folder.save(Memory("ada", [reaction("mug", "sink", 1.0)]))
    folder.notes_path("ada").write_bytes(folder.notes_path("ada").read_bytes().replace(b"mug", b"m\xff"))
    with pytest.raises(UserError, match=r"notes\.jsonl: line \d+ is damaged .*take the line out, or restore"):
        folder.load("ada")


def test_a_folder_instead_of_the_file_is_reported_in_one_line(folder: MemoryFolder) -> None:
    folder.notes_path("ada").mkdir(parents=True)
    with pytest.raises(UserError, match=r"notes\.jsonl: cannot be read \(not a regular file"):
        folder.load("ada")


def test_a_changed_letter_is_noticed(folder: MemoryFolder) -> None:
    folder.save(Memory("ada", [reaction("mug", "sink", 1.0)]))
    path = folder.notes_path("ada")
    path.write_text(path.read_text().replace("mug on sink", "jug on sink"))
    with pytest.raises(UserError, match=r"line 2: its id is .* it was changed; leave out the id"):
        folder.load("ada")


def test_the_error_for_an_unknown_person_lists_the_known_ones(folder: MemoryFolder) -> None:
    with pytest.raises(UserError, match="no memory of ada; none available"):
        folder.load("ada")
    folder.save(Memory("ada", [reaction("mug", "sink", 1.0)]))
    with pytest.raises(UserError, match=r"no memory of adda; did you mean ada\? available: ada"):
        folder.load("adda")
    with pytest.raises(UserError, match="no memory of bruno"), folder.edit_memory("bruno"):
        pass
    assert folder.people() == ["ada"]


@pytest.mark.parametrize("name", ["", ".", "..", "../ada", "a/b", "/etc", "-x", ".ada", "ada.", "a" * 81, "a\nb", "ä"])
def test_names_cannot_leave_the_folder(folder: MemoryFolder, name: str) -> None:
    with pytest.raises(UserError, match="cannot be a person's name: use letters a to z, digits"):
        folder.load(name)


def test_a_symbolic_link_is_replaced_and_not_followed(folder: MemoryFolder, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text(HEADER)
    folder.notes_path("ada").parent.mkdir(parents=True)
    folder.notes_path("ada").symlink_to(elsewhere)
    folder.save(Memory("ada", [reaction("mug", "sink", 1.0)]))
    assert elsewhere.read_text() == HEADER and not folder.notes_path("ada").is_symlink()


def test_the_default_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("HOUSEWISE_MEMORY", raising=False)
    assert MemoryFolder.default().root == tmp_path / ".local/share/housewise/memory"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert MemoryFolder.default().root == tmp_path / "data/housewise/memory"
    monkeypatch.setenv("HOUSEWISE_MEMORY", str(tmp_path / "mine"))
    assert MemoryFolder.default().root == tmp_path / "mine"
    assert MemoryFolder.default(tmp_path / "named").root == tmp_path / "named"
