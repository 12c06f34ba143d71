"""What is said where matplotlib is not there to draw."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.core.plots import new_figure, save_figure
from tests.in_process import call_housewise

DRAW = """
import os, sys
from pathlib import Path
from housewise.core.plots import new_figure, save_figure
figure = new_figure(3, 2)
figure.subplots().plot([1, 2])
save_figure(figure, Path("line.png"))
assert "matplotlib.pyplot" not in sys.modules
import matplotlib
print(os.environ["MPLBACKEND"], matplotlib.rcParams["backend"])
"""


@pytest.mark.parametrize(
    ("backend", "left"),
    [
        ("module://matplotlib_inline.backend_inline", None),
        pytest.param("no such backend", None, marks=pytest.mark.slow),
        ("TkAgg", "TkAgg"),
        pytest.param("svg", "svg", marks=pytest.mark.slow),
    ],
)
def test_the_backend_of_an_environment_is_left_to_others(tmp_path: Path, backend: str, left: str | None) -> None:
    env = {**os.environ, "MPLBACKEND": backend}
    done = subprocess.run(
        [sys.executable, "-c", DRAW], capture_output=True, text=True, cwd=tmp_path, env=env, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{backend} {left or ''}")
    assert (tmp_path / "line.png").read_bytes().startswith(b"\x89PNG")


def test_what_matplotlib_cannot_draw_is_one_line(tmp_path: Path) -> None:
    figure = new_figure(3, 2)
    with pytest.raises(UserError, match=r"curve.xyz: matplotlib cannot draw it \(ValueError"):
        save_figure(figure, tmp_path / "curve.xyz")
    figure.suptitle("$\\nothing{$")
    with pytest.raises(UserError, match="matplotlib cannot draw it"):
        save_figure(figure, tmp_path / "curve.png")
    assert not [*tmp_path.iterdir()]


def test_a_broken_matplotlib_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "matplotlib.py").write_text("raise AttributeError('built for another numpy')")
    done = subprocess.run(
        [sys.executable, "-c", "from housewise.core.plots import new_figure; new_figure(1, 1)"],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(tmp_path)}, check=False,
    )  # fmt: skip
    assert "UserError: pictures: matplotlib cannot be used (AttributeError: built for" in done.stderr


@pytest.mark.slow
def test_reports_and_commands_do_without(tmp_path: Path) -> None:
    """The run is played in this process; the report is written by one that has loaded nothing yet."""
    call_housewise(
        *("run", "--houses", "1", "--planner", "scripted", "max_steps=60", "--out", tmp_path / "run"), code=0
    )
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "matplotlib.py").write_text("raise ModuleNotFoundError(name='matplotlib')")
    env = {**os.environ, "PYTHONPATH": str(blocked)}
    for arguments in (["run", "--help"], ["report", str(tmp_path / "run"), "--no-film"]):
        command = [sys.executable, "-m", "housewise.cli", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=env, check=False)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "report.html").stat().st_size > 1000
