"""Describes the hardware of this machine, and how much of it a container grants: processor, cores and GPUs."""

from __future__ import annotations

import math
import os
import platform
import sys
from pathlib import Path


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
