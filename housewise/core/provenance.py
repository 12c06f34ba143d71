"""Describes what results depend on besides their settings: code, software, command and date."""

from __future__ import annotations

import functools
import re
import shlex
import subprocess
import sys
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from housewise.core.hardware import describe_machine
from housewise.core.redaction import redact_passwords

_LIBRARIES = (
    "numpy",
    "networkx",
    "gymnasium",
    "embreex",
    "habitat_sim",
    "trimesh",
    "unified-planning",
    "torch",
    "transformers",
    "llguidance",
    "openai",
)
_LEADING_FOLDERS = re.compile(r"(^|[=,])(?:~[^/=,]*|\.\.)?/(?:[^=,]*/)?(?=[^/])")
_NOT_CODE = (":(exclude)results", ":(exclude)*.md")


def provenance() -> dict[str, Any]:
    """Return what a file of results was made with.

    Returns:
        ``commit``: commit of the checkout that this runs from, or None. ``changed``: whether the code differs from the
        commit, or None. ``command``: the command line, with absolute paths reduced to their last part. ``date``: UTC,
        ISO 8601. ``software``, ``machine``: see ``software_versions`` and ``hardware.describe_machine``.
    """
    commit, changed = checkout()
    made = {"commit": commit, "changed": changed, "command": _command(), "date": now()}
    return {**made, "software": software_versions(), "machine": describe_machine()}


# The code may change while the program runs, which keeps what it has imported.
@functools.cache
def checkout() -> tuple[str | None, bool | None]:
    """Return the commit of the checkout that this runs from, and whether its code differs from the commit.

    Changes of results and documents do not count. Outside of a checkout, both are None.
    """
    here = Path(__file__)
    try:
        # A virtual environment may lie in the checkout of another project.
        _git(here.parent, "ls-files", "--error-unmatch", here.name)
        folder = Path(_git(here.parent, "rev-parse", "--show-toplevel"))
        return _git(folder, "rev-parse", "HEAD"), bool(_git(folder, "status", "--porcelain", "--", ".", *_NOT_CODE))
    except (OSError, subprocess.CalledProcessError):
        return None, None


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True).stdout.strip()


def _command() -> str:
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    program = ["python", "-m", spec.name] if spec is not None else [Path(sys.argv[0]).name]
    words = [redact_passwords(_LEADING_FOLDERS.sub(r"\1", word)) for word in sys.argv[1:]]
    return shlex.join([*program, *words])


def software_versions() -> dict[str, str]:
    """Return the versions of the installed packages that results depend on."""
    found = {}
    for package in ("housewise", *_LIBRARIES):
        if (installed := _version(package)) is not None:
            found[package] = installed
    return found


# Every episode records the versions; reading the metadata of a package takes a millisecond.
@functools.cache
def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def now() -> str:
    """Return the current time, UTC, ISO 8601 to the second."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
