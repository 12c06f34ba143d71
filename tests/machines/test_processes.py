"""Worker processes on systems without room for sockets or semaphores, and in programs without a main guard."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from housewise.core import hardware
from tests.machines.shims import PLAYED, episodes, failing, housewise

PROGRAM = """
from pathlib import Path
from housewise.rollout.run import Run
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize

settings = house_settings(settings={"houses": 2, "planner": "scripted", "max_steps": 40, "workers": 2})
"""
PLAY = "Run(Personalize(settings), Path('run')).play()\n"


def program(folder: Path, text: str, by: str) -> subprocess.CompletedProcess[str]:
    """Run a program from its file, from standard input, or as a word of the command line."""
    (folder / "program.py").write_text(text)
    words = {"file": ["program.py"], "standard input": ["-"], "command line": ["-c", text]}[by]
    return subprocess.run(
        [sys.executable, *words], input=text, capture_output=True, text=True, timeout=240, cwd=folder, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong", ["no such folder", pytest.param("a path too long for a socket", marks=pytest.mark.slow)]
)
def test_processes_do_without_a_socket_in_the_temporary_folder(tmp_path: Path, wrong: str) -> None:
    temporary = tmp_path / ("scratch of a job " * 8)
    if wrong != "no such folder":
        temporary.mkdir()
    out = tmp_path / "run"
    done = housewise(*PLAYED, "--workers", "2", "--out", out, env={"TMPDIR": str(temporary)})
    assert done.returncode == 0, done.stderr
    assert episodes(out) == 2


@pytest.mark.slow
@pytest.mark.parametrize("reports", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_without_semaphores_one_process_plays_and_makes_the_report(tmp_path: Path, reports: bool) -> None:
    env = failing(tmp_path, "sem_open", "const char *name, int flags, ...", "EROFS", value="0")
    out = tmp_path / "run"
    report = [["report", out, "--no-film", "--workers", "2"]] if reports else []
    for words in ([*PLAYED, "--workers", "2", "--out", out], *report):
        done = housewise(*words, env=env)
        assert done.returncode == 0, done.stderr
        assert len(done.stderr.splitlines()) == 1 and "one process does it all" in done.stderr
    assert episodes(out) == 2 and (out / "report.html").is_file() == reports


@pytest.mark.slow
@pytest.mark.parametrize(
    ("by", "reason"),
    [
        ("file", 'it has to begin its work under if __name__ == "__main__":'),
        pytest.param(
            "standard input",
            "they cannot import a program that is read from standard input",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_programs_that_processes_cannot_import_are_told_so(tmp_path: Path, by: str, reason: str) -> None:
    done = program(tmp_path, PROGRAM + PLAY, by)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and reason in last and "workers=1" in last
    assert "memory" not in done.stderr


@pytest.mark.parametrize(
    ("guard", "by"),
    [("if __name__ == '__main__':\n    ", "file"), pytest.param("", "command line", marks=pytest.mark.slow)],
)
def test_a_program_with_a_guard_plays_and_so_does_one_without_a_file(tmp_path: Path, guard: str, by: str) -> None:
    done = program(tmp_path, PROGRAM + guard + PLAY, by)
    assert done.returncode == 0 and episodes(tmp_path / "run") == 2, done.stderr


@pytest.mark.slow
def test_a_limit_of_open_files_is_named(tmp_path: Path) -> None:
    done = housewise(*PLAYED, "--workers", "2", "--out", tmp_path / "run", shell="ulimit -n 12; exec $@")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1 and "ulimit -n" in done.stderr


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "150000 100000"}, 1.5),
        ({"cpu.max": "max 100000"}, None),
        ({"cpu/cpu.cfs_quota_us": "50000", "cpu/cpu.cfs_period_us": "100000"}, 0.5),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
        ({"cpu.max": "damaged"}, None),
        ({}, None),
    ],
)
def test_quotas_of_containers_are_read(tmp_path: Path, files: dict[str, str], cores: float | None) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content + "\n")
    assert hardware._cgroup_cores(tmp_path) == cores


def test_only_cores_that_a_process_may_use_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3}, raising=False)
    assert hardware.usable_cores() == 1
