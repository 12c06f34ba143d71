"""Saving weights with the libraries behind local models."""

from pathlib import Path

import pytest

pytest.importorskip("safetensors")

from housewise.core.errors import UserError
from housewise.language.local.libraries import convert_save_errors


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
