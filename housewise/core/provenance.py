"""What results depend on beside their settings."""

from __future__ import annotations

import math
import os
import platform
import re
import shlex
import subprocess
import sys
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from housewise.core.urls import redact_passwords

_LIBRARIES = (
    "numpy",
    "networkx",
    "gymnasium",
    "embreex",
    "habitat_sim",
    "trimesh",
    "torch",
    "transformers",
    "llguidance",
    "openai",
)
_LEADING_FOLDERS = re.compile(r"(^|[=,])(?:~[^/=,]*|\.\.)?/(?:[^=,]*/)?(?=[^/])")
_NOT_CODE = (":(exclude)results", ":(exclude)*.md")


def provenance() -> dict[str, Any]:
    """What a file of figures was made with; whoever works long asks before, as the code is what it was at the start.

    Returns:
        ``commit``: of the checkout that this runs from, None outside of one. ``changed``: whether the code there is
        another than the commit's, None without a commit. ``command``: the command line, of paths that lead elsewhere
        the last name alone. ``date``: UTC, ISO 8601. ``software``, ``machine``: see the functions of these names.
    """
    commit, changed = _checkout()
    made = {"commit": commit, "changed": changed, "command": _command(), "date": now()}
    return {**made, "software": software_versions(), "machine": describe_machine()}


def _checkout() -> tuple[str | None, bool | None]:
    """The commit, and whether files differ from it; figures and what is told of them do not count."""
    here = Path(__file__)
    try:
        # An environment may lie in a checkout of something else.
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
    """Versions of what results depend on, of those installed."""
    found = {}
    for package in ("housewise", *_LIBRARIES):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def now() -> str:
    """This moment, UTC, ISO 8601 to the second."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def describe_machine() -> dict[str, str | int]:
    """The computer: its processor, the cores that this process may use, its system and Python, and its GPUs if any."""
    found: dict[str, str | int] = {
        "processor": _processor_name(),
        "cores": usable_cores(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    return found | ({"gpus": gpus} if (gpus := _gpu_names()) else {})


def usable_cores() -> int:
    """Cores that this process may use: those that it is bound to, or fewer where a container's quota allows fewer."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, math.ceil(_cgroup_cores(Path("/sys/fs/cgroup")) or cores)))


def _cgroup_cores(cgroup: Path) -> float | None:
    """How many cores' time a control group grants, as a container sees its own; None for all of it."""
    for files in (["cpu.max"], ["cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"]):
        try:
            quota, period = " ".join((cgroup / file).read_text(encoding="ascii") for file in files).split()
            # Without a limit it is "max", or -1 in version 1.
            return int(quota) / int(period) if quota != "max" and int(quota) > 0 else None
        except (OSError, ValueError, ZeroDivisionError):
            continue
    return None


def nvidia_cards() -> list[Path]:
    """NVIDIA's devices, as the system has them."""
    return sorted(Path("/dev").glob("nvidia[0-9]*"))


def _gpu_names() -> str:
    """Names of the GPUs that models run on; torch takes seconds to import, and is asked only where there is a card."""
    if "torch" not in sys.modules and not nvidia_cards():
        return ""
    try:
        import torch
    except ImportError:
        return ""
    return ", ".join(torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count()))


def _processor_name() -> str:
    """The processor's name; Linux alone tells it only in a file."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
