"""Machines that lack something: system calls that fail, by lines of C that are loaded before the C library."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

PLAYED = ["run", "--houses", "2", "--planner", "scripted", "max_steps=40"]


def failing(folder: Path, call: str, signature: str, error: str, value: str = "-1") -> dict[str, str]:
    """Variables of an environment in which a call of the C library fails.

    Args:
        folder: where the library goes.
        call: name of the function.
        signature: its parameters.
        error: what ``errno`` is then.
        value: what is returned, cast as the function's type where that is no number.
    """
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs gcc")
    kind = "void *" if value == "0" else "int "
    source, library = folder / f"{call}.c", folder / f"{call}.so"
    source.write_text(
        "#include <errno.h>\n#include <stddef.h>\n"
        f"{kind}{call}({signature}) {{ errno = {error}; return {'NULL' if value == '0' else value}; }}\n"
    )
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    return {"LD_PRELOAD": str(library)}


def housewise(
    *words: object, env: Mapping[str, str | None] | None = None, shell: str = "", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command in an environment, or as a shell does.

    Args:
        words: of the command line.
        env: variables that differ; None removes one.
        shell: what a shell does with the command, ``$@``, such as ``"exec $@ >&-"``.
        cwd: where.
    """
    changed = {**os.environ, **(env or {})}
    variables = {name: value for name, value in changed.items() if value is not None}
    command = [sys.executable, "-m", "housewise", *map(str, words)]
    if shell:
        command = ["bash", "-c", shell.replace("$@", '"$@"'), "bash", *command]
    return subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=240, env=variables, cwd=cwd, check=False
    )


def episodes(run: Path) -> int:
    """How many episodes of a run are finished."""
    return len([*run.glob("episodes/*.jsonl")])
