"""Saving weights with the libraries behind local models, and giving their memory back."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("safetensors")

from housewise.core.errors import UserError
from housewise.language.local.libraries import convert_save_errors

_BLOCKS = """
import ctypes, resource
from housewise.language.local.libraries import release_memory

def resident():
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * resource.getpagesize()

library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.free.argtypes = [ctypes.c_void_p]
blocks = [library.malloc(100_000) for _ in range(1_000)]
for block in blocks:
    ctypes.memset(block, 1, 100_000)
for block in blocks[:-1]:
    library.free(block)
before = resident()
release_memory()
print(before - resident())
"""
"""Prints the bytes that are given back of 100 MB that were freed below a block still in use."""


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is not glibc"
)
def test_freed_memory_below_a_used_block_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", _BLOCKS], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 80_000_000


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 64 vs 0"),
        RuntimeError("PytorchStreamWriter failed writing file data/0: file write failed"),
        OSError(28, "No space left on device"),
        Exception("No space left on device (os error 28)"),
    ],
)
def test_what_cannot_be_written_is_told_in_a_line(tmp_path: Path, error: Exception) -> None:
    with pytest.raises(UserError, match=r"cannot be written .*; make room"), convert_save_errors(tmp_path):
        raise error


@pytest.mark.parametrize(
    "error", [RuntimeError("CUDA error: invalid device ordinal"), RuntimeError("out of memory"), KeyError("lora")]
)
def test_what_else_goes_wrong_is_not_blamed_on_the_disk(tmp_path: Path, error: Exception) -> None:
    with pytest.raises(type(error)), convert_save_errors(tmp_path):
        raise error
