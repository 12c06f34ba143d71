"""Describes what results depend on besides their settings: code, software and machine."""

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
    """Return what a file of results was made with.

    Call this when the work starts, since the code may change while it runs.

    Returns:
        ``commit``: commit of the checkout that this runs from, or None. ``changed``: whether the code differs from the
        commit, or None. ``command``: the command line, with absolute paths reduced to their last part. ``date``: UTC,
        ISO 8601. ``software``, ``machine``: see ``software_versions`` and ``describe_machine``.
    """
    commit, changed = _checkout()
    made = {"commit": commit, "changed": changed, "command": _command(), "date": now()}
    return {**made, "software": software_versions(), "machine": describe_machine()}


def _checkout() -> tuple[str | None, bool | None]:
    """Return the commit, and whether files other than results and documents differ from it."""
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
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def now() -> str:
    """Return the current time, UTC, ISO 8601 to the second."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def describe_machine() -> dict[str, str | int]:
    """Return the processor, usable cores, operating system, Python version, and GPUs if there are any."""
    found: dict[str, str | int] = {
        "processor": _processor_name(),
        "cores": usable_cores(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    return found | ({"gpus": gpus} if (gpus := _gpu_names()) else {})


def usable_cores() -> int:
    """Return the number of cores that this process may use, limited by its affinity and by a container's quota."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, math.ceil(_cgroup_cores(Path("/sys/fs/cgroup")) or cores)))


def _cgroup_cores(cgroup: Path) -> float | None:
    """Return the number of cores that a control group grants, as seen in a container; None without a limit."""
    for files in (["cpu.max"], ["cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"]):
        try:
            quota, period = " ".join((cgroup / file).read_text(encoding="ascii") for file in files).split()
            # Without a limit the quota is "max", or -1 in version 1.
            return int(quota) / int(period) if quota != "max" and int(quota) > 0 else None
        except (OSError, ValueError, ZeroDivisionError):
            continue
    return None


def nvidia_cards() -> list[Path]:
    """Return the device files of NVIDIA GPUs."""
    return sorted(Path("/dev").glob("nvidia[0-9]*"))


def _gpu_names() -> str:
    """Return the names of the GPUs that models run on.

    Importing torch takes seconds, so it is only imported if there is a GPU.
    """
    if "torch" not in sys.modules and not nvidia_cards():
        return ""
    try:
        import torch
    except ImportError:
        return ""
    return ", ".join(torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count()))


def _processor_name() -> str:
    """Return the processor's name, which Linux tells only in a file."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
