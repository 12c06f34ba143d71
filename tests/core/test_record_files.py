"""What is left of an attempt that a person took part in: kept beside the record, however often it is cut off."""

import signal
import subprocess
import sys
from pathlib import Path

from housewise.core.record_files import PARTIAL
from housewise.rollout.record_reader import read_records
from housewise.rollout.run import Run
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize

PROGRAM = """
import os, signal, sys
from pathlib import Path
from typing import ClassVar

from housewise.core.record import Event, Header
from housewise.core.record_files import RecordWriter

class Answer(Event):
    type: ClassVar[str] = "answer"
    text: str

writer = RecordWriter(Path(sys.argv[1]), "breakfast-run0")
writer.write(Header(system="kitchen", task="breakfast", agent="cook", attempt=writer.attempt))
for text in sys.argv[2:]:
    writer.write(Answer(text=text))
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(folder: Path, *answers: str) -> None:
    """Begin an episode in a program of its own, which does not live to end it."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, folder, *answers], timeout=120)
    assert done.returncode == -signal.SIGKILL


def test_a_run_is_resumed_beside_what_was_answered(tmp_path: Path) -> None:
    run = Run(Personalize(house_settings(settings={"houses": 1, "planner": "scripted", "max_steps": 20})), tmp_path)
    (name,) = (job.name for job in run.open_jobs)
    killed(run.episodes, "tea")
    left = run.episodes / f"breakfast-run0{PARTIAL}"
    told = left.read_bytes()
    left.rename(run.episodes / f"{name}{PARTIAL}")
    run.play()
    (record,) = read_records(run.episodes)
    assert (record.name, record.header.attempt, run.open_jobs) == (name, 1, [])
    assert (run.episodes / f"{name}.jsonl.interrupted-1").read_bytes() == told
    run.play()
    assert len(list(run.episodes.iterdir())) == 2
