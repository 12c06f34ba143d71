"""Results that are recorded part by part, as by somebody who cannot play a whole experiment at once."""

from __future__ import annotations

import functools
import json
import operator
from pathlib import Path

import pytest

from housewise.experiments.results_table import ResultsTable, read_table
from housewise.experiments.runner import ExperimentRunner
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


def draws_pips(sides: int, throws: int, rng_stream: int) -> list[tuple[str, int, str, float]]:
    """The same with a second measure."""
    values = draws(sides, throws, rng_stream)
    return [*values, *((task, repeat, "pips", value) for task, repeat, _, value in values)]


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


def test_a_table_that_names_no_commits_of_its_episodes_was_measured_with_the_commit_that_made_it() -> None:
    record("--only", "die=cube", "--out", "first")
    table = Path("results/dice.json")
    header = json.loads(table.read_text())
    header["made"] |= {"commit": "f" * 40, "date": "2026-01-02T03:04:05+00:00"}
    del header["episodes"]
    table.write_text(json.dumps(header))
    record("--only", "die=coin", "--out", "second")
    now = recorded().header
    assert now.episodes.commits == ("f" * 40, now.made["commit"]) and now.episodes.first.startswith("2026-01-02")


def test_what_was_measured_with_other_settings_is_left_out(file: Path) -> None:
    record("--only", "die=cube", "--out", "first")
    file.write_text(DICE.replace("sides: 6", "sides: 5"))
    told = record("--only", "die=coin", "--out", "second")
    reason = "since they were measured with other settings, or the table does not say with which"
    assert told == f"note: results/dice.csv: 8 rows are left out, {reason}"
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


def test_what_another_program_records_in_the_meantime_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    record("--only", "die=cube", "--out", "other")
    Path("results").rename("recorded by another program")
    play = ExperimentRunner.play

    def play_meanwhile(runner: ExperimentRunner) -> None:
        play(runner)
        Path("recorded by another program").rename("results")

    monkeypatch.setattr(ExperimentRunner, "play", play_meanwhile)
    assert "8 rows of cells that were not played here are kept" in record("--only", "die=coin", "--out", "mine")
    assert set(recorded().frame["die"]) == {"coin", "cube"}


def test_measures_that_the_experiment_no_longer_has_are_left_out(file: Path) -> None:
    more = DICE.replace("{points: {}}", "{points: {}}, {pips: {}}").replace(":draws", ":draws_pips")
    file.write_text(more)
    record("--only", "die=cube", "--out", "first")
    assert set(recorded().frame["measure"]) == {"points", "pips"}
    file.write_text(DICE)
    told = record("--only", "die=coin", "--out", "second")
    assert "8 rows of cells" in told and "8 rows are left out, since the experiment no longer has their" in told
    assert set(recorded().frame["measure"]) == {"points"} and set(recorded().frame["die"]) == {"coin", "cube"}


RUNS = """\
title: Memories
shows: Steps with a memory.
system: personalize
settings: {houses: 2, seed: 9700, max_steps: 5, objects: [4, 4], misplaced: [2, 2], memory.meaning: false}
axes:
  planner: {lookup: {planner: memory_lookup}, brief: {planner: memory_lookup, max_steps: 4}}
runs:
  demonstrations: {settings: {planner: demonstrator}, axes: [], learns: true}
  test: {memory: demonstrations}
measures: [steps]
"""


@pytest.mark.parametrize(
    "change, kept",
    [
        ({}, True),
        ({"defaults.agent.max_plans": 77}, False),
        ({"defaults.agent.gone": 1}, True),
        ({"settings.demonstrations.tasks.houses": 3}, False),
        ({"settings.test, lookup.agent.gone": 1}, False),
        ({"defaults": {}}, False),
        ({"settings.test, lookup.memory.from": ["demonstrations", 1]}, False),
        ({"settings.demonstrations.memory.meaning": True}, False),
        ({"defaults.memory": {}, "settings.test, lookup.memory": {}}, True),
    ],
)
def test_runs_stay_if_they_would_be_played_with_the_same_settings(
    change: dict[str, object], kept: bool, file: Path
) -> None:
    file.write_text(RUNS)
    record("--only", "planner=lookup", "--out", "first")
    table = Path("results/dice.json")
    header = json.loads(table.read_text())
    for path, value in change.items():
        *outer, last = path.split(".")
        functools.reduce(operator.getitem, outer, header)[last] = value
    # As of a run that was recorded before it was finished.
    csv = Path("results/dice.csv")
    csv.write_text("\n".join(csv.read_text().splitlines()[:2]) + "\n")
    table.write_text(json.dumps(header | {"rows": 1, "missing_episodes": 1}))
    told = record("--only", "planner=brief", "--out", "first")
    now = recorded().header
    assert ("1 rows of cells" in told, "1 rows are left out" in told) == (kept, not kept)
    assert (now.rows, now.missing_episodes) == ((3, 1) if kept else (2, 0))
    assert now.settings.keys() == {"demonstrations", "test, brief", *(["test, lookup"] if kept else [])}
    assert now.episodes.commits == (now.made["commit"],)
