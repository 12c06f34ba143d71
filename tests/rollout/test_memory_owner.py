"""Whose reactions a memory takes: those of the person it is named after, and nobody else's."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from housewise.people.memory import About, Memory, MemoryFolder, Note
from housewise.rollout.note_events import learned_notes
from housewise.rollout.record_reader import read_records
from housewise.selftrain.personalize.settings import load_selftraining
from tests.commands import run_module

MINE = "name: mia\nwants:\n  drinkware:\n    any room: [sofa]\n"
HOUSE = ("--houses", "1", "--seed", "1", "--planner", "scripted", "max_steps=300")
HOUSES = ("--houses", "2", *HOUSE[2:])
BREAKFAST = ("--system", "adapt", "task=[4]")
LAB = ("--system", "basis", "remembers_descriptions=true", "variant=fire_laser__none__disinfect_computer")


@pytest.fixture
def memories(tmp_path: Path) -> MemoryFolder:
    folder = MemoryFolder(tmp_path / "memories")
    for name in ("ada", "carl", "majority", "mia", "juan", "alice"):
        folder.save(Memory(name, [Note(person=name, kind="rule", text="No mugs.", about=About(things=("mug",)))]))
    (tmp_path / "mia.yaml").write_text(MINE)
    return folder


def run(folder: Path, *words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HOUSEWISE_MEMORY": str(folder / "memories")}
    result = run_module("housewise", ["run", *words, "--out", "run"], env, folder)
    assert result.returncode == code, result.stderr
    return result


@pytest.mark.parametrize(
    ("words", "person", "written"),
    [
        ((*HOUSES, "--memory", "ada", "--workers", "2"), "ada", True),
        pytest.param((*HOUSE, "--memory", "ada", "learn=run"), "ada", True, marks=pytest.mark.slow),
        pytest.param((*HOUSE, "--memory", "majority"), "majority", True, marks=pytest.mark.slow),
        ((*HOUSE, "--memory", "mia", "--person", "mia.yaml"), "mia.yaml", True),
        pytest.param((*HOUSE, "--memory", "ada", "--person", "farid"), "farid", False, marks=pytest.mark.slow),
        pytest.param(
            (*HOUSES, "--memory", "carl", "learn=run", "--workers", "2"), "majority", False, marks=pytest.mark.slow
        ),
        ((*BREAKFAST, "--memory", "juan"), "juan", True),
        pytest.param((*BREAKFAST, "--memory", "juan", "person=miranda"), "miranda", False, marks=pytest.mark.slow),
        ((*LAB, "--memory", "alice"), "alice", True),
        ((*LAB, "--memory", "alice", "person=bob"), "bob", False),
    ],
)
def test_reactions_are_kept_for_the_person_who_reacts_and_nobody_else(
    tmp_path: Path, memories: MemoryFolder, words: tuple[str, ...], person: str, written: bool
) -> None:
    whose = words[words.index("--memory") + 1]
    before = memories.load(whose)
    said = [line for line in run(tmp_path, *words).stderr.splitlines() if "note:" in line]
    records = list(read_records(tmp_path / "run"))
    learned = [note for record in records for note in learned_notes(record)]
    assert {record.header.person for record in records} == {person}
    assert set(memories.load(whose).notes) == {*before.notes, *learned} and bool(learned) == written
    assert ([f"the memory of {whose} is read but gets no notes" in line for line in said] == [True]) == (not written)
    if not written:
        known = f" or person={whose}" if whose != "carl" else ""
        assert said[0].endswith(f"is read but gets no notes; --memory {person}{known} gets them")
        assert f"by the preferences of {person}, so" in said[0]
    kept = json.loads((tmp_path / "run" / "config.json").read_text())
    assert kept["tasks"]["person"] in (person, [person])


def test_who_is_not_among_those_who_are_cooked_for_learns_nothing_of_them(
    tmp_path: Path, memories: MemoryFolder
) -> None:
    before = memories.load("ada").digest
    said = run(tmp_path, *BREAKFAST, "--memory", "ada", "person=[juan,miranda]").stderr
    assert said.count("note:") == 1 and "measured by the preferences of juan, miranda, so the memory of" in said
    assert memories.load("ada").digest == before


@pytest.mark.slow
def test_a_run_of_an_earlier_version_goes_on_for_the_majority_whose_reactions_stay_out_of_the_memory(
    tmp_path: Path, memories: MemoryFolder
) -> None:
    run(tmp_path, *HOUSES, "--memory", "ada", "--person", "majority")
    # As earlier versions left it: reactions of the majority in ada's name, and half of the run.
    first, second = sorted((tmp_path / "run" / "episodes").glob("*.jsonl"))
    lines, note = first.read_text().splitlines(), Note(person="ada", kind="reaction", text="No mug here.")
    event = json.dumps({"type": "note", "data": {"note": note.model_dump(mode="json")}})
    first.write_text("\n".join([*lines[:-1], event, lines[-1]]) + "\n")
    second.unlink()
    said = run(tmp_path, *HOUSES, "--memory", "ada").stderr
    assert "measured by the preferences of majority" in said
    assert {record.header.person for record in read_records(tmp_path / "run")} == {"majority"}
    assert [each.text for each in memories.load("ada").notes] == ["No mugs."]


def test_a_self_training_plays_for_the_person_of_its_memory_and_an_older_one_as_it_did() -> None:
    memory = {"run": {"memory": {"start": "ada"}}}
    chosen = [load_selftraining(settings=memory, overrides=words).run for words in ([], ["run.person=farid"])]
    assert [run.tasks.person for run in chosen] == ["ada", "farid"]
    older = chosen[0].with_changes(person="majority")
    assert [run.adopt_person(older).tasks.person for run in chosen] == ["majority", "farid"]
    assert chosen[0].adopt_person(older.with_changes(memory={"start": "esi"})).tasks.person == "ada"


def test_whose_choices_in_houses_they_are_is_said_with_the_remedy(tmp_path: Path, memories: MemoryFolder) -> None:
    words = ("--system", "clipr", "method=clipr", "training=false", "max_questions=1", "examples=2", "--memory", "ada")
    # Nothing has to be played for it to be said.
    said = run(tmp_path, *words, "data=housekeep:farid", "max_minutes=0.0001", code=4).stderr
    assert "gets no notes; --memory farid or data=housekeep:ada gets them" in said
