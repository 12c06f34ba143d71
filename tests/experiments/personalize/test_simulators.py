"""Robots that go by notes in simulators: the memory of the last round, and the tests once in each."""

import json
from pathlib import Path

from housewise.people.memory import MemoryFolder
from housewise.systems.personalize.record import read_house_records
from tests.commands import run_module

MODULE = "housewise.experiments.personalize.simulators"


def test_tests_are_played_with_what_is_remembered_after_the_last_round(tmp_path: Path) -> None:
    words = ["--quick", "--row", "store", "--out", tmp_path / "out", "--json", tmp_path / "figures.json"]
    run_module(MODULE, [*words, "--simulator", "raycast", "max_steps=200"], cwd=tmp_path, code=0)
    seed = tmp_path / "out" / "generated" / "seed-1"
    memory = MemoryFolder(seed / "store" / "round 2" / "memory").load("majority")
    (record,) = read_house_records(seed / "simulators" / "store" / "raycast" / "episodes")
    assert len(memory) and record.header.memory == memory.digest
    content = json.loads((tmp_path / "figures.json").read_text())
    assert content["figures"]["generated"]["store"]["raycast"]["episodes"] == 1
    assert content["gains"] == {}
    refused = run_module(MODULE, [*words, "--simulator", "unreal"], cwd=tmp_path)
    assert refused.returncode == 2 and "unreal" in refused.stderr
