"""Processes of this machine that work for this one."""

from __future__ import annotations

import multiprocessing
import os
import re
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any


def process_pool(count: int, initializer: Callable[..., None] | None = None, *given: Any) -> ProcessPoolExecutor:
    """Processes that share nothing with this one, and end when it does.

    Where the system can, all of them are forks of one that imports what this program has imported by now: starting many
    takes little longer than starting one.

    Args:
        count: how many there are at most.
        initializer: called in each of them before anything else.
        given: its arguments; they travel there.
    """
    return ProcessPoolExecutor(count, _context(), initializer=_enter, initargs=(dict(os.environ), initializer, given))


def process_number() -> int:
    """Number of this process among those that one program has made; 0 for the program itself."""
    number = re.search(r"\d+$", multiprocessing.current_process().name)
    return int(number[0]) if number and multiprocessing.parent_process() is not None else 0


def _context() -> Any:
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    # It goes by the first call of a program.
    context.set_forkserver_preload(sorted(name for name in sys.modules if name.partition(".")[0] == "housewise"))
    return context


def _enter(environment: dict[str, str], initializer: Callable[..., None] | None, given: tuple[Any, ...]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if initializer is not None:
        initializer(*given)


def _end_with_parent() -> None:
    """End this process when the one that it works for is gone: a killed one cannot say so."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "called in a process that another one has made"
    parent.join()
    os._exit(1)
