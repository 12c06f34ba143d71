"""Runs, episodes and events as data frames: docs/data_frames.md, carried out, and what goes wrong."""

import contextlib
import io
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import housewise
from housewise.core.errors import UserError
from tests.commands import run_module

pd = pytest.importorskip("pandas", reason="the extra housewise[experiments] is not installed")
PAGE = (Path(__file__).parents[2] / "docs" / "data_frames.md").read_text()


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the commands of the page were carried out."""
    folder = tmp_path_factory.mktemp("played")
    for line in re.findall(r"^housewise (run .*)$", PAGE, re.MULTILINE):
        run_module("housewise", shlex.split(line), cwd=folder, code=0)
    return folder


@pytest.mark.slow
def test_the_page_prints_what_it_says(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(played)
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == PAGE.count("```python") == PAGE.count("```text") >= 4
    for code, shown in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, names)
        assert printed.getvalue() == shown


def test_failed_episodes_are_counted_and_other_systems_are_rows_too(played: Path, tmp_path: Path) -> None:
    shutil.copytree(played / "runs" / "short", tmp_path / "short")
    record = min((tmp_path / "short" / "episodes").glob("*.jsonl"))
    record.rename(f"{record}.failed")
    run_module("housewise", ["run", "--system", "clipr", "training=false", "--out", tmp_path / "clipr"], code=0)
    frame = housewise.runs([tmp_path / "short", str(tmp_path / "clipr")]).set_index("system")
    assert frame.loc["personalize", ["episodes", "failed_episodes"]].tolist() == [2, 1]
    assert 0 < frame.loc["clipr", "accuracy"] < 1 and pd.isna(frame.loc["personalize", "accuracy"])
    assert len(housewise.episodes(tmp_path)) == 3
    asked = housewise.events(tmp_path, type="answer")
    assert set(asked["run"]) == {str(tmp_path / "clipr")} and asked["text"].map(len).min() > 0
    assert housewise.events(tmp_path / "short", type="answer").empty


def test_a_field_with_the_name_of_a_column_is_kept(tmp_path: Path) -> None:
    words = ["run", "--system", "basis", "planner=oracle", "max_episodes=1", "attempts=1", "--out", tmp_path / "lab"]
    run_module("housewise", words, code=0)
    acted = housewise.events(tmp_path / "lab", type="lab_action")
    assert acted["lab_action.number"].tolist() == [*range(1, len(acted) + 1)] != acted["number"].tolist()
    error = housewise.runs(tmp_path / "lab")["success_stderr"]
    assert error.dtype == float and error.isna().all(), "a single task"


def test_a_run_and_a_folder_of_records_are_accepted(played: Path) -> None:
    run = housewise.load_run(played / "runs" / "long")
    whole = housewise.episodes(run)
    assert whole.equals(housewise.episodes(played / "runs" / "long" / "episodes")) and len(whole) == 3
    assert len(housewise.events(played / "runs" / "long")) == len(housewise.events([run, run]))


@pytest.mark.parametrize("function", [housewise.runs, housewise.episodes, housewise.events])
def test_what_holds_no_episodes_is_one_line(function: Any, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere: holds no finished episodes; name folders of runs"):
        function(tmp_path / "nowhere")


@pytest.mark.parametrize("function", [housewise.runs, housewise.episodes, housewise.events])
def test_without_pandas_the_extra_is_named(function: Any, played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UserError, match=r"data frames need pandas; pip install 'housewise\[experiments\]'"):
        function(played / "runs")
