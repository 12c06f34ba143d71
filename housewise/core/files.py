"""Writes files atomically, and opens untrusted files safely."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from housewise.core.errors import UserError

# Bytes that are read first to find the last line of a file.
_TAIL = 1 << 14
LARGEST = 1 << 30
"""Maximum size in bytes of a file that is read whole; far larger than any record, memory or settings file."""


def check_writable(folder: Path) -> None:
    """Check that files can be written to a folder, which may not exist yet; the folder is left as it is.

    Raises:
        UserError: If they cannot.
    """
    place = folder
    try:
        while not os.path.lexists(place) and place != place.parent:
            place = place.parent
        # The probe has no name that another program could take for a partial file of a killed one, and remove.
        with tempfile.TemporaryFile(dir=place, prefix=".", buffering=0) as probe:
            probe.write(bytes(4096))
            os.fsync(probe.fileno())
    except OSError as error:
        raise UserError(f"{folder}: cannot be written to ({error.strerror}); choose another folder") from error


def check_writable_file(path: Path | None) -> Path | None:
    """Check that a file can be written, as the callback of an option that names it; an existing file is left as it is.

    Raises:
        UserError: If it cannot.
    """
    if path is not None:
        if path.is_dir():
            raise UserError(f"{path}: is a folder; name a file")
        check_writable(path.parent)
    return path


def check_folder(folder: Path) -> None:
    """Check that a folder has no entries that could redirect what is written to it.

    Raises:
        UserError: If the folder has a link that leads out of it, a pipe or a device; the message names it.
    """
    root = folder.resolve()
    for place, folders, files in os.walk(folder):
        for path in [Path(place, name) for name in (*folders, *files)]:
            try:
                kind = path.lstat().st_mode
                leads_out = stat.S_ISLNK(kind) and not path.resolve().is_relative_to(root)
            except FileNotFoundError:  # another program has just removed it
                continue
            except (OSError, RuntimeError):  # links that lead to each other
                leads_out = True
            if leads_out:
                raise UserError(f"{path}: is a link that leads out of {folder}; remove it, or choose another folder")
            if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISLNK(kind)):
                raise UserError(f"{path}: is neither a file nor a folder; remove it, or choose another folder")
        # Hidden folders, such as .venv, belong to other programs; nothing is written there.
        folders[:] = [name for name in folders if not name.startswith(".")]


@contextlib.contextmanager
def atomic_output(path: Path) -> Iterator[Path]:
    """Yield a temporary path for a file or folder, which is renamed on success and removed on failure.

    Args:
        path: Final path.

    Raises:
        UserError: If the path exists already, or cannot be created.
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


def remove_partial(folder: Path) -> None:
    """Remove the unfinished files that killed programs left in a locked folder, not in its subfolders."""
    for path in [*folder.glob(".*.partial")]:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def finalize_files(folder: Path) -> None:
    """Give files that a library wrote the permissions of new files, and flush them to the disk.

    Some libraries make their files readable only by the owner, whatever the umask (safetensors since 0.8).

    Raises:
        OSError: If the folder cannot be written to.
    """
    probe = folder / f".{secrets.token_hex(8)}.partial"
    try:
        with open_new(probe, "wb") as stream:
            permissions = stat.S_IMODE(os.fstat(stream.fileno()).st_mode)
    finally:
        probe.unlink(missing_ok=True)
    for path in folder.rglob("[!.]*"):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as stream:
                path.chmod(permissions | stat.S_IMODE(os.fstat(stream.fileno()).st_mode))
                os.fsync(stream.fileno())


def open_regular(path: Path, largest: int = LARGEST) -> IO[bytes]:
    """Open a regular file to read bytes, and refuse anything else at once.

    An untrusted folder may contain a pipe, for which open() waits forever, or a link to a device without an end.

    Args:
        path: Path of the file; links are followed.
        largest: Maximum size in bytes.

    Raises:
        OSError: If the file cannot be opened, is not a regular file, or is too large.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if found.st_size > largest:
            raise _too_large(path, largest)
        return open(descriptor, "rb")  # noqa: PTH123 - there is no Path of a descriptor
    except BaseException:
        os.close(descriptor)
        raise


def read_bytes(path: Path, largest: int = LARGEST) -> bytes:
    """Read a regular file; see ``open_regular``."""
    with open_regular(path, largest) as stream:
        # The file may have grown since it was opened.
        content = stream.read(largest + 1)
    if len(content) > largest:
        raise _too_large(path, largest)
    return content


def read_end_lines(path: Path) -> tuple[bytes, bytes]:
    """Read the first and the last line of a regular file without what lies between; see ``open_regular``.

    Returns:
        Both lines without their line feeds; the same line twice if the file has one line.
    """
    with open_regular(path) as stream:
        first = stream.readline()
        end = stream.seek(0, os.SEEK_END)
        size, tail = _TAIL, b""
        # The line's own feed is not the end of another one.
        while len(tail) < end and b"\n" not in tail[:-1]:
            stream.seek(max(0, end - size))
            tail, size = stream.read(size), 4 * size
    return first.removesuffix(b"\n"), tail.removesuffix(b"\n").rpartition(b"\n")[2]


def _too_large(path: Path, largest: int) -> OSError:
    return OSError(errno.EFBIG, f"larger than {largest >> 20} MB", str(path))


def find_paths(folder: Path, pattern: str) -> list[Path]:
    """Find the paths in a folder that match a pattern, sorted, without names that begin with a dot.

    Operating systems and editors leave such files: ``.DS_Store``, ``._ada.yaml``, ``.ipynb_checkpoints``.

    Args:
        folder: Folder to search; it may be missing.
        pattern: Pattern of ``Path.glob``.
    """
    found = folder.glob(pattern)
    return sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts))


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file; see ``write_bytes``."""
    write_text(path, json.dumps(content, indent=1) + "\n")


def write_text(path: Path, content: str) -> None:
    """Write a text file in UTF-8; see ``write_bytes``."""
    write_bytes(path, content.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically: a crash or a full disk leaves the old file or the new one.

    A link of that name is replaced by the file, since an untrusted folder must not redirect what is written.

    Raises:
        UserError: If the disk refuses the file.
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
    """Open a file that must not exist yet, not even as a link."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return open(os.open(path, flags, 0o666), mode, encoding=encoding)  # noqa: PTH123 - there is no Path of a descriptor
