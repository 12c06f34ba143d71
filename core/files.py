"""Files that are written whole or not at all, and folders that one program writes to at a time."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from filelock import FileLock, Timeout

from housewise.core.errors import UserError


@contextlib.contextmanager
def alone(folder: Path, patience: float = 0.0) -> Iterator[None]:
    """Keep other programs from writing to a folder; one that is killed no longer does.

    Args:
        folder: made when it is missing.
        patience: seconds to wait for another program.

    Raises:
        UserError: when another one is still at it then.
    """
    lock = FileLock(folder / ".lock")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=patience)
    except Timeout:
        told = (
            f"has been writing there for {patience:g} s; wait for it, or end it"
            if patience
            else "is writing there; wait for it, or choose another folder"
        )
        raise UserError(f"{folder}: another program {told}") from None
    except OSError as error:
        raise UserError(f"{folder}: cannot be written to ({error.strerror}); choose another folder") from error
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """Where to make a file or a folder that has its own name only when it is whole; what is cut off leaves nothing.

    Args:
        path: where it is in the end.

    Raises:
        UserError: when something is there already, or it cannot be made.
    """
    if path.exists() or path.is_symlink():
        raise UserError(f"{path}: is there already; delete it, or choose another place with --out")
    partial = path.with_name(f".{secrets.token_hex(8)}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path}: cannot be made ({error.strerror}); choose another place with --out") from error
    try:
        yield partial
        partial.rename(path)
    finally:
        if partial.is_dir():
            shutil.rmtree(partial, ignore_errors=True)
        else:
            partial.unlink(missing_ok=True)


def find_paths(folder: Path, pattern: str) -> list[Path]:
    """Find what matches a pattern in a folder, in alphabetical order, without names that begin with a dot.

    Systems and editors leave such files and folders: ``.DS_Store``, ``._ada.yaml``, ``.ipynb_checkpoints``.

    Args:
        folder: where to look; nothing is found where there is none.
        pattern: as Path.glob takes it.
    """
    found = folder.glob(pattern)
    return sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts))


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file; see write_text."""
    write_text(path, json.dumps(content, indent=1) + "\n")


def write_text(path: Path, content: str) -> None:
    """Write a text file in UTF-8; see write_bytes."""
    write_bytes(path, content.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that a crash or a full disk leaves the old one or the new one, never half of one.

    A link of that name is replaced by the file: a folder that somebody else made must not say where else is written.

    Raises:
        UserError: when the disk does not take it.
    """
    partial = path.with_name(f".{secrets.token_hex(8)}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open_new(partial, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror}); make room or choose another folder") from error


def open_new(path: Path, mode: str, encoding: str | None = None) -> IO[Any]:
    """Open a file that must not be there yet, not even as a link."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return open(os.open(path, flags, 0o666), mode, encoding=encoding)  # noqa: PTH123 - there is no Path of a descriptor
