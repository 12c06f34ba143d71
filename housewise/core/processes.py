"""Runs work in pools of processes on this machine."""

from __future__ import annotations

import multiprocessing
import multiprocessing.forkserver
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from housewise.core.console import print_note
from housewise.core.errors import UserError

_GUARD = re.compile(r"__name__\s*(==|!=|in\b)|==\s*__name__")
_ONE_PROCESS = "or use one process (workers=1)"


@contextmanager
def process_pool(
    count: int, initializer: Callable[..., None] | None = None, *given: Any
) -> Iterator[ProcessPoolExecutor]:
    """Open a pool of processes that end with this one and share no state with it.

    If the platform allows, all processes are forked from one that has imported the same modules as this program, so
    that starting many takes little longer than starting one. Work that has begun is finished when the pool is left.

    Args:
        count: Maximum number of processes.
        initializer: Function that each process calls first.
        given: Arguments of the initializer; they are pickled.

    Raises:
        UserError: If the processes cannot start, or one of them is killed.
    """
    end_reimported_program()
    pool = ProcessPoolExecutor(
        count, _context(), initializer=_start_worker, initargs=(dict(os.environ), initializer, given)
    )
    first: Future[int] | None = None
    try:
        # Whether this first call succeeds tells processes that were killed from processes that never started.
        first = pool.submit(os.getpid)
        yield pool
    except (BrokenProcessPool, EOFError) as error:
        if first is None or not first.done() or first.exception() is not None:
            raise UserError(_failed_start()) from None
        if isinstance(error, EOFError):
            raise
        raise UserError(
            f"one of {count} processes was killed, perhaps because memory ran out; lower --workers and run the same "
            "command again: what is finished is kept"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def can_start_processes() -> bool:
    """Whether this machine can run a pool of processes, which needs semaphores and thus a writable /dev/shm."""
    try:
        multiprocessing.get_context("spawn").Semaphore()
    except (OSError, ImportError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        print_note(f"no semaphores for several processes ({reason}; is /dev/shm writable?), so one process does it all")
        return False
    return True


def end_reimported_program() -> None:
    """End this process if it is a worker that imports a main program without a main guard.

    It ends silently: the process that started it reports the cause, see ``process_pool``.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        sys.exit(1)


def _failed_start() -> str:
    """Return why the processes of a pool did not start, as far as the main program tells, and the remedy."""
    file = getattr(sys.modules["__main__"], "__file__", None)
    if file is None:
        return (
            "the worker processes could not begin; classes and functions of a notebook's cell or a prompt cannot be "
            f"sent to them: put those into a module, {_ONE_PROCESS}"
        )
    if file.startswith("<"):
        return (
            "the worker processes could not begin: they cannot import a program that is read from standard input; save "
            f"it to a file, {_ONE_PROCESS}"
        )
    if not _is_guarded(Path(file)):
        return (
            f"the worker processes could not begin: they import {file} again, so it has to begin its work under "
            f'if __name__ == "__main__":, {_ONE_PROCESS}'
        )
    return (
        "the worker processes could not begin, perhaps because memory or the number of processes (ulimit -u) is "
        f"limited; raise the limit, lower --workers, {_ONE_PROCESS}"
    )


def _is_guarded(program: Path) -> bool:
    """Whether a program checks that it is the main program; True if its text cannot be read."""
    try:
        return _GUARD.search(program.read_text(encoding="utf-8", errors="replace")) is not None
    except OSError:
        return True


def process_number() -> int:
    """Return the number of this process among those that one program has started; 0 for the program itself."""
    number = re.search(r"\d+$", multiprocessing.current_process().name)
    return int(number[0]) if number and multiprocessing.parent_process() is not None else 0


def _context() -> Any:
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    # Only the first call in a program has an effect.
    context.set_forkserver_preload(sorted(name for name in sys.modules if name.partition(".")[0] == "housewise"))
    try:
        multiprocessing.forkserver.ensure_running()
    except OSError:
        # The server's socket lies in the temporary folder, whose path may be too long or whose disk may be full.
        return multiprocessing.get_context("spawn")
    return context


def _start_worker(environment: dict[str, str], initializer: Callable[..., None] | None, given: tuple[Any, ...]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if initializer is not None:
        initializer(*given)


def _end_with_parent() -> None:
    """End this process when its parent has ended, since a killed parent cannot say so."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "called in a process that another one has made"
    parent.join()
    os._exit(1)
