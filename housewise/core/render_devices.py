"""CUDA devices that simulators render on, and how simulators share them."""

from __future__ import annotations

import ctypes
import json
import re
import subprocess
import sys
from functools import lru_cache
from itertools import count
from typing import Any, Literal

from housewise.core.hardware import nvidia_cards

ANY = -1
"""Device number for the first device that EGL offers, which is software rendering without a GPU."""

_MAX_DEVICES = 1024
# Constants of the extensions EGL_EXT_device_query and EGL_NV_device_cuda.
_CUDA_DEVICE, _MAX_EGL_DEVICES = 0x323A, 64
_LIST = "from housewise.core.render_devices import egl_cuda_devices; print(egl_cuda_devices())"


def parse_gpu_setting(value: Any) -> Any:
    """Parse the setting ``gpu``: a number, several numbers, or ``auto``.

    Args:
        value: Value from a file or the command line, such as ``0``, ``"0,1"`` or ``"auto"``.

    Raises:
        ValueError: If the value is anything else.
    """
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,9}(\s*,\s*\d{1,9})*\s*", value):
        numbers = tuple(int(number) for number in value.split(","))
        value = numbers if len(numbers) > 1 else numbers[0]
    if value == "auto":
        return value
    several = value if isinstance(value, list | tuple) else [value]
    least = 0 if several is value else ANY
    if several and all(type(number) is int and least <= number < _MAX_DEVICES for number in several):
        return tuple(value) if several is value else value
    raise ValueError("write the number of a CUDA device (-1 takes any), several as in [0,1], or auto for all there are")


GpuSetting = int | tuple[int, ...] | Literal["auto"]
"""CUDA devices to render on: a number (-1 for the first that EGL offers), several that simulators take in turn, or
``auto`` for all that EGL offers."""

_turns = count()


def set_device_turn(number: int) -> None:
    """Set which device the next simulator of this process gets.

    A process needs this if it is neither a program nor a member of a process pool.

    Args:
        number: How many processes on this machine take a device before this one.
    """
    global _turns
    _turns = count(number)


def next_device(gpu: GpuSetting) -> int:
    """Return the device of the next simulator.

    The simulators of a process, and the processes of a program, take the devices in turn.
    """
    # This import is slow, and help does not need it.
    from housewise.core.processes import process_number

    devices = resolve_devices(gpu)
    return devices[(process_number() + next(_turns)) % len(devices)]


def resolve_devices(gpu: GpuSetting) -> tuple[int, ...]:
    """Return the device numbers that a setting stands for on this machine; at least one."""
    if gpu == "auto":
        return cuda_devices() or (ANY,)
    return (gpu,) if isinstance(gpu, int) else gpu


@lru_cache(maxsize=1)
def cuda_devices() -> tuple[int, ...]:
    """Return the CUDA numbers of the devices that EGL can render on.

    The query runs in a separate process, because a broken driver may end the process that loads it.
    """
    if not nvidia_cards():
        return ()
    done = subprocess.run([sys.executable, "-c", _LIST], capture_output=True, text=True, check=False)
    return tuple(json.loads(done.stdout)) if done.returncode == 0 else ()


def egl_cuda_devices() -> list[int]:
    """Return the CUDA numbers of EGL's devices in ascending order.

    Raises:
        OSError: If EGL is not installed.
    """
    egl = ctypes.CDLL("libEGL.so.1")
    egl.eglGetProcAddress.restype = ctypes.c_void_p
    addresses = [egl.eglGetProcAddress(name) for name in (b"eglQueryDevicesEXT", b"eglQueryDeviceAttribEXT")]
    if not all(addresses):
        return []
    pointer, number = ctypes.c_void_p, ctypes.c_ssize_t
    query = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_int, pointer, ctypes.POINTER(ctypes.c_int))(addresses[0])
    attribute = ctypes.CFUNCTYPE(ctypes.c_uint, pointer, ctypes.c_int, ctypes.POINTER(number))(addresses[1])
    devices, found = (pointer * _MAX_EGL_DEVICES)(), ctypes.c_int()
    query(_MAX_EGL_DEVICES, devices, ctypes.byref(found))
    numbers, value = set(), number()
    for device in devices[: found.value]:
        if attribute(device, _CUDA_DEVICE, ctypes.byref(value)):
            numbers.add(int(value.value))
    return sorted(numbers)
