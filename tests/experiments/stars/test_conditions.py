"""All conditions from scratch with a tiny model, as a user runs them, killed in between."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from tests.language.tiny import save_tiny_model


def start(out: Path, model: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "housewise.experiments.stars.conditions", "--out", str(out), "--model", str(model),
         "--task", "organize office", "--seeds", "1", *more],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def finished(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate(timeout=400)
    assert process.returncode == 0, errors
    return output


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.slow
def test_conditions_are_run_killed_resumed_and_tabulated(tmp_path: Path) -> None:
    model = save_tiny_model(tmp_path / "model")
    out, asked = tmp_path / "out", tmp_path / "out" / "asked.jsonl"
    killed = start(out, model)
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and not (asked.exists() and len(asked.read_text().splitlines()) > 15):
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    before = asked.read_text().rpartition("\n")[0]
    table = finished(start(out, model))
    assert asked.read_text().startswith(before)
    keys = [line["key"] for line in lines(asked)]
    assert len(keys) == len(set(keys)), "something was asked twice"
    figures = json.loads((out / "figures.json").read_text())["tasks"]["organize office"]
    assert set(figures) == {
        "TBP", "TBP+O", "ST", "STS", "STAR", "STARS", "STARS+O", "STARS*", "grounded", "grounded+S", "grounded+S+O",
        "Trial 2",
    }  # fmt: skip
    for name in ("TBP+O", "STARS+O", "grounded+S+O", "Trial 2"):
        assert figures[name][0]["completion_percent"] == 100
    assert figures["ST"][0]["completion_percent"] == pytest.approx(100 / 7)
    [second] = figures["Trial 2"]
    assert (second["total_tokens"], second["proposed"], second["words"], second["calls"]) == (0, 0, 2, 0)
    assert figures["grounded"][0]["viable_percent"] == 100
    assert "doing nothing: 14.3 %" in table
    record = lines(out / "records" / "organize_office.STARS+O.0.jsonl")
    assert [line["type"] for line in record] == ["episode", *["lesson"] * 12, "result"]
    # With all remembered a third time asks nothing at all.
    size = asked.stat().st_size
    finished(start(out, model))
    assert asked.stat().st_size == size


def test_unknown_conditions_and_ways_of_selecting_are_one_line(tmp_path: Path) -> None:
    for more, said in ((("--condition", "STARE"), "STARE"), (("--selection", "dice"), "dice")):
        process = start(tmp_path / "out", tmp_path / "model", *more)
        _, errors = process.communicate(timeout=200)
        assert process.returncode == 2 and said in errors and "Traceback" not in errors
