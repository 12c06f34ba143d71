"""Plays STARS as a user does, and a small task of a user's own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from housewise.rollout.record_reader import read_record
from tests.commands import run_module
from tests.language.conftest import ChatServer

NEVER = "http://127.0.0.1:1/v1"
"""Where nothing answers."""
GOAL = "If the object is a {} then the goal is that the object is in the {}."


ATTIC = """
name: tidy attic
room: office
fixtures: [desk, drawer, bookshelf]
closed: [drawer]
places:
  - place: desk
    relation: "on"
    subtask: clear
    objects:
      - {name: pen, kind: stationery, wanted: [drawer]}
      - {name: novel, kind: book, wanted: [bookshelf]}
"""


def environment(**more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("HOUSE", "OPENAI"))}
    return kept | {"COLUMNS": "200", "OMP_NUM_THREADS": "1"} | more


def stars(*words: object, code: int = 0, input: str = "") -> str:
    """Run a command; its output, or what it complains of."""
    done = run_module("housewise", ["run", "--system", "stars", *words], environment(), input=input)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr if code else done.stdout


def asking(server: ChatServer, *words: object) -> list[object]:
    return ["--model", "m", "--base-url", server.url, *words]


def record_of(folder: Path, name: str = "organize-office-run0") -> Any:
    return read_record(folder / "episodes" / f"{name}.jsonl")
