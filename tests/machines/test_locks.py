"""Folders that one program writes to at a time, on file systems with and without locks."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from housewise.core.folder_locks import exclusive_lock
from tests.machines.shims import PLAYED, episodes, failing, housewise

HOLD = """
import sys, time
from pathlib import Path
from housewise.core.folder_locks import exclusive_lock
with exclusive_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("error", ["EOPNOTSUPP", "ENOSYS"])
def test_a_file_system_without_locks_gets_a_lock_file(tmp_path: Path, error: str) -> None:
    env = failing(tmp_path, "flock", "int fd, int operation", error)
    code = HOLD.replace("time.sleep(600)", "print((Path(sys.argv[1]) / '.lock_file').exists())")
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "run"],
        capture_output=True, text=True, env={**os.environ, **env}, check=False,
    )  # fmt: skip
    assert done.stdout == "held\nTrue\n", done.stderr


@pytest.mark.slow
def test_without_locks_of_the_system_a_lock_file_is_used(tmp_path: Path) -> None:
    env = failing(tmp_path, "flock", "int fd, int operation", "ENOLCK")
    out = tmp_path / "run"
    done = housewise(*PLAYED, "--out", out, env=env)
    assert done.returncode == 0, done.stderr
    assert episodes(out) == 2 and not [*out.glob(".*")]
    assert len(done.stderr.splitlines()) == 1 and "the file system has no locks" in done.stderr


@pytest.mark.slow
def test_the_lock_file_of_a_killed_process_is_taken_over_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    env = failing(tmp_path, "flock", "int fd, int operation", "ENOLCK")
    out = tmp_path / "run"
    # As a run on a disk with locks leaves it, before the folder moves here.
    with exclusive_lock(out):
        pass
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, out], env={**os.environ, **env}, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    refused = housewise(*PLAYED, "--out", out, env=env)
    assert refused.returncode == 2 and "another program is writing there" in refused.stderr
    assert f"process {holder.pid} on " in refused.stderr
    holder.kill()
    holder.wait()
    holder.stdout.close()
    assert (out / ".lock_file").exists()
    done = housewise(*PLAYED, "--out", out, env=env)
    assert done.returncode == 0, done.stderr
    assert episodes(out) == 2 and not (out / ".lock_file").exists()


def test_the_lock_file_of_another_host_is_respected_and_named(tmp_path: Path) -> None:
    env = failing(tmp_path, "flock", "int fd, int operation", "ENOLCK")
    out = tmp_path / "run"
    out.mkdir()
    lock = out / ".lock_file"
    lock.write_text(f"{os.getpid()}\nsomewhere-else\n{int(time.time())}\n")
    refused = housewise(*PLAYED, "--out", out, env=env)
    assert refused.returncode == 2 and f"on somewhere-else; if it has ended, delete {lock}" in refused.stderr
    assert lock.exists()
