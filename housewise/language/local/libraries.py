"""Installation hints, error conversion and logging for the libraries behind local models."""

from __future__ import annotations

import ctypes
import gc
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError

from housewise.core.errors import UserError
from housewise.core.files import check_writable, finalize_files

INSTALL = "pip install 'housewise[local]'"

# Code in a model's folder is never run, and the user is not asked to allow it.
NO_REMOTE_CODE = {"trust_remote_code": False}

# Errors raised for damaged or unsuitable files of a folder; pickled weights are read as tensors only.
UNREADABLE = (
    *(ImportError, OSError, ValueError, TypeError, AttributeError, LookupError, EOFError, RuntimeError),
    UnpicklingError,
)

_OF_WRITING = re.compile(r"writ(e|ing)\b|unexpected pos|os error|iostream|no space", re.IGNORECASE)


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error of torch or Python means that memory does not suffice."""
    words = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in words or "can't allocate memory" in words


def release_memory() -> None:
    """Give the memory of a model that is no longer used back to the system.

    torch keeps freed memory of a GPU, and the C library of Linux keeps that of the CPU between blocks still in use:
    several times what the model needs, after a training on long examples.
    """
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    if sys.platform == "linux":
        # musl's C library has no such function, and gives memory back by itself.
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, or its type if it has none."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:200]


@contextmanager
def convert_save_errors(folder: Path, target: Path | None = None) -> Iterator[None]:
    """Convert errors of saving weights in a folder, and make the files readable like others; see ``finalize_files``.

    Args:
        folder: Folder that is written.
        target: Final folder, for the message; defaults to the same.

    Raises:
        UserError: If the disk refuses the weights.
    """
    from safetensors import SafetensorError

    try:
        yield
        finalize_files(folder)
    except Exception as error:
        # torch raises a RuntimeError for any error, and the tokenizers library a bare Exception.
        if not isinstance(error, (OSError, SafetensorError)) and not _OF_WRITING.search(str(error)):
            raise
        raise UserError(
            f"{target or folder}: cannot be written ({_disk_error(folder, error)}); make room and run the same command "
            "again, or choose another folder"
        ) from error


def _disk_error(folder: Path, error: Exception) -> str:
    """Return why weights could not be saved, since torch only says that they could not."""
    try:
        check_writable(folder)
    except UserError as refusal:
        error = refusal.__cause__ if isinstance(refusal.__cause__, OSError) else error
    return getattr(error, "strerror", None) or first_line(error)


@contextmanager
def silence_transformers() -> Iterator[None]:
    """Suppress progress bars and advice of transformers, and future warnings of PEFT."""
    from transformers.utils import logging as chatter

    level, bars = chatter.get_verbosity(), chatter.is_progress_bar_enabled()
    chatter.set_verbosity_error()
    chatter.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        chatter.set_verbosity(level)
        if bars:
            chatter.enable_progress_bar()
