"""Finds the device that a local model computes on."""

from __future__ import annotations

from typing import Any

from housewise.language.base import ChatModelError


def find_device(setting: str, device: str) -> Any:
    """Find a torch device on this machine.

    Args:
        setting: Setting that named the device, for the error.
        device: ``"auto"`` for CUDA if available, or any torch device, such as ``"cpu"`` or ``"cuda:1"``.

    Returns:
        The ``torch.device``.

    Raises:
        ChatModelError: If this machine does not have the device.
    """
    import torch

    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        place = torch.device(device)
    except RuntimeError:
        raise ChatModelError(f"{setting}: is not a device; use auto, cpu or cuda") from None
    # Each kind of device has a module, except those that do not compute, such as meta.
    count = getattr(getattr(torch, place.type, None), "device_count", lambda: 0)()
    if count <= (place.index or 0):
        name = place.type.upper()
        seen = f"sees {name} devices up to {place.type}:{count - 1} alone" if count else f"sees no {name} device"
        raise ChatModelError(f"{setting}: torch {torch.__version__} {seen}; use auto or cpu")
    return place
