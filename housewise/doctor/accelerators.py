"""Check the processors that models run and learn on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from housewise.core.hardware import describe_machine, nvidia_cards
from housewise.doctor.findings import ACCELERATORS, Finding
from housewise.language.local.weights import fastest_cpu_dtype

_CGROUP_MEMORY = Path("/sys/fs/cgroup/memory.max")
_GIB = 2**30
_FIRST_WITH_BFLOAT16 = 8
"""Major number of the first CUDA capability that computes in bfloat16; torch says yes for earlier ones too."""


def check_cpu() -> list[Finding]:
    """Describe the cores and the memory."""
    here = describe_machine()
    details = f"{here['processor']}, {here['cores']} cores, {_memory() / _GIB:.0f} GiB of memory"
    return [Finding(ACCELERATORS, "CPU", "ok", details)]


def _memory(limit: Path = _CGROUP_MEMORY) -> int:
    """Return the bytes that this process may use. A container may have fewer than its machine."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    allowed = limit.read_text(encoding="ascii").strip() if limit.is_file() else ""
    return min(physical, int(allowed)) if allowed.isdigit() else physical


def check_gpus() -> list[Finding]:
    """Check which GPUs local models can run and learn on."""
    if find_spec("torch") is None:
        return [Finding(ACCELERATORS, "GPU", "missing", "torch is not installed", "pip install 'housewise[local]'")]
    import torch

    if torch.cuda.is_available():
        return [describe_gpu(torch, number) for number in range(torch.cuda.device_count())]
    return [explain_missing_gpu(torch, nvidia_cards())]


def describe_gpu(torch: Any, number: int) -> Finding:
    """Describe a GPU that can be used.

    Args:
        torch: The package torch.
        number: Number of the CUDA device.
    """
    card = torch.cuda.get_device_properties(number)
    with torch.cuda.device(number):
        precision = "bfloat16" if torch.cuda.is_bf16_supported() else "no bfloat16, but float16"
    if precision == "bfloat16" and torch.version.hip is None and card.major < _FIRST_WITH_BFLOAT16:
        precision = "bfloat16 emulated, so that dtype=float16 may be faster"
    details = f"{card.name}, {card.total_memory / _GIB:.0f} GiB, {precision}; torch {torch.__version__}"
    return Finding(ACCELERATORS, f"GPU {number}", "ok", details)


def explain_missing_gpu(torch: Any, cards: Sequence[Path]) -> Finding:
    """Explain why no GPU can be used.

    Args:
        torch: The package torch.
        cards: Device files of NVIDIA's cards.
    """
    details = f"torch {torch.__version__} sees none; models run on the CPU, in {fastest_cpu_dtype(torch)}"
    if not cards:
        return Finding(ACCELERATORS, "GPU", "missing", details)
    details = f"{', '.join(map(str, cards))} cannot be used: {details}"
    if torch.version.cuda is None:
        remedy = "pip install --force-reinstall torch"
        return Finding(ACCELERATORS, "GPU", "broken", f"{details}; it is built without CUDA", remedy)
    hidden = "CUDA_VISIBLE_DEVICES" in os.environ
    return Finding(ACCELERATORS, "GPU", "broken", details, "unset CUDA_VISIBLE_DEVICES" if hidden else "nvidia-smi")
