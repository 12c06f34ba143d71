"""Progress of a training in other processes: the main one writes it to a file, which the launching process reads."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from housewise.core.errors import UserError
from housewise.core.files import write_json
from housewise.core.validation import StrictModel, read_model
from housewise.selftrain.trainers.base import Progress
from housewise.selftrain.trainers.launcher_environment import environment_for_launcher

PROGRESS_FILE = ".progress.json"
"""Name of the file in the folder of a training, where it is for as long as the processes run."""
_POLL_SECONDS = 1.0


class _State(StrictModel):
    """The content of the file; see Progress."""

    done: int
    total: int
    description: str


def write_progress(folder: Path) -> Progress:
    """Return a Progress that writes to the folder of a training."""

    def write(done: int, total: int, description: str) -> None:
        write_json(folder / PROGRESS_FILE, _State(done=done, total=total, description=description).model_dump())

    return write


def run_launcher(command: Sequence[str], folder: Path, progress: Progress) -> None:
    """Run a launcher until it ends, and pass on what its processes write with ``write_progress``.

    Args:
        command: The launcher with its arguments.
        folder: Folder of the training.
        progress: Called in this thread, at most once a second. If it raises, the launcher is killed.

    Raises:
        OSError: The launcher cannot be started.
        subprocess.CalledProcessError: It ends with an error.
    """
    path, last = folder / PROGRESS_FILE, None
    # A killed training has left its own.
    path.unlink(missing_ok=True)
    try:
        with subprocess.Popen(command, env=environment_for_launcher()) as process:
            try:
                ended = _end_of(process)
                while not ended.wait(_POLL_SECONDS):
                    last = _pass_on(path, last, progress)
                _pass_on(path, last, progress)
            except BaseException:
                process.kill()
                raise
    finally:
        path.unlink(missing_ok=True)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)


def _end_of(process: subprocess.Popen[bytes]) -> threading.Event:
    """Return an event that is set when a process has ended; Popen.wait with a timeout polls many times a second."""
    ended = threading.Event()

    def wait() -> None:
        process.wait()
        ended.set()

    threading.Thread(target=wait, daemon=True).start()
    return ended


def _pass_on(path: Path, last: _State | None, progress: Progress) -> _State | None:
    """Pass on the state in a file if it has changed, and return it."""
    if not path.exists():
        return last
    try:
        state = read_model(path, _State)
    except UserError:  # a bar that stands still is no reason to end a training
        return last
    if state != last:
        progress(state.done, state.total, state.description)
    return state
