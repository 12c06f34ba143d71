"""A package of somebody else's, installed beside this one: docs/extending.md, carried out."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from housewise.rollout.record_reader import read_records
from housewise.systems.personalize.record import read_house_records
from tests.commands import run_module, started_module

DOCS = Path(__file__).parents[2] / "docs"
LIKED = ["67", "83", "100"]


@pytest.fixture(scope="session")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package is installed."""
    target = tmp_path_factory.mktemp("beside")
    source = tmp_path_factory.mktemp("source") / "drawers"
    subprocess.run(["cp", "-r", str(DOCS / "examples" / "drawers"), str(source)], check=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return target


def environment() -> dict[str, str]:
    return {**os.environ, "COLUMNS": "200"}


def housewise(beside: Path | None, *words: str | Path, code: int = 0) -> str:
    done = run_module("housewise", words, environment(), beside=beside)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


def liked(folder: Path) -> dict[str, str]:
    """By how much the person liked what was done, by name of the record."""
    records = Path(folder / "episodes").glob("*.jsonl")
    lines = {path.stem: json.loads(path.read_text().splitlines()[-1]) for path in records}
    return {name: f"{100 * line['data']['scores']['liked']:.0f}" for name, line in lines.items()}


def remembered(folder: Path, person: str) -> list[str]:
    lines = (folder / "memory" / person / "notes.jsonl").read_text().splitlines()[1:]
    return [json.loads(line)["text"] for line in lines]


@pytest.fixture(scope="session")
def played(beside: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played") / "run"
    housewise(beside, "run", "--system", "drawers", "--out", folder, "repeats=3")
    return folder


def test_it_is_played_and_learns_from_what_is_remembered(played: Path) -> None:
    found = liked(played)
    assert [found[f"drawers-ann-run{run}"] for run in range(3)] == LIKED
    assert len(remembered(played, "ann")) == 18
    overall = json.loads((played / "metrics.json").read_text())["overall"]
    assert overall["liked_stderr"] > 0 and overall["ended"] == {"all put away": 6}


@pytest.mark.slow
def test_it_is_resumed_after_a_kill_with_the_memory_that_it_had(beside: Path, tmp_path: Path) -> None:
    people = ",".join(f"p{number}" for number in range(25))
    words = ("run", "--system", "drawers", "repeats=3", f"people=[{people}]")
    with started_module("housewise", [*words, "--out", tmp_path / "killed"], environment(), beside=beside) as program:
        while program.poll() is None and len(list(tmp_path.glob("killed/episodes/*.jsonl"))) < 7:
            time.sleep(0.005)
        program.send_signal(signal.SIGKILL)
        assert program.wait() == -signal.SIGKILL
    before = set(liked(tmp_path / "killed"))
    assert 7 <= len(before) < 75
    housewise(beside, *words, "--out", tmp_path / "killed")
    housewise(beside, *words, "--out", tmp_path / "whole")
    assert liked(tmp_path / "killed") == liked(tmp_path / "whole") and len(liked(tmp_path / "whole")) == 75
    for person in ("p0", "p1", "p24"):
        assert sorted(remembered(tmp_path / "killed", person)) == sorted(remembered(tmp_path / "whole", person))


def test_it_goes_by_a_memory_that_is_kept_whoever_the_tasks_are_of(beside: Path, tmp_path: Path) -> None:
    words = ("run", "--system", "drawers", "--memory", "ann", f"memory.folder={tmp_path / 'kept'}")
    housewise(beside, *words, "memory.new=true", "people=[ann]", "repeats=3", "--out", tmp_path / "first")
    housewise(beside, *words, "--out", tmp_path / "second")
    assert liked(tmp_path / "second")["drawers-ann-run0"] == "100"
    assert set(liked(tmp_path / "second")) == {"drawers-ann-run0", "drawers-ben-run0"}
    kept = (tmp_path / "kept" / "ann" / "notes.jsonl").read_text().splitlines()[1:]
    # Ben's drawers are scored by Ben's preferences.
    assert len(kept) == 24 and {json.loads(line)["person"] for line in kept} == {"ann"}


def test_a_name_that_no_memory_can_have_is_refused_before_anything_is_played(beside: Path, tmp_path: Path) -> None:
    words = ("run", "--system", "drawers", "people=[ann, Zoë Ünal]", "--out", tmp_path / "run")
    told = housewise(beside, *words, code=2)
    assert told.startswith("error: task drawers-Zoë Ünal: person: 'Zoë Ünal' cannot be a person's name: use letters a")
    assert not (tmp_path / "run").exists()


def test_two_workers_keep_a_persons_episodes_in_order(beside: Path, played: Path, tmp_path: Path) -> None:
    housewise(beside, "run", "--system", "drawers", "--out", tmp_path, "repeats=3", "--workers", "2")
    assert liked(tmp_path) == liked(played)


@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")
def test_it_is_played_on_a_cluster(beside: Path, played: Path, tmp_path: Path) -> None:
    housewise(beside, "run", "--system", "drawers", "--out", tmp_path, "repeats=3", "--workers", "2", "--ray", "local")
    assert liked(tmp_path) == liked(played)


def test_it_is_reported_and_compared(beside: Path, played: Path, tmp_path: Path) -> None:
    housewise(beside, "report", played)
    index = (played / "report.html").read_text()
    assert "liked, %" in index and "drawers-ben" in index
    page = (played / "report" / "drawers-ann-run0.html").read_text()
    assert "The spoon belongs in the top drawer." in page and ">put<" in page
    shown = housewise(beside, "compare", played, played)
    assert "liked, %" in shown and "6 episodes" in shown


def test_its_records_are_read_where_it_is_not_installed(played: Path) -> None:
    for record in read_records(played / "episodes"):
        assert record.header.system == "drawers" and len(record.events) >= 12
    error = housewise(None, "run", "--system", "drawers", "--out", played, code=2)
    assert (
        "no system 'drawers' is installed; available: adapt, basis, clipr, personalize, stars" in error
        and "Traceback" not in error
    )


def test_settings_of_another_system_are_refused(beside: Path, played: Path, tmp_path: Path) -> None:
    error = housewise(beside, "run", "--planner", "scripted", "--out", played, code=2)
    assert "holds a run of drawers, not of personalize" in error
    error = housewise(beside, "run", "--system", "drawers", "--houses", "3", "--out", tmp_path, code=2)
    assert "unknown setting 'houses'" in error


def test_a_record_of_another_system_is_in_no_mean(played: Path, beside: Path, tmp_path: Path) -> None:
    command = ("run", "--houses", "1", "--planner", "scripted", "max_steps=20", "--out", tmp_path)
    housewise(beside, *command)
    before = json.loads((tmp_path / "metrics.json").read_text())
    shutil.copy(next((played / "episodes").glob("*.jsonl")), tmp_path / "episodes")
    housewise(beside, *command)
    assert json.loads((tmp_path / "metrics.json").read_text()) == before and before["overall"]["episodes"] == 1


def test_small_parts_are_found_by_name(beside: Path, tmp_path: Path) -> None:
    common = ("run", "--houses", "1", "max_steps=40")
    out = housewise(beside, *common, "--planner", "wanderer", "--simulator", "slow", "--out", tmp_path / "a")
    assert "generated-0-0000-run0" in out
    out = housewise(beside, *common, "--model", "parrot:step 1: go to the kitchen", "--out", tmp_path / "b")
    assert "generated-0-0000-run0" in out
    out = housewise(
        beside, *common[:3], "max_steps=1000", "--planner", "wanderer", "wrappers=hesitant", "--out", tmp_path / "c"
    )
    (record,) = read_house_records(tmp_path / "c" / "episodes")
    assert "generated-0-0000-run0" in out and record.plans[-1].reply.endswith("mission complete")
    assert "wanderer" in housewise(beside, "list", "planners") and "hesitant" in housewise(beside, "list", "wrappers")
    assert "wanderer" not in housewise(None, "list", "planners")


def test_a_trainer_and_a_filter_are_found_by_name(beside: Path, tmp_path: Path) -> None:
    tasks = ["demonstrations.houses=1", "training_tasks.houses=1", "evaluation.tasks=[]", "iterations=0"]
    more = ["training.trainer=nothing", "filter.name=short", "run.max_steps=40"]
    housewise(beside, "selftrain", *tasks, *more, "--out", tmp_path)
    assert json.loads((tmp_path / "imitate" / "model.json").read_text())["model"] == "local"


def other(folder: Path, name: str, value: str, group: str = "systems") -> Path:
    """A package that names a part."""
    info = folder / f"{name}-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[housewise.{group}]\ndrawers = {value}\n")
    return folder


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("no.such.module:Drawers", "cannot be imported from no.such.module:Drawers of odd"),
        ("json:loads", "is no class of systems"),
        ("json:nothing", "cannot be imported"),
    ],
)
def test_an_entry_point_that_leads_nowhere_is_named(tmp_path: Path, value: str, told: str) -> None:
    error = housewise(other(tmp_path / "odd", "odd", value), "run", "--system", "drawers", code=2)
    assert told in error and len(error.strip().splitlines()) == 1


def test_a_planner_that_makes_no_planners_is_named(tmp_path: Path) -> None:
    odd = other(tmp_path / "odd", "odd", "json:loads", "planners")
    error = housewise(odd, "run", "--houses", "1", "--planner", "drawers", "--out", tmp_path / "run", code=2)
    assert "planner 'drawers': failed (TypeError" in error and len(error.strip().splitlines()) == 1


def test_a_name_that_two_packages_use_is_refused(beside: Path, tmp_path: Path) -> None:
    both = Path(f"{beside}{os.pathsep}{other(tmp_path / 'odd', 'odd', 'json:loads')}")
    error = housewise(both, "run", "--system", "drawers", code=2)
    assert "is there more than once" in error and "odd" in error
    # What has nothing to do with it goes on.
    housewise(both, "run", "--houses", "1", "--planner", "scripted", "max_steps=20", "--out", tmp_path / "run")


def test_the_page_shows_the_package_as_it_is() -> None:
    page = (DOCS / "extending.md").read_text()
    for name in ("pyproject.toml", "drawers/system.py", "drawers/parts.py"):
        block = re.search(rf"`{re.escape(name)}`[^\n]*\n\n```\w+\n(.*?)```", page, re.DOTALL)
        assert block and block[1] == (DOCS / "examples" / "drawers" / name).read_text(), name


ODD_PARTS = """
import json
Nothing = None
Lambda = lambda: 1
class Wants:
    def __init__(self, a, b, c, d, e, f, g):
        pass
def fails(*arguments, **options):
    raise LookupError("no such thing")
def gives_a_number(*arguments, **options):
    return 3
"""


@pytest.mark.parametrize(
    ("group", "command"),
    [
        ("systems", ("run", "--system", "drawers")),
        ("planners", ("run", "--houses", "1", "--planner", "drawers")),
        ("simulators", ("run", "--houses", "1", "--planner", "scripted", "--simulator", "drawers")),
        ("models", ("run", "--houses", "1", "--model", "drawers:x")),
        ("trackers", ("run", "--houses", "1", "--planner", "scripted", "--log-to", "drawers")),
        ("filters", ("selftrain", "--houses", "1", "--model", "local:/nowhere", "filter.name=drawers")),
        ("trainers", ("selftrain", "--houses", "1", "training.trainer=drawers", "iterations=0", "target=executed")),
    ],
)
def test_parts_that_are_none_are_named_in_a_line(tmp_path: Path, group: str, command: tuple[str, ...]) -> None:
    """Whatever a package names: nothing, something else, what fails, or what raises what nobody catches."""
    place = tmp_path / "odd"
    for number, value in enumerate(("odd_parts:Nothing", "odd_parts:Wants", "odd_parts:fails", "odd_exit:X")):
        shutil.rmtree(place, ignore_errors=True)
        other(place, "odd", value, group)
        (place / "odd_parts.py").write_text(ODD_PARTS)
        (place / "odd_exit.py").write_text("class Stop(BaseException): pass\nraise Stop('so')\n")
        if group == "filters" and value in ("odd_parts:Wants", "odd_parts:fails"):
            continue  # Functions that are called when there is something to filter.
        error = housewise(place, *command, "--out", tmp_path / f"run{number}", code=2)
        lines = error.strip().splitlines()
        assert len(lines) == 1 and "'drawers'" in lines[0], error


@pytest.mark.slow
def test_a_broken_package_is_in_nobody_elses_way(tmp_path: Path) -> None:
    """What is listed or shown imports nothing; the import here would never end."""
    groups = ("systems", "planners", "simulators", "models", "trackers", "filters", "trainers", "views", "exports")
    place = tmp_path / "odd"
    for group in groups:
        other(place, f"odd_{group}", "odd_sleep:X", group)
    (place / "odd_sleep.py").write_text("import time\ntime.sleep(10_000)\n")
    assert "drawers" in housewise(place, "list", "planners")
    assert "--planner" in housewise(place, "run", "--help")
    run = tmp_path / "run"
    housewise(place, "run", "--houses", "1", "--planner", "scripted", "max_steps=5", "--out", run)
    housewise(place, "report", run, "--no-film")
