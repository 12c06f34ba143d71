"""Playing in processes: the same records as in threads, errors come through, and nobody is left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.core.record import Result
from housewise.people.memory import MemoryFolder
from housewise.rollout.executor import RunCallback
from housewise.rollout.executor_choice import open_executor
from housewise.rollout.note_events import learned_notes
from housewise.rollout.process_executor import ProcessExecutor
from housewise.rollout.record_reader import read_records
from housewise.rollout.run import Run
from housewise.rollout.system import Job
from housewise.rollout.thread_executor import ThreadExecutor
from housewise.systems.personalize.record import read_house_records
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize
from tests.commands import wait_until

SHORT = {"planner": "scripted", "houses": 3, "max_steps": 60}
LONG = (
    *(sys.executable, "-m", "housewise", "run", "--planner", "scripted", "--houses", "40", "max_steps=60"),
    *("--workers", "2"),
)


class Listener(RunCallback):
    """Remembers whose end it was told of."""

    def __init__(self) -> None:
        self.ends: list[str] = []

    def on_episode_end(self, job: Job, result: Result) -> None:
        self.ends.append(job.name)


def test_planners_without_a_model_play_in_processes_and_others_in_threads(tmp_path: Path) -> None:
    def kind(**settings: object) -> type:
        return type(open_executor(Personalize(house_settings(settings=settings)), tmp_path, RunCallback()))

    assert kind(planner="scripted", workers=2) is kind(planner="demonstrator", workers=2) is ProcessExecutor
    assert kind(planner="scripted", workers=1) is kind(planner="llm", workers=2) is ThreadExecutor


def test_records_are_the_same_as_of_one_thread(tmp_path: Path) -> None:
    listener, ends = Listener(), []
    for workers in (1, 2):
        run = Run(Personalize(house_settings(settings={**SHORT, "workers": workers})), tmp_path / str(workers))
        run.play(listener if workers == 2 else None)
        records = read_house_records(run.episodes)
        ends.append([(record.name, record.final.placements, record.result.scores["steps"]) for record in records])
    assert ends[0] == ends[1] and len(ends[0]) == 3
    assert sorted(listener.ends) == [name for name, _, _ in ends[0]]


def test_what_the_user_has_to_know_comes_through(tmp_path: Path) -> None:
    config = house_settings(settings={**SHORT, "workers": 2, "planner": "replay", "records": str(tmp_path)})
    with pytest.raises(UserError, match="no such record"):
        Run(Personalize(config), tmp_path / "run").play()


def children(parent: int) -> set[int]:
    found = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True).stdout
    return set(map(int, found.split()))


@pytest.mark.slow
def test_processes_end_with_the_one_that_made_them(tmp_path: Path) -> None:
    program = subprocess.Popen([*LONG, "--out", str(tmp_path)], stdout=subprocess.DEVNULL)
    wait_until(lambda: any(tmp_path.glob("episodes/*.jsonl")), program, 60)
    mine = children(program.pid)
    assert mine
    program.send_signal(signal.SIGKILL)
    program.wait()
    end = time.monotonic() + 60
    while time.monotonic() < end and any(Path(f"/proc/{child}").exists() for child in mine):
        time.sleep(0.1)
    assert not any(_alive(child) for child in mine)


@pytest.mark.slow
def test_a_process_that_is_killed_is_told_of(tmp_path: Path) -> None:
    command = [*LONG, "--out", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as program:
        wait_until(lambda: any(tmp_path.glob("episodes/*.jsonl")), program, 60)
        os.kill(max(children(program.pid)), signal.SIGKILL)
        errors = program.communicate(timeout=60)[1]
    assert program.returncode == 2 and "lower --workers" in errors and "Traceback" not in errors


@pytest.mark.slow
def test_an_interrupted_run_keeps_the_notes_of_episodes_that_ended_after_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "housewise", "run", "--system", "adapt", "--workers", "2", "--out", str(tmp_path)]
    tasks = ["planner=always", "task=[4]", "repeats=30"]
    with subprocess.Popen(
        [*command, *tasks],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        # What a shell starts in the background ignores interrupts, and so would this program.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as program:
        wait_until(lambda: any(tmp_path.glob("episodes/*.jsonl")), program, 120)
        before = len(list(tmp_path.glob("episodes/*.jsonl")))
        program.send_signal(signal.SIGINT)
        program.communicate(timeout=120)
    records = list(read_records(tmp_path / "episodes"))
    assert before < len(records) < 16 * 30
    learned = {note for record in records for note in learned_notes(record)}
    folder = MemoryFolder(tmp_path / "memory")
    assert learned and {note for person in folder.people() for note in folder.load(person).notes} == learned


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True
