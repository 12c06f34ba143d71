"""Memories swapped between people, and notes edited by hand."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from housewise.core.errors import UserError
from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.tables import TABLES
from housewise.experiments.personalize.edited import AFTER, BEFORE, Edited, turns
from housewise.experiments.personalize.households import Setup
from housewise.experiments.personalize.paper import carry_out
from housewise.experiments.personalize.swapped import ANOTHER, COMMON, OWN, Neighbours, Swapped
from housewise.people.memory import MemoryFolder
from housewise.systems.personalize.record import read_house_records
from housewise.terminal.selftrain_progress import TrainingDisplay
from housewise.worlds.house.spoken_names import kind_from_name
from tests.commands import run_module
from tests.experiments.records import SHELF, TABLE, make_record, save


def test_every_persons_own_memory_stands_beside_the_others(tmp_path: Path) -> None:
    between = Neighbours("Merom_1_int", ["annotator-1", "annotator-7"], "test", [1], None, False, tmp_path)
    assert between.memory_of("annotator-7", ANOTHER) == "annotator-1"
    assert between.memory_of("annotator-7", COMMON) == "majority"
    for person in between.people:
        for whose, ends in ((OWN, (SHELF, SHELF)), (COMMON, (SHELF, TABLE)), (ANOTHER, (TABLE, TABLE))):
            seed = tmp_path / person / "Merom_1_int" / "seed-1" / "swapped" / "store"
            for number, end in enumerate(ends):
                folder = seed / between.memory_of(person, whose) / "test" / "episodes"
                save(make_record({"mug 1": end}, episode=number), folder)
    console = Console(record=True, width=200, file=io.StringIO())
    file = tmp_path / "personalize" / "swapped.json"
    file.parent.mkdir()
    carry_out(
        Swapped([between], ["store"], None, [1], Setup()), tmp_path, True, console, {"quick": False}, json_file=file
    )
    assert "store, their own - the majority's: 50.0 ± 50.0 points for everybody" in console.export_text()
    content = json.loads((tmp_path / "swapped.json").read_text())
    assert content["figures"]["Merom_1_int"]["store"]["annotator-1"][COMMON]["mean"] == 50.0
    assert content["gains"]["Merom_1_int"]["store"][f"{OWN} - {ANOTHER}"]["annotator-7"]["mean"] == 100.0
    assert content["memories"]["Merom_1_int"]["annotator-1"] == {OWN: "annotator-1", ANOTHER: "annotator-7"}
    assert TABLES["remembering swapped"](FigureFiles(tmp_path)).splitlines()[2:] == [
        f"| {who}, Merom_1_int | store | 100.0 ± 0.0 (2) | 50.0 ± 50.0 (2) | 0.0 ± 0.0 (2) "
        "| 50.0 ± 50.0 | 100.0 ± 0.0 |"
        for who in between.people
    ]


@pytest.mark.parametrize(
    ("people", "which", "message"),
    [(["ada"], "test", "two people or more, not ada"), (["ada", "esi"], "other", "test")],
)
def test_neighbours_have_to_be_two_with_tests(people: list[str], which: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        Neighbours("generated", people, which, [1], None, False, tmp_path)


def test_a_memory_that_is_swapped_in_is_the_other_persons(tmp_path: Path) -> None:
    words = ["--quick", "--row", "store", "--edits", "0", "--people", "ada,esi", "--out", tmp_path, "max_steps=60"]
    run_module("housewise.experiments.personalize.swapped", words, cwd=tmp_path, code=0)
    folders = {who: tmp_path / "people" / who / "generated" / "seed-1" for who in ("ada", "esi", "majority")}
    shown = {who: MemoryFolder(path / "demonstrations" / "memory").load(who) for who, path in folders.items()}
    assert len({memory.digest for memory in shown.values()}) == 3
    for person in ("ada", "esi"):
        for whose, memory in shown.items():
            (record,) = read_house_records(folders[person] / "swapped" / "store" / whose / "test" / "episodes")
            assert record.header.memory == memory.digest and record.header.person == person


def test_edited_notes_are_about_places_that_nobody_wants() -> None:
    found = turns(6)
    assert len({kind_from_name(turn.thing) for turn in found}) == len(found) == 6
    assert all(turn.said[BEFORE] != turn.said[AFTER] for turn in found)
    assert [turn.said for turn in found] == [turn.said for turn in turns(6)]


def test_an_edited_note_is_followed_in_the_next_episode(tmp_path: Path) -> None:
    edited = Edited(2, tmp_path)
    edited.play(
        "store", "memory_lookup", Setup(overrides=["max_steps=500"]), TrainingDisplay(Console(file=io.StringIO()))
    )
    told = edited.count_followed_notes("store")
    assert told["notes"] == 2 and told["followed"] == {BEFORE: 2, AFTER: 2}
    for one in told["each"]:
        assert one[BEFORE]["said"] != one[AFTER]["said"] and one[BEFORE]["ended"] != one[AFTER]["ended"]
    (before, after) = (MemoryFolder(tmp_path / "memories" / which).load("majority") for which in (BEFORE, AFTER))
    assert len(before) == len(after) == 2 and after.forgotten_ids == {note.id for note in before.notes}
