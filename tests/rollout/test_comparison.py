"""Paired differences: against a calculation by hand, and as a user asks for them."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from housewise.core.errors import UserError
from housewise.core.record import Record
from housewise.rollout.comparison import compare
from housewise.rollout.scores import FinishedEpisode
from housewise.rollout.system import system_scores
from housewise.systems.personalize.record import HouseRecord
from tests.commands import run_module
from tests.experiments.records import make_record, save

TABLE = {f"mug {number}": "kitchen 0 table 2" for number in range(4)}


def played(task: int, run: int, rate: float, planner: str = "llm", **changes: Any) -> FinishedEpisode:
    """An episode that was so successful."""
    record = make_record(TABLE, episode=task, repetition=run, success_rate=rate, **changes)
    return record.header.model_copy(update={"agent": planner}), record.result


A = [played(1, 0, 0.25), played(1, 1, 0.5), played(2, 0, 0.0), played(2, 1, 0.5), played(3, 0, 1.0), played(9, 0, 1.0)]
B = [
    played(1, 0, 0.75),
    played(1, 1, 0.5),
    played(2, 0, 0.25),
    played(2, 1, 1.0),
    played(3, 0, 0.75),
    played(8, 0, 0.0),
]


def test_equal_to_a_calculation_by_hand() -> None:
    found = compare(A, B)
    assert (found.episodes, found.common, found.tasks) == ((6, 6), 5, 3)
    assert found.only_a == ["Merom_1_int-0009, run 0"] and found.only_b == ["Merom_1_int-0008, run 0"]
    success = found.differences[0]
    # Differences in percent: task 1: 50, 0; task 2: 25, 50; task 3: -25. Their mean is 100 / 5 = 20.
    assert success.figure == "success, %"
    assert (success.a, success.b, success.mean) == pytest.approx((45, 65, 20))
    assert (success.higher, success.same, success.lower) == (3, 1, 1)
    # Off the mean: 30, -20; 5, 30; -45. Summed by task: 10, 35, -45; their squares: 100 + 1225 + 2025 = 3350.
    # Times 3 / (3 - 1): 5025, whose root is 70.8872; over the five episodes: 14.1774.
    assert success.error == pytest.approx(14.1774, abs=1e-4)
    # Student's t of two degrees of freedom, 97.5 %: 4.302653 (any table has it). 14.1774 times that: 61.0004.
    assert success.degrees == 2
    assert (success.low, success.high) == pytest.approx((20 - 61.0004, 20 + 61.0004), abs=1e-3)


def tried(task: int, succeeded: int, actions: int) -> FinishedEpisode:
    """An episode in which some of the actions succeeded."""
    return played(task, 0, 0.5, statuses=("succeeded",) * succeeded + ("failed",) * (actions - succeeded))


def test_means_are_weighted_as_in_the_metrics() -> None:
    a, b = [tried(1, 1, 1), tried(2, 4, 8), tried(3, 3, 30)], [tried(1, 0, 1), tried(2, 6, 8), tried(3, 3, 30)]
    (found,) = [each for each in compare(a, b).differences if each.figure == "executable, %"]
    # The mean without weights would be 25 % lower in B.
    assert (found.a, found.b, found.mean) == pytest.approx((100 * 8 / 39, 100 * 9 / 39, 100 / 39))
    assert (found.higher, found.same, found.lower) == (1, 1, 1)
    (executability,) = [score for score in system_scores("personalize") if score.name == "executability"]
    assert found.a == pytest.approx(100 * executability.mean([result for _, result in a]))


def test_runs_of_one_task_have_no_error_over_tasks() -> None:
    success = compare(A[:2], B[:2]).differences[0]
    assert success.mean == pytest.approx(25) and (success.error, success.high, success.degrees) == (None, None, 0)


def test_one_episode_has_no_interval() -> None:
    success = compare(A[:1], B[:1]).differences[0]
    assert (success.mean, success.error, success.low, success.high) == (pytest.approx(50), None, None, None)


def test_that_nobody_succeeded_is_told() -> None:
    nobody = [played(1, 0, 0.0)]
    assert (found := compare(nobody, nobody).differences[0]).figure.startswith("success") and found.a == found.b == 0


def test_other_tasks_of_one_name_are_not_paired() -> None:
    header, result = played(1, 0, 1.0)
    placements = {**header.initial_state["placements"], "mug 0": "kitchen 0 shelf 1"}
    elsewhere = header.model_copy(update={"initial_state": {**header.initial_state, "placements": placements}})
    found = compare(A, [(elsewhere, result), *B[1:]])
    assert found.common == 4 and found.other_tasks == ["Merom_1_int-0001, run 0"]
    with pytest.raises(UserError, match="not of the same task"):
        compare(A[:1], [(elsewhere, result)])
    with pytest.raises(UserError, match="no episode in common"):
        compare(A[:1], B[-1:])


def test_what_differs_beyond_who_plays_is_a_warning() -> None:
    assert compare(A, [played(1, 0, 0.5, planner="scripted")]).warnings == []
    header, result = played(1, 0, 0.5)
    found = compare(A, [(header.model_copy(update={"settings": {"world": {"max_steps": 200}}}), result)])
    assert found.settings["max_steps"] == ("1000", "200")
    assert "max_steps: 1000 against 200" in found.warnings[0]
    assert "more than once" in compare([*A, A[0]], B).warnings[0]


def compared(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return run_module("housewise", ["compare", *arguments], {**os.environ, "COLUMNS": "80"})


def saved(folder: Path, episodes: list[FinishedEpisode], **changes: Any) -> Path:
    for header, result in episodes:
        events = make_record(TABLE).record.events
        record = Record(header.model_copy(update=changes), events, result)
        save(HouseRecord.from_record(record, folder), folder / "episodes")
    return folder


def test_on_the_command_line(tmp_path: Path) -> None:
    a, b = saved(tmp_path / "a", A), saved(tmp_path / "b", B, agent="scripted")
    ended = compared(a, b, "--json", tmp_path / "c.json")
    assert ended.returncode == 0, ended.stderr
    assert "in common: 5 episodes of 3 tasks" in ended.stdout
    assert "only in A: Merom_1_int-0009, run 0" in ended.stdout
    (row,) = [line for line in ended.stdout.splitlines() if line.startswith("success, %")]
    assert re.split(r"\s{2,}", row.strip())[1:] == ["45.0", "65.0", "+20.0", "14.2", "-41.0 to +81.0", "3 1 1"]
    told = json.loads((tmp_path / "c.json").read_text())
    assert told["common"] == 5 and told["differences"][0]["mean"] == pytest.approx(20)
    short = saved(tmp_path / "short", A, settings={"world": {"max_steps": 200}})
    assert "\nwarning: " in (said := compared(a, short).stdout) and "max_steps: 1000 against 200" in said
    both = saved(saved(tmp_path / "both", A[:1]), B[1:2], agent="scripted")
    for wrong, said in ((both, "holds 2 experiments"), (tmp_path, "holds"), (tmp_path / "no", "no such folder")):
        refused = compared(a, wrong)
        assert refused.returncode == 2 and said in refused.stderr and "Traceback" not in refused.stderr


def test_damaged_records_that_are_left_out_are_named(tmp_path: Path) -> None:
    a, b = saved(tmp_path / "a", A), saved(tmp_path / "b", B)
    damaged = sorted((b / "episodes").glob("*.jsonl"))[0]
    damaged.write_text(damaged.read_text()[:40])
    ended = compared(a, b)
    assert ended.returncode == 0 and ended.stderr.startswith(f"note: {b}: Left out: {damaged}: line 1 is not a record")


def test_notebooks_show_the_table_and_the_settings_that_differ() -> None:
    shown = compare(A, B, ("<first>", "second"))._repr_html_()
    assert "A: &lt;first&gt;; B: second; 5 episodes in common" in shown
    assert "<tr><td>success, %</td><td>45.0</td><td>65.0</td><td>+20.0</td>" in shown and "<td>3 1 1</td>" in shown
    assert all(f"<p>{warning}</p>" in shown for warning in compare(A, B).warnings)
