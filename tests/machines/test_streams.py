"""Standard streams that are closed, full or gone, and terminals of few letters."""

from pathlib import Path

import pytest

from tests.machines.shims import PLAYED, episodes, housewise


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["exec $@ <&- >&- 2>&-", pytest.param("exec $@ >&-", marks=pytest.mark.slow)])
def test_a_run_needs_no_streams(tmp_path: Path, shell: str) -> None:
    out = tmp_path / "run"
    done = housewise(*PLAYED, "--workers", "2", "--out", out, shell=shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert episodes(out) == 2


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["list"]])
def test_nothing_is_printed_without_a_complaint(words: list[str]) -> None:
    done = housewise(*words, shell="exec $@ >&-")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_an_error_can_be_told_when_there_is_no_output(tmp_path: Path) -> None:
    done = housewise("report", tmp_path / "missing", shell="exec $@ >&-")
    assert done.returncode == 2 and done.stderr.startswith("error: ") and len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_full_output_is_named(tmp_path: Path) -> None:
    for words in (("list",), ("--help",), (*PLAYED, "--out", tmp_path / "run")):
        done = housewise(*words, shell="exec $@ >/dev/full")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "the output: No space left on device" in done.stderr
    assert housewise("list", shell="exec $@ >/dev/full 2>&1").returncode == 2


@pytest.mark.parametrize(
    "env",
    [
        pytest.param({"PYTHONIOENCODING": "ascii", "TERM": "dumb"}, marks=pytest.mark.slow),
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "COLUMNS": "1"},
    ],
)
def test_letters_that_a_terminal_lacks_are_replaced(tmp_path: Path, env: dict[str, str]) -> None:
    done = housewise(*PLAYED, "--out", "küche", env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "k??che" in done.stdout.replace("\n", "") or "k?che" in done.stdout.replace("\n", "")
