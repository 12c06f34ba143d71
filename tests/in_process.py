"""Runs commands in the process of the test, where starting another one would take most of the time."""

import io
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer.main

from housewise.cli import main
from housewise.core.console import print_note


def call_housewise(
    *arguments: object, input: str = "", code: int | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Do what ``housewise`` does, in this process.

    Args:
        *arguments: Arguments of the command line. No run: episodes may leave threads and models behind.
        input: What the command reads.
        code: Exit code that the test expects, or None to accept any.
        **environment: Further environment variables.
    """
    words = [*map(str, arguments)]
    status: object = 0
    with pytest.MonkeyPatch.context() as patch, _captured_streams(patch, input) as (out, err):
        patch.setattr(sys, "argv", ["housewise", *words])
        # Each command says each note anew.
        print_note.cache_clear()
        for name, value in environment.items():
            patch.setenv(name, value)
        try:
            main()
        except SystemExit as ended:
            status = ended.code
        streams = [stream.buffer.getvalue().decode("utf-8") for stream in (out, err)]
    done = subprocess.CompletedProcess(words, int(status or 0), *streams)  # type: ignore[call-overload]
    assert code in (None, done.returncode), done.stdout + done.stderr
    return done


def leaf_commands() -> dict[str, Any]:
    """Return the click command of each command by its whole name."""
    from housewise.cli.app import app

    found: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [("", typer.main.get_command(app))]
    for name, command in waiting:
        if hasattr(command, "commands"):
            waiting += [(f"{name} {each}".strip(), inner) for each, inner in command.commands.items()]
        else:
            found[name] = command
    return found


@contextmanager
def _captured_streams(patch: pytest.MonkeyPatch, input: str) -> Iterator[tuple[Any, Any]]:
    """Replace the standard streams by streams in memory, and yield those that are written to."""
    given = io.TextIOWrapper(io.BytesIO(input.encode("utf-8")), encoding="utf-8")
    written = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    for name, stream in zip(("stdin", "stdout", "stderr"), (given, *written), strict=True):
        patch.setattr(sys, name, stream)
    yield written[0], written[1]


@contextmanager
def without_matplotlib() -> Iterator[None]:
    """Let imports of matplotlib fail, as if it were not installed."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("matplotlib", "matplotlib.figure"):
            patch.setitem(sys.modules, name, None)
        yield


def memory_command(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run ``housewise memory`` on a folder of memories, in a wide terminal."""
    return call_housewise("memory", *arguments, HOUSEWISE_MEMORY=str(folder), COLUMNS="200")
