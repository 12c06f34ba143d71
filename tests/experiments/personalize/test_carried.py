"""Memories brought along: figures from records made by hand, and the whole way from one generated house to another."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from housewise.core.errors import UserError
from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.tables import TABLES
from housewise.experiments.personalize.carried import ELSEWHERE, OWN, Carried, HouseholdPair, pairs_of
from housewise.experiments.personalize.households import Household, Setup
from housewise.experiments.personalize.paper import carry_out
from housewise.experiments.personalize.robots import EMPTY, FULL, NOTHING, ROUNDS, SHOWN, StudyRobot
from housewise.people.memory import About, Memory, MemoryFolder, Note
from housewise.systems.personalize.record import read_house_records
from tests.commands import run_module
from tests.experiments.records import SHELF, TABLE, make_record, save

MEROM, POMARIA = Household("Merom_1_int"), Household("Pomaria_1_int")
PAIR = HouseholdPair(MEROM, POMARIA)


def fill(folder: Path, *ends: str) -> None:
    """Test episodes, each of a task of its own, that leave the mug somewhere."""
    for number, end in enumerate(ends):
        save(make_record({"mug 1": end}, episode=number, scene="Pomaria_1_int"), folder / "episodes")


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A model that was taught in Merom_1 beside one that was taught nowhere, in Pomaria_1."""
    out = tmp_path_factory.mktemp("carried")
    experiment = Carried([PAIR], ["store", "nearest", FULL, EMPTY], [1], Setup(), out)
    fill(experiment.tests(PAIR, FULL, SHOWN, "test", 1).folder, SHELF, TABLE)
    fill(experiment.tests(PAIR, EMPTY, NOTHING, "test", 1).folder, TABLE, TABLE)
    fill(StudyRobot(FULL, POMARIA, 1, out).tests(SHOWN, "test").folder, SHELF, SHELF)
    console = Console(record=True, width=200, file=io.StringIO())
    (out / "personalize").mkdir()
    carry_out(experiment, out, True, console, {"quick": False}, json_file=out / "personalize" / "carried.json")
    drawn = {name: TABLES[f"remembering {name}"](FigureFiles(out)) for name in ("carried", "reach")}
    return {**json.loads((out / "carried.json").read_text()), "shown": console.export_text(), "drawn": drawn}


def test_the_papers_transfer_stands_beside_each_stage(content: dict[str, Any]) -> None:
    cells = {(cell["row"], cell["column"]): cell for cell in content["tables"][0]["cells"]}
    shown = cells[f"{FULL}, {SHOWN}", "Merom_1_int → Pomaria_1_int test"]
    assert (shown["ours"]["mean"], shown["published"]["mean"], shown["expected"]) == (50.0, 13.2, 5)
    assert cells[f"store, {ROUNDS[1]}", "Merom_1_int → Pomaria_1_int test"]["published"]["mean"] == 17.0
    assert cells[EMPTY, "Merom_1_int → Pomaria_1_int test"]["published"] is None
    assert "(13.2 ± 6.5)" in content["shown"] and "n=2 of 5" in content["shown"]


def test_what_was_brought_along_is_compared_task_by_task(content: dict[str, Any]) -> None:
    gains = content["gains"][PAIR.name]
    assert gains[FULL][SHOWN]["test"][ELSEWHERE]["mean"] == 50.0 and gains[FULL][SHOWN]["test"][OWN]["mean"] == -50.0
    assert gains["store"][SHOWN]["test"] == {ELSEWHERE: None, OWN: None} and gains[EMPTY][NOTHING]["test"] == {}
    assert f"{FULL} - {ELSEWHERE}: 50.0 ± 50.0 points" in content["shown"]
    own = content["tables"][1]["cells"]
    assert [(cell["row"], cell["ours"]["mean"], cell["published"]["mean"]) for cell in own] == [
        (f"{FULL}, {SHOWN}", 100.0, 17.6)
    ]


def test_documents_have_a_table_of_it(content: dict[str, Any]) -> None:
    assert content["drawn"]["carried"].splitlines()[2:] == [
        "| Merom_1_int → Pomaria_1_int, after demonstrations [13.2] | 0.0 ± 0.0 (2) | – | – | 50.0 ± 50.0 (2) "
        "| 50.0 ± 50.0 (2) | -50.0 ± 50.0 (2) |",
        "| Merom_1_int → Pomaria_1_int, after round 1 [13.0] | 0.0 ± 0.0 (2) | – | – | – | – | – |",
        "| Merom_1_int → Pomaria_1_int, after round 2 [17.0] | 0.0 ± 0.0 (2) | – | – | – | – | – |",
    ]
    assert content["drawn"]["reach"].splitlines()[-1] == f"| Merom_1_int → Pomaria_1_int | {FULL} | 0 | 0 | 0 | 0 |"


def test_how_far_a_memory_reaches_is_counted(tmp_path: Path) -> None:
    experiment = Carried([PAIR], ["store"], [1], Setup(), tmp_path)
    stage = experiment.tests(PAIR, "store", SHOWN, "test", 1)
    fill(stage.folder, SHELF, TABLE)
    save(make_record({"cup 1": SHELF}, episode=2, scene="Pomaria_1_int"), stage.folder / "episodes")
    wanted = Note(person="majority", kind="reaction", about=About(things=("mug",), receptacle="shelf"), value=1.0)
    MemoryFolder(stage.folder / "memory_at_start").save(Memory("majority", [wanted]))
    assert experiment.extra_results()["reach"][PAIR.name]["store"][SHOWN]["test"] == {
        "out of place": 3,
        "place named": 2,
        "named, put right": 1,
        "not named, put right": 1,
    }


def test_everything_behind_the_figures_is_told(content: dict[str, Any]) -> None:
    figure = content["figures"][PAIR.name][FULL][SHOWN]["test"]
    assert (figure["mean"], figure["by_seed"], figure["error"]) == (50.0, {"1": 50.0}, pytest.approx(50.0))
    assert content["by_episode"][PAIR.name][FULL][SHOWN]["test"]["Pomaria_1_int-0000"]["1"]["moved"] == {"mug 1": SHELF}
    assert content["starts"]["Pomaria_1_int"]["Pomaria_1_int-0001"] == {"mug 1": TABLE}
    assert "demonstrations" in content["told"][FULL] and content["told"][EMPTY] == [] and "commit" in content


def test_pairs_are_those_whose_scenes_are_there() -> None:
    other = Household("Pomaria_2_int")
    found = pairs_of([MEROM, other], other=True)
    assert [pair.name for pair in found] == ["Merom_1_int → Pomaria_2_int", "Pomaria_2_int → Merom_1_int"]
    assert found[0].tests == ("test", "other") and HouseholdPair(MEROM, other).tests == ("test",)
    assert HouseholdPair(other, POMARIA, other=True).tests == ("test",)
    with pytest.raises(UserError, match="no memory is carried between these"):
        pairs_of([MEROM], other=False)


def test_the_tests_are_played_with_what_was_remembered_elsewhere(tmp_path: Path) -> None:
    words = ["--quick", "--row", "store", "--seed", "3", "--out", tmp_path / "out", "--json", tmp_path / "c.json"]
    module = "housewise.experiments.personalize.carried"
    run_module(module, [*words, "max_steps=200"], cwd=tmp_path, code=0)
    seed = tmp_path / "out" / "generated" / "seed-3"
    learned = [seed / "demonstrations", seed / "store" / "round 1", seed / "store" / "round 2"]
    for folder, stage in zip(learned, (SHOWN, *ROUNDS), strict=True):
        memory = MemoryFolder(folder / "memory").load("majority")
        (record,) = read_house_records(seed / "carried" / "generated" / "store" / stage / "test" / "episodes")
        assert record.header.memory == memory.digest and len(memory) > 0
    assert not (seed / "store" / SHOWN).exists()
    content = json.loads((tmp_path / "c.json").read_text())
    assert content["notes"]["generated → generated"]["store"][SHOWN]["test"]["3"] > 0
    before = {path: path.stat().st_mtime_ns for path in seed.rglob("*.jsonl")}
    assert run_module(module, [*words, "--show"], cwd=tmp_path).returncode == 0
    assert before == {path: path.stat().st_mtime_ns for path in seed.rglob("*.jsonl")}
    alone = run_module(module, [*words, "--scene", "Rs_int"], cwd=tmp_path)
    assert alone.returncode == 2 and len(alone.stderr.strip().splitlines()) == 1 and "both of" in alone.stderr
