"""Programs that are killed at one of their writes, or whose disk is full from one on.

Writes are found by the kernel: a seccomp filter stops the program at every system call that changes a file, whichever
language it is made from, and asks this process what becomes of it (Linux on x86_64; ``man seccomp_unotify``).
"""

import ctypes
import errno
import fcntl
import os
import platform
import select
import signal
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

_PATHS = {"open": 0, "creat": 0, "truncate": 0, "rename": 1, "mkdir": 0, "rmdir": 0, "unlink": 0, "link": 1}
_PATHS |= {"symlink": 1}
_PATHS_AT = {"openat": 0, "mkdirat": 0, "unlinkat": 0, "renameat": 2, "renameat2": 2, "linkat": 2}
_DESCRIPTORS = {"write": 0, "pwrite64": 0, "writev": 0, "pwritev": 0, "ftruncate": 0, "fallocate": 0, "sendfile": 0}
_DESCRIPTORS |= {"copy_file_range": 2}
_NUMBERS = {
    **{"write": 1, "open": 2, "pwrite64": 18, "writev": 20, "sendfile": 40, "truncate": 76, "ftruncate": 77},
    **{"rename": 82, "mkdir": 83, "rmdir": 84, "creat": 85, "link": 86, "unlink": 87, "symlink": 88, "openat": 257},
    **{"mkdirat": 258, "unlinkat": 263, "renameat": 264, "linkat": 265, "fallocate": 285, "pwritev": 296},
    **{"renameat2": 316, "copy_file_range": 326},
}
_NAMES = {number: name for name, number in _NUMBERS.items()}
NEED_NO_ROOM = frozenset({"unlink", "unlinkat", "rmdir", "rename", "renameat", "renameat2"})

_SECCOMP, _SET_FILTER, _NEW_LISTENER, _NO_NEW_PRIVILEGES = 317, 1, 8, 38
_ASK, _ALLOW, _GO_ON = 0x7FC00000, 0x7FFF0000, 1
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_AT_FDCWD = 0xFFFFFF9C


def can_trace() -> bool:
    """Whether this machine's kernel can tell of writes."""
    return platform.system() == "Linux" and platform.machine() == "x86_64"


@dataclass
class Outcome:
    """How a program ended.

    Attributes:
        status: its exit code, or minus the signal that ended it.
        output: what it printed.
        writes: the system calls that changed something in the folder, each with the file.
    """

    status: int
    output: str
    writes: list[str] = field(default_factory=list)


def run_traced(
    program: Callable[[], None], folder: Path, log: Path, kill_at: int | None = None, full_from: int | None = None
) -> Outcome:
    """Run a program in a fork of this process.

    Args:
        program: what to run; its exit code is 0 unless it exits otherwise.
        folder: whose writes are counted.
        log: file for what it prints.
        kill_at: number of the write at which it is killed (SIGKILL); half of what it writes is written.
        full_from: number of the write from which on the disk is full.
    """
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        _run(program, theirs, log)
    theirs.close()
    _, [listener], _, _ = socket.recv_fds(ours, 1, 1)
    ours.close()
    supervisor = _Supervisor(listener, child, folder.resolve(), kill_at, full_from)
    try:
        status = supervisor.watch()
    finally:
        os.close(listener)
    return Outcome(status, log.read_text(errors="replace"), supervisor.writes)


def _run(program: Callable[[], None], parent: socket.socket, log: Path) -> None:
    code = 1
    try:
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(output, 1)
        os.dup2(output, 2)
        socket.send_fds(parent, [b"x"], [_install_filter()])
        program()
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        import sys

        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _install_filter() -> int:
    """Have the kernel ask at each of these calls; returns the descriptor that it asks at."""
    steps = [(0x20, 0, 0, 0)]
    for number in _NAMES:
        steps += [(0x15, 0, 1, number), (0x06, 0, 0, _ASK)]
    steps.append((0x06, 0, 0, _ALLOW))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
    library = ctypes.CDLL(None, use_errno=True)
    library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    listener: int = library.syscall(_SECCOMP, _SET_FILTER, _NEW_LISTENER, program)
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    return listener


class _Supervisor:
    """Decides what becomes of each write of a program."""

    def __init__(self, listener: int, child: int, folder: Path, kill_at: int | None, full_from: int | None) -> None:
        self._listener, self._child, self._folder = listener, child, folder
        self._kill_at, self._full_from = kill_at, full_from
        self.writes: list[str] = []

    def watch(self) -> int:
        """Answer until the program has ended; returns its exit code, or minus a signal."""
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        while True:
            if any(event & select.POLLIN for _, event in poll.poll(50)):
                self._answer()
            ended, status = os.waitpid(self._child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)

    def _answer(self) -> None:
        question = bytearray(80)
        try:
            fcntl.ioctl(self._listener, _RECEIVE, question)
        except OSError as error:  # the program has ended in the meantime
            if error.errno in (errno.ENOENT, errno.EINTR):
                return
            raise
        cookie, process, _, number, _, _, *arguments = struct.unpack_from("QIIiIQ6Q", question)
        refusal, name = 0, _NAMES[number]
        path = self._changed(name, process, arguments)
        if path is not None:
            self.writes.append(f"{name} {path}")
            if len(self.writes) == self._kill_at:
                _tear(name, process, arguments)
                os.kill(self._child, signal.SIGKILL)
                return
            if self._full_from is not None and len(self.writes) >= self._full_from and name not in NEED_NO_ROOM:
                refusal = -errno.ENOSPC
        try:
            fcntl.ioctl(self._listener, _SEND, struct.pack("QqiI", cookie, 0, refusal, 0 if refusal else _GO_ON))
        except OSError as error:
            if error.errno != errno.ENOENT:
                raise

    def _changed(self, name: str, process: int, arguments: list[int]) -> Path | None:
        """The file of the folder that a call changes, from there."""
        try:
            if name in _DESCRIPTORS:
                path = Path(f"/proc/{process}/fd/{arguments[_DESCRIPTORS[name]]}").readlink()
            else:
                at = _PATHS_AT.get(name)
                first = _PATHS[name] if at is None else at
                base = arguments[first] & 0xFFFFFFFF if at is not None else _AT_FDCWD
                base_link = "cwd" if base == _AT_FDCWD else f"fd/{base}"
                text = _text(process, arguments[first + (at is not None)])
                path = Path(os.path.normpath(Path(f"/proc/{process}/{base_link}").readlink() / text))
        except OSError:
            return None
        flags = {"open": arguments[1], "openat": arguments[2]}.get(name)
        if flags is not None and not flags & (os.O_CREAT | os.O_TRUNC):
            return None
        # To make what is there, or to remove what is not, changes nothing.
        if name.startswith(("mkdir", "unlink", "rmdir")) and path.exists() == name.startswith("mkdir"):
            return None
        return path.relative_to(self._folder) if path.is_relative_to(self._folder) else None


def _memory(process: int, address: int, length: int) -> bytes:
    with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(length)


def _text(process: int, address: int) -> str:
    """A text of C in the memory of a process; it may end where what can be read ends."""
    found = b""
    while b"\0" not in found:
        # Never beyond the page, behind which there may be none.
        part = _memory(process, address + len(found), 4096 - (address + len(found)) % 4096)
        if not part:
            break
        found += part
    return os.fsdecode(found.partition(b"\0")[0])


def _tear(name: str, process: int, arguments: list[int]) -> None:
    """Write the first half of what a call is about to write."""
    descriptor, address, length = arguments[:3]
    if name == "writev":
        parts = struct.iter_unpack("QQ", _memory(process, address, 16 * length))
        content = b"".join(_memory(process, start, size) for start, size in parts)
    elif name == "write":
        content = _memory(process, address, length)
    else:
        return
    position = int(Path(f"/proc/{process}/fdinfo/{descriptor}").read_text().split()[1])
    torn = os.open(f"/proc/{process}/fd/{descriptor}", os.O_WRONLY)
    try:
        os.pwrite(torn, content[: len(content) // 2], position)
    finally:
        os.close(torn)
