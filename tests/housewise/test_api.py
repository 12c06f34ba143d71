"""What a program gets of ``import housewise``, whatever folders lie beside it."""

import json
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import psutil
import pytest

import housewise
from housewise.agent.personalize.planner import Attempt, Plan
from housewise.core.errors import UserError
from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.scene_graph import SceneGraph
from tests.commands import run_module

ROOT = Path(__file__).parents[2]
FOLDERS = ("agent", "core", "experiments", "people", "rollout", "worlds", "systems", "tests", "controller", "language")

RUN = ("-m", "housewise", "run", "--houses", "1", "--planner", "scripted", "max_steps=30")


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """A folder of a user's with packages of the same names as our folders, which must not be imported."""
    for name in FOLDERS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('the wrong package')\n")
    return tmp_path


class Done:
    """A planner that finds nothing to do."""

    name = "done"

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        return Plan((), True)


def program(folder: Path, *words: str) -> str:
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_program_beside_folders_of_the_same_names(crowded: Path) -> None:
    code = (
        "import housewise, gymnasium\n"
        "record = housewise.play(3, max_steps=40)\n"
        "env = gymnasium.make('housewise/Rearrangement-v0', houses=1)\n"
        "env.reset()\n"
        "print(housewise.__version__, record.result.ended, env.step(0)[2])"
    )
    assert program(crowded, "-c", code).split() == [housewise.__version__, "out", "of", "steps", "True"]
    assert program(crowded, "-m", "housewise", "--version").split() == ["housewise", housewise.__version__]


@pytest.mark.slow
def test_workers_play_beside_folders_of_the_same_names(crowded: Path) -> None:
    program(crowded, *RUN, "repeats=2", "--workers", "2", "--out", "mine")
    code = "import housewise; run = housewise.load_run('mine'); print(len(run.finished_jobs), run.settings.system)"
    assert program(crowded, "-c", code).split() == ["2", "personalize"]


@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")
def test_a_cluster_plays_beside_folders_of_the_same_names(crowded: Path) -> None:
    program(crowded, *RUN, "--ray", "local", "--out", "mine")
    assert len(list(crowded.glob("mine/episodes/*.jsonl"))) == 1


def test_importing_it_imports_nothing_heavy() -> None:
    code = "import sys, housewise; print(sorted({'numpy', 'torch', 'pydantic', 'gymnasium'} & set(sys.modules)))"
    assert program(ROOT, "-c", code).strip() == "[]"


def test_what_is_played_is_kept_where_a_folder_is_named(toy: RearrangementTask, tmp_path: Path) -> None:
    played = housewise.play(toy, folder=tmp_path)
    assert played.success_rate == 1.0
    (record,) = housewise.read_records(tmp_path)
    assert record == played.record
    with pytest.raises(UserError, match="holds no run"):
        housewise.load_run(tmp_path)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        housewise.nothing  # noqa: B018
    assert set(housewise.__all__) <= set(dir(housewise))


def test_a_house_is_named_by_an_integer_of_any_kind() -> None:
    assert housewise.play(np.int64(3), Done()).header.task == "generated-3-0003"
    for other in (True, 3.0, "3"):
        with pytest.raises(UserError, match=f"task: {other!r} is not a RearrangementTask; give one, or the number"):
            housewise.play(other, Done())  # type: ignore[arg-type]


def test_an_impossible_limit_of_steps_is_refused(toy: RearrangementTask) -> None:
    with pytest.raises(UserError, match="max_steps must be an integer of 1 or more, not -1"):
        housewise.play(toy, Done(), max_steps=-1)


def test_an_earlier_record_is_not_overwritten(toy: RearrangementTask, tmp_path: Path) -> None:
    housewise.play(toy, Done(), folder=tmp_path)
    (path,) = tmp_path.iterdir()
    kept = path.read_bytes()
    with pytest.raises(UserError, match="is there already, and would be overwritten; name another folder") as refused:
        housewise.play(toy, Done(), seed=1, folder=tmp_path)
    assert str(refused.value).startswith(f"{path}: ")
    assert path.read_bytes() == kept and list(tmp_path.iterdir()) == [path]


def test_a_planner_that_fails_leaves_no_open_file(toy: RearrangementTask, tmp_path: Path) -> None:
    def fail(graph: SceneGraph, attempts: Sequence[Attempt]) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        housewise.play(toy, fail, folder=tmp_path)
    assert not [file for file in psutil.Process().open_files() if tmp_path in Path(file.path).parents]


@pytest.mark.parametrize("task", ["3", 3.5, None])
def test_what_is_no_task_is_refused_in_a_line(task: object) -> None:
    with pytest.raises(UserError, match=r"^task: .*give one, or the number of a generated house$"):
        housewise.play(task, Done())  # type: ignore[arg-type]


def test_records_are_shown_in_a_line(toy: RearrangementTask) -> None:
    played = housewise.play(toy, Done())
    line = f"{played.name}, agent done, {len(played.record.events)} events, {played.result.end_reason}>"
    assert (repr(played), repr(played.record)) == (f"<HouseRecord: {line}", f"<Record: {line}")


def test_runs_are_compared_by_folder_and_by_record(toy: RearrangementTask, tmp_path: Path) -> None:
    played = [housewise.play(toy), housewise.play(toy, Done(), folder=tmp_path / "run" / "episodes")]
    found = housewise.compare(played[:1], tmp_path / "run")
    assert found == housewise.compare([played[0].record], str(tmp_path / "run" / "episodes"))
    assert (found.differences[0].figure, found.differences[0].mean) == ("success, %", -100.0)
    with pytest.raises(UserError, match="no such folder"):
        housewise.compare(tmp_path / "nowhere", played)


def test_records_are_a_data_set(toy: RearrangementTask, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    for seed in (1, 2):
        housewise.play(seed, max_steps=30, folder=tmp_path / str(seed))
    files = sorted(map(str, tmp_path.glob("*/*.jsonl")))
    read = datasets.load_dataset("json", data_files=files, split="train", cache_dir=str(tmp_path / "cache"))
    lines = [json.loads(line) for file in files for line in Path(file).read_text().splitlines()]
    assert [row["type"] for row in read] == [line["type"] for line in lines]
    assert read[0]["data"] == lines[0]["data"] and read[-1]["data"]["final"] == lines[-1]["data"]["final"]


@pytest.mark.slow
def test_the_wheel_has_one_name_at_the_top(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    (wheel,) = tmp_path.glob("*.whl")
    names = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == {"housewise"}


def test_notebooks_show_the_state_and_the_means_of_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "<b>mine"
    run_module("housewise", [*RUN[2:], "--out", folder], code=0)
    shown = housewise.load_run(folder)._repr_html_()
    assert "&lt;b&gt;mine: personalize, 1 of 1 episode finished" in shown and "<b>" not in shown
    assert "<td>success, %</td><td>0.0</td>" in shown
    for damaged in ("", "[]", '{"overall": {"success_rate": "<script>"}}'):
        (folder / "metrics.json").write_text(damaged)
        assert housewise.load_run(folder)._repr_html_().endswith("1 of 1 episode finished</p>")
