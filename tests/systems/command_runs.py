"""Runs of systems by the command line, and their records."""

import os
from functools import partial
from pathlib import Path
from typing import Any

from housewise.rollout.record_reader import read_record
from tests.commands import one_line, run_module
from tests.in_process import call_housewise
from tests.language.conftest import ChatServer

NEVER = "http://127.0.0.1:1/v1"
"""Address where no server answers."""
CLOCKS = ("seconds", "time", "id", "derived_from")
"""What ends in these depends on when it was written: a note's id is made of its time as well."""
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
"""A small custom task of STARS."""


def environment(**more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("HOUSE", "OPENAI"))}
    return kept | {"COLUMNS": "200"} | more


def run_housewise(*words: object, code: int = 0, input: str = "") -> str:
    """Run ``housewise``. Return its output, or its error output if an error is expected."""
    done = run_module("housewise", words, environment(), input=input)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr if code else done.stdout


def run_system(system: str, *words: object, code: int = 0, input: str = "") -> str:
    """Run ``housewise run``; see run_housewise."""
    return run_housewise("run", "--system", system, *words, code=code, input=input)


def refusal(system: str, *words: object) -> str:
    """Return the line with which ``housewise run`` refuses words before anything is played."""
    return one_line(call_housewise("run", "--system", system, *words))


adapt = partial(run_system, "adapt")
stars = partial(run_system, "stars")
basis = partial(run_system, "basis")


def asking(server: ChatServer, *words: object) -> list[object]:
    """Return options that ask the chat model of a server."""
    return ["--model", "m", "--base-url", server.url, *words]


def record_of(folder: Path, name: str = "organize-office-run0") -> Any:
    return read_record(folder / "episodes" / f"{name}.jsonl")


def scores(folder: Path, name: str) -> Any:
    return record_of(folder, f"{name}-run0").result.scores


def contents(out: Path) -> dict[str, Any]:
    """What the records of a run say, apart from clocks and how often an episode was begun."""
    return {path.name: without_clocks(read_record(path)) for path in sorted((out / "episodes").glob("*.jsonl"))}


def without_clocks(record: Any) -> Any:
    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items() if not key.endswith(CLOCKS)}
        return [plain(each) for each in value] if isinstance(value, list) else value

    return plain([event.model_dump(mode="json") for event in (*record.events, record.result)])
