"""Results that are recorded part by part, as by somebody who cannot play a whole experiment at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from housewise.experiments.results_table import ResultsTable, read_table
from tests.commands import one_line
from tests.in_process import call_housewise

DICE = """\
title: Dice
shows: Points of dice.
system: personalize
settings: {throws: 4}
axes:
  die: {coin: {sides: 2}, cube: {sides: 6}}
  seed: [1, 2]
function: tests.experiments.test_merged_results:draws
measures: [{points: {}}]
"""


def draws(sides: int, throws: int, rng_stream: int) -> list[tuple[str, int, str, float]]:
    """An experiment's function: values without runs."""
    return [(f"throw {number}", rng_stream, "points", float(number % sides)) for number in range(throws)]


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dice.yaml").write_text(DICE)
    return tmp_path / "dice.yaml"


def record(*words: str) -> str:
    done = call_housewise("experiment", "dice.yaml", *words, "--results", "results", code=0)
    return " ".join(done.stderr.split())


def recorded() -> ResultsTable:
    return read_table(Path("results/dice.csv"))


def test_parts_of_an_experiment_make_the_same_table_as_the_whole() -> None:
    call_housewise("experiment", "dice.yaml", "--out", "whole", code=0)
    assert not record("--only", "die=cube", "--only", "seed=2", "--out", "first")
    told = record("--only", "die=coin", "--out", "second")
    assert told == "note: results/dice.csv: 4 rows of cells that were not played here are kept"
    assert recorded().header.axes == {"die": ("coin", "cube"), "seed": ("1", "2")}
    record("--only", "die=cube", "--only", "seed=1", "--out", "third")
    assert Path("results/dice.csv").read_bytes() == Path("whole/dice.csv").read_bytes()
    header = recorded().header
    assert len(header.settings) == 4 and len(header.earlier) == 2 and header.rows == 16
    assert header.earlier[0]["command"].endswith("first --results results") and "third" in header.made["command"]


def test_what_was_measured_with_other_settings_is_left_out(file: Path) -> None:
    record("--only", "die=cube", "--out", "first")
    file.write_text(DICE.replace("sides: 6", "sides: 5"))
    told = record("--only", "die=coin", "--out", "second")
    assert told == "note: results/dice.csv: 8 rows are left out, since they were measured with other settings"
    assert set(recorded().frame["die"]) == {"coin"} and recorded().header.axes["die"] == ("coin",)


def test_what_is_measured_again_replaces_what_was_recorded() -> None:
    record("--out", "first")
    record("throws=3", "--only", "seed=1", "--out", "second")
    frame = recorded().frame
    assert set(frame["seed"]) == {"1"} and len(frame) == 6, "those of seed 2 would have three throws as well now"


def test_a_small_part_is_not_mixed_with_the_rest(file: Path) -> None:
    record("--only", "die=cube", "--out", "first")
    file.write_text(f"{DICE}quick: {{axes: {{die: [coin]}}}}\n")
    assert "8 rows are left out" in record("--quick", "--out", "second")
    assert recorded().header.quick and set(recorded().frame["die"]) == {"coin"}


def test_a_damaged_table_is_told_of_before_anything_is_played() -> None:
    record("--only", "die=cube", "--out", "first")
    Path("results/dice.csv").write_text("die,seed\n")
    done = call_housewise("experiment", "dice.yaml", "--out", "second", "--results", "results")
    assert "results/dice.csv: has no column 'run'; make the table again" in one_line(done)
    assert not Path("second").exists()


def test_episodes_of_runs_are_kept_and_those_that_are_missing_are_counted(tmp_path: Path) -> None:
    text = DICE.replace(
        "settings: {throws: 4}", "settings: {houses: 2, seed: 9700, max_steps: 5, objects: [4, 4], misplaced: [2, 2]}"
    )
    text = text.replace("{coin: {sides: 2}, cube: {sides: 6}}", "{a: {planner: scripted}, b: {planner: demonstrator}}")
    text = text.replace(
        "function: tests.experiments.test_merged_results:draws\nmeasures: [{points: {}}]", "measures: [steps]"
    )
    (tmp_path / "dice.yaml").write_text(text)
    record("--only", "die=a", "--only", "seed=1", "--out", "first")
    table = Path("results/dice.json")
    lacking = json.loads(table.read_text()) | {"rows": 1, "missing_episodes": 1}
    table.write_text(json.dumps(lacking))
    csv = Path("results/dice.csv")
    csv.write_text("\n".join(csv.read_text().splitlines()[:2]) + "\n")
    assert "1 rows of cells that were not played" in record("--only", "die=b", "--only", "seed=2", "--out", "second")
    header = recorded().header
    assert header.missing_episodes == 1 and header.rows == 3
    assert header.settings.keys() == {"test, a, 1", "test, b, 2"}
    assert header.episodes.commits == (header.made["commit"],)
    (tmp_path / "dice.yaml").write_text(text.replace("max_steps: 5", "max_steps: 6"))
    assert "3 rows are left out" in record("--only", "die=b", "--only", "seed=1", "--out", "third")
