"""The progress of a training in other processes, played by a script."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from housewise.selftrain.trainers import launched_progress
from housewise.selftrain.trainers.base import ignore_progress
from housewise.selftrain.trainers.launched_progress import PROGRESS_FILE, run_launcher, write_progress

State = tuple[int, int, str]


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launched_progress, "_POLL_SECONDS", 0.01)


def played(folder: Path, *lines: str) -> list[str]:
    """A launcher that executes lines of Python, which may write states and wait until one was passed on."""
    script = [
        "import json, os, sys, time",
        f"place = {str(folder)!r}",
        "def write(text):",
        " open(place + '/new', 'w').write(text)",
        f" os.replace(place + '/new', place + '/{PROGRESS_FILE}')",
        "def state(*values): write(json.dumps(dict(zip(['done', 'total', 'description'], values))))",
        "def wait(name):\n while not os.path.exists(f'{place}/{name}'): time.sleep(0.01)",
        *lines,
    ]
    return [sys.executable, "-c", "\n".join(script)]


def follow(folder: Path, states: list[State], *lines: str) -> None:
    """Run such a launcher; a file with the number of each state appears when it was passed on."""

    def progress(*state: int | str) -> None:
        assert threading.current_thread() is threading.main_thread()
        states.append(state)  # type: ignore[arg-type]
        (folder / str(state[0])).touch()

    run_launcher(played(folder, *lines), folder, progress)
    assert not (folder / PROGRESS_FILE).exists()


def test_each_state_is_passed_on_while_the_training_runs_and_the_last_one_after_it(tmp_path: Path) -> None:
    states: list[State] = []
    follow(
        tmp_path, states, "state(1, 3, '')", "wait(1)", "state(2, 3, 'loss 0.5')", "wait(2)", "state(3, 3, 'loss 0.4')"
    )
    assert states == [(1, 3, ""), (2, 3, "loss 0.5"), (3, 3, "loss 0.4")]


def test_what_a_killed_training_has_left_is_not_passed_on(tmp_path: Path) -> None:
    write_progress(tmp_path)(7, 9, "loss 0.3")
    assert json.loads((tmp_path / PROGRESS_FILE).read_text()) == {"done": 7, "total": 9, "description": "loss 0.3"}
    states: list[State] = []
    follow(tmp_path, states, "time.sleep(0.1)", "state(5, 9, 'loss 0.4')")
    assert states == [(5, 9, "loss 0.4")]


def test_a_damaged_state_is_left_out(tmp_path: Path) -> None:
    states: list[State] = []
    follow(tmp_path, states, "write('{')", "time.sleep(0.1)", "state(2, 2, '')")
    assert states == [(2, 2, "")]


def test_a_training_that_dies_is_an_error_after_its_last_state(tmp_path: Path) -> None:
    states: list[State] = []
    with pytest.raises(subprocess.CalledProcessError, match="SIGKILL"):
        follow(tmp_path, states, "state(1, 2, '')", "wait(1)", "os.kill(os.getpid(), 9)")
    assert states == [(1, 2, "")] and not (tmp_path / PROGRESS_FILE).exists()
    with pytest.raises(FileNotFoundError):
        run_launcher(["no-such-launcher"], tmp_path, ignore_progress)


def test_a_training_ends_with_the_one_that_follows_it(tmp_path: Path) -> None:
    def stop(*state: int | str) -> None:
        raise KeyboardInterrupt

    lines = ["open(place + '/pid', 'w').write(str(os.getpid()))", "state(1, 2, '')", "time.sleep(600)"]
    with pytest.raises(KeyboardInterrupt):
        run_launcher(played(tmp_path, *lines), tmp_path, stop)
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))
