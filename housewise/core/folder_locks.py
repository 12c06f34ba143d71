"""Locks folders against other programs, also on file systems without locks."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

from filelock import BaseFileLock, FileLock, SoftFileLock, Timeout

from housewise.core.console import print_note
from housewise.core.errors import UserError
from housewise.core.files import check_folder
from housewise.core.printable_text import excerpt
from housewise.core.processes import end_reimported_program

# Errors of flock on file systems without locks, such as NFS without lockd and Lustre without -o flock.
_NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS})
_LOCK_FILE = ".lock_file"


@contextlib.contextmanager
def exclusive_lock(folder: Path, patience: float = 0.0, may_hold_links: bool = False) -> Iterator[None]:
    """Lock a folder against other programs; the lock of a program that is killed is released.

    Args:
        folder: Folder to lock; it is created if it is missing.
        patience: Seconds to wait for another program.
        may_hold_links: Whether to skip ``check_folder``, because everything is written there with ``write_bytes``,
            which replaces links.

    Raises:
        UserError: If another program still holds the lock, or ``check_folder`` refuses the folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not may_hold_links:
            check_folder(folder)
        lock = _acquire_lock(folder, patience)
    except Timeout as error:
        end_reimported_program()
        problem = (
            f"has been writing there for {patience:g} s; wait for it, or end it"
            if patience
            else "is writing there; wait for it, or choose another folder"
        )
        raise UserError(f"{folder}: another program {problem}{_describe_owner(Path(error.lock_file))}") from None
    except OSError as error:
        raise UserError(f"{folder}: cannot be written to ({error.strerror}); choose another folder") from error
    try:
        yield
    finally:
        lock.release()


def _acquire_lock(folder: Path, patience: float) -> BaseFileLock:
    """Lock a folder with a lock of the operating system, or with a lock file if the file system has no locks.

    A lock file names its owner's process, start time and host. If the process has ended on this host, its lock is taken
    over. The lock of another host is respected, since nobody here can check whether its process still runs.

    Raises:
        Timeout: If another program holds the lock.
        OSError: If the folder cannot be written to.
    """
    path = folder / ".lock"
    is_there = path.exists()
    # The lock file has another name: the empty file that a lock of the system leaves has no owner to look for.
    lock: BaseFileLock = FileLock(path, fallback_to_soft=False)
    try:
        lock.acquire(timeout=patience)
        return lock
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        print_note(
            f"the file system has no locks ({error.strerror}), so lock files are used; Lustre has locks with the mount "
            "option flock, NFS with a running lockd"
        )
    if not is_there:
        path.unlink(missing_ok=True)
    lock = SoftFileLock(folder / _LOCK_FILE)
    lock.acquire(timeout=patience)
    return lock


def _describe_owner(lock: Path) -> str:
    """Return the owner of a lock file and what to do if its process has ended; empty for a system lock."""
    if lock.name != _LOCK_FILE:
        return ""
    try:
        number, host, *_ = [*lock.read_text(encoding="utf-8").split("\n"), "", ""]
    except (OSError, ValueError):
        return ""
    return f" (process {excerpt(number)} on {excerpt(host)}; if it has ended, delete {lock})"
