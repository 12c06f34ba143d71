"""Success by number of reactions: in a generated house, from the first notes that came."""

import json
from pathlib import Path

from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.tables import TABLES
from housewise.people.memory import MemoryFolder
from housewise.rollout.note_events import learned_notes
from housewise.rollout.record_reader import read_records
from housewise.systems.personalize.record import read_house_records
from tests.commands import run_module


def test_every_row_plays_with_the_first_notes_that_came(tmp_path: Path) -> None:
    (tmp_path / "personalize").mkdir()
    words = [
        "--quick",
        "--row",
        "store",
        "--out",
        tmp_path / "out",
        "--json",
        tmp_path / "personalize" / "reactions.json",
    ]
    module = "housewise.experiments.personalize.reactions"
    counts = [word for count in (0, 2, 3) for word in ("--count", count)]
    run_module(module, [*words, *counts, "max_steps=200"], cwd=tmp_path, code=0)
    seed = tmp_path / "out" / "generated" / "seed-1"
    shown = [note for record in read_records(seed / "demonstrations" / "episodes") for note in learned_notes(record)]
    assert shown
    for count in (2, 3):
        memory = MemoryFolder(seed / "reactions" / "memories" / str(count)).load("majority")
        assert len(memory) == count and set(shown[:count]) <= set(memory.notes)
        (record,) = read_house_records(seed / "reactions" / "store" / str(count) / "test" / "episodes")
        assert record.header.memory == memory.digest
    content = json.loads((tmp_path / "personalize" / "reactions.json").read_text())
    figures = content["figures"]["generated"]["store"]["test"]
    assert list(figures) == ["0", "2", "3"] and {figure["episodes"] for figure in figures.values()} == {1}
    assert content["counts"] == [0, 2, 3] and "commit" in content
    head, _, row = TABLES["remembering reactions"](FigureFiles(tmp_path)).splitlines()
    assert head.endswith("| 0 | 2 | 3 |")
    assert row == f"| generated test | store | {' | '.join(format(each['mean'], '.1f') for each in figures.values())} |"
    assert (tmp_path / "out" / "reactions_curve.png").read_bytes().startswith(b"\x89PNG")
    many = run_module(module, [*words, "--count", "5000", "max_steps=200"], cwd=tmp_path)
    assert many.returncode == 2 and "reactions in all; give --count less" in many.stderr
