"""What is the same in every use of the libraries behind local models: how to install, hush and read them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError

from housewise.core.errors import UserError
from housewise.core.files import check_writable, finalize_files

INSTALL = "pip install 'housewise[local]'"

# Programs in a model's folder are never run, nor is anybody asked whether they may.
NO_REMOTE_CODE = {"trust_remote_code": False}

# What a folder's files raise that are damaged or of another kind; pickled weights are read as tensors alone.
UNREADABLE = (
    *(ImportError, OSError, ValueError, TypeError, AttributeError, LookupError, EOFError, RuntimeError),
    UnpicklingError,
)

_OF_WRITING = re.compile(r"writ(e|ing)\b|unexpected pos|os error|iostream|no space", re.IGNORECASE)


def is_out_of_memory(error: Exception) -> bool:
    """Whether a failure of torch's or Python's is one of memory that does not suffice."""
    words = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in words or "can't allocate memory" in words


def first_line(error: Exception) -> str:
    """The beginning of an error's message, or its kind where it has none."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:200]


@contextmanager
def convert_save_errors(folder: Path, target: Path | None = None) -> Iterator[None]:
    """Save weights in a folder, which others can read as well as all other files; see core.files.settle_files.

    Args:
        folder: where they are written.
        target: where they are in the end, for the message; the same by default.

    Raises:
        UserError: when the disk does not take them.
    """
    from safetensors import SafetensorError

    try:
        yield
        finalize_files(folder)
    except Exception as error:
        # torch raises a RuntimeError, as for all that goes wrong in it, and the tokenizers library a bare Exception.
        if not isinstance(error, (OSError, SafetensorError)) and not _OF_WRITING.search(str(error)):
            raise
        raise UserError(
            f"{target or folder}: cannot be written ({_disk_error(folder, error)}); make room and run the same command "
            "again, or choose another folder"
        ) from error


def _disk_error(folder: Path, error: Exception) -> str:
    """Why weights could not be saved: torch tells that it could not, and not why."""
    try:
        check_writable(folder)
    except UserError as refusal:
        error = refusal.__cause__ if isinstance(refusal.__cause__, OSError) else error
    return getattr(error, "strerror", None) or first_line(error)


@contextmanager
def silence_transformers() -> Iterator[None]:
    """Keep transformers' progress bars and advice off the terminal, and what its authors have to tell PEFT's."""
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
