"""Plays ADAPT as a user does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from housewise.rollout.record_reader import read_record
from tests.commands import run_module


def environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("HOUSE", "OPENAI"))}
    return kept | {"COLUMNS": "200", "OMP_NUM_THREADS": "1"}


def adapt(*words: object, code: int = 0, input: str = "") -> str:
    """Run a command; its output, or what it complains of."""
    done = run_module("housewise", ["run", "--system", "adapt", *words], environment(), input=input)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr if code else done.stdout


def record_of(folder: Path, name: str) -> Any:
    return read_record(folder / "episodes" / f"{name}.jsonl")


def scores(folder: Path, name: str) -> Any:
    return record_of(folder, f"{name}-run0").result.scores
