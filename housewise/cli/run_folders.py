"""Folders of runs: a new one for each, and the newest one of those that are there."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import count
from pathlib import Path

from housewise.core.errors import UserError
from housewise.core.files import find_paths
from housewise.core.text_files import read_json

RUNS = Path("runs")
"""Where folders of runs are made and looked for."""


@contextmanager
def run_folder(named: Path | None, name: str, parent: Path = RUNS) -> Iterator[Path]:
    """The folder of a run: the one that the user named, else a new one, which is gone again if no episode was begun.

    Args:
        named: the user's own choice.
        name: of a new folder; where it is taken a number is added.
        parent: where a new folder goes.

    Raises:
        UserError: when no folder can be made.
    """
    if named is not None:
        yield named
        return
    folder = _new_folder(name, parent)
    try:
        yield folder
    finally:
        if not find_paths(folder, "**/*.jsonl*"):
            shutil.rmtree(folder, ignore_errors=True)


def dated_name(kind: str) -> str:
    """A name for a run that begins now, as in ``2026-11-23-1412-scripted``."""
    # Not all that agents are called goes well in a shell.
    name = re.sub(r"[^A-Za-z0-9_.+-]+", "-", kind.rpartition("/")[2])
    return f"{datetime.now():%Y-%m-%d-%H%M}-{name}".rstrip("-")


def _new_folder(name: str, parent: Path) -> Path:
    for number in count(1):
        folder = parent / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            if parent.is_dir():
                continue
            break
        except OSError as error:
            raise UserError(f"{folder}: cannot be made ({error.strerror}); name a folder with --out") from error
        return folder
    raise UserError(f"{parent}: is a file, and runs go into a folder of that name; name another folder with --out")


def newest_run(of_several: bool, replays: bool = True) -> Path:
    """The folder in ``runs/`` in which an episode was finished last.

    Args:
        of_several: whether folders that hold several runs count, as self-training leaves them.
        replays: whether replays of other runs count.

    Raises:
        UserError: when there is none.
    """
    pattern = "**/episodes/*.jsonl" if of_several else "episodes/*.jsonl"
    times: dict[Path, float] = {}
    for folder in find_paths(RUNS, "*/"):
        finished = [path.stat().st_mtime for path in find_paths(folder, pattern)]
        if finished and (replays or not _is_replay(folder)):
            times[folder] = max(finished)
    if not times:
        raise UserError(f"no run with finished episodes in {RUNS.absolute()}; name the folder of one")
    return max(times, key=lambda folder: times[folder])


def shell_command(command: str, folder: Path) -> str:
    """A command on a folder, as it can be pasted into a shell."""
    return f"housewise {command} {shlex.quote(str(folder))}"


def _is_replay(folder: Path) -> bool:
    try:
        content = read_json(folder / "config.json")
        # Version 1 had no sections.
        return bool(content.get("agent", content)["planner"] == "replay")
    except (UserError, ValueError, LookupError, TypeError, AttributeError):
        return False
