"""Folders of runs: create a new one, or find the newest one."""

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
"""Folder in which folders of runs are created and looked for."""


@contextmanager
def run_folder(named: Path | None, name: str, parent: Path = RUNS) -> Iterator[Path]:
    """Yield the folder of a run: the one that the user named, else a new one.

    A new folder is removed at the end if no episode was started.

    Args:
        named: Folder that the user named, or None.
        name: Name of a new folder. A number is added if the name is taken.
        parent: Folder in which the new folder is created.

    Raises:
        UserError: The folder cannot be created.
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
    """Return a name for a run that starts now, for example ``2026-11-23-1412-scripted``."""
    # Names of agents may hold characters that a shell interprets.
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
            raise UserError(f"{folder}: cannot be created ({error.strerror}); name a folder with --out") from error
        return folder
    raise UserError(f"{parent}: is a file, and runs go into a folder of that name; name another folder with --out")


def newest_run(nested: bool, replays: bool = True) -> Path:
    """Return the folder of the run below ``runs/`` in which an episode was finished last.

    Args:
        nested: Whether runs within other folders count. A self-training counts as a whole, and an experiment by its
            single runs.
        replays: Whether replays of other runs count.

    Raises:
        UserError: No run has a finished episode.
    """
    times: dict[Path, float] = {}
    for path in find_paths(RUNS, "*/**/episodes/*.jsonl" if nested else "*/episodes/*.jsonl"):
        run = path.parent.parent
        times[run] = max(times.get(run, 0.0), path.stat().st_mtime)
    times = {run: time for run, time in times.items() if replays or not _is_replay(run)}
    if not times:
        raise UserError(f"no run with finished episodes in {RUNS.absolute()}; name the folder of one")
    newest = max(times, key=lambda run: times[run])
    trainings = (folder for folder in newest.parents if (folder / "summary.json").is_file() and RUNS in folder.parents)
    return next(trainings, newest)


def shell_command(command: str, folder: Path) -> str:
    """Return a command on a folder that can be pasted into a shell."""
    return f"housewise {command} {shlex.quote(str(folder))}"


def _is_replay(folder: Path) -> bool:
    try:
        content = read_json(folder / "config.json")
        # Settings of version 1 have no sections.
        return bool(content.get("agent", content)["planner"] == "replay")
    except (UserError, ValueError, LookupError, TypeError, AttributeError):
        return False
