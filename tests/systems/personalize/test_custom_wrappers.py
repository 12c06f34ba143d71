"""Custom wrappers: the documented one as a user runs it, what records keep of them, and faulty ones."""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

import housewise as package
from housewise.agent.personalize.planner import Attempt, Plan
from housewise.core.user_code import UntrustedCodeError
from housewise.language.base import Sampling
from housewise.language.replay import ReplayChatModel
from housewise.systems.personalize.planner_context import PlannerContext
from housewise.systems.personalize.planners import open_planner
from housewise.systems.personalize.record import HouseRecord, read_house_records
from housewise.systems.personalize.settings import AgentSettings
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask
from housewise.worlds.house.scene_graph import SceneGraph
from housewise.worlds.house.simulator import open_simulator
from tests.commands import run_module

DOCS = Path(__file__).parents[3] / "docs"
SCRIPTED = ("--planner", "scripted", "--houses", "1", "seed=25", "max_steps=150")
NAME = "wrappers=./my_wrapper.py:HandsOffBooks"


@pytest.fixture(scope="module")
def documented() -> str:
    """Return the wrapper of the documentation."""
    section = (DOCS / "extending.md").read_text().partition("## A wrapper in a file")[2]
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)[0]


@pytest.fixture(scope="module")
def careful(documented: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run of the documented wrapper."""
    folder = tmp_path_factory.mktemp("careful")
    (folder / "my_wrapper.py").write_text(documented)
    words = ("run", *SCRIPTED, NAME, "--workers", "2", "--repeats", "2", "--out", "run")
    run_module("housewise", words, cwd=folder, code=0)
    return folder


def records(folder: Path) -> list[HouseRecord]:
    return read_house_records(folder / "episodes")


def touched(record: HouseRecord) -> set[str]:
    return {action.target for action in record.actions if action.kind == "pick up" and action.target}


def test_examples_of_the_page_are_short(documented: str) -> None:
    planner = re.findall(r"```python\n(.*?)```", (DOCS / "extending.md").read_text(), re.DOTALL)[0]
    assert len(documented.splitlines()) <= 15 and len(planner.splitlines()) <= 15
    system = (DOCS / "examples" / "drawers" / "drawers" / "system.py").read_text()
    assert len(system.splitlines()) <= 60 and len(re.findall(r"^(?:import|from) ", system, re.MULTILINE)) <= 3
    assert not any("type: ignore" in path.read_text() for path in (DOCS / "examples").rglob("*.py"))


def test_the_documented_wrapper_changes_plans(careful: Path, tmp_path: Path) -> None:
    run_module("housewise", ["run", *SCRIPTED, "--out", tmp_path / "plain"], code=0)
    (plain,) = records(tmp_path / "plain")
    first, second = records(careful / "run")
    assert any("book" in name for name in touched(plain))
    assert not any("book" in name for name in touched(first) | touched(second)) and touched(first)
    assert (careful / "run" / "wrapper-1.py").read_text() == (careful / "my_wrapper.py").read_text()


@pytest.mark.slow
def test_a_record_is_shown_and_replayed_without_the_code(careful: Path, tmp_path: Path) -> None:
    shutil.copytree(careful / "run", tmp_path / "run")
    for words in (("report", "run", "--no-film"), ("compare", "run", "run"), ("replay", "run", "--out", "again")):
        done = run_module("housewise", words, cwd=tmp_path, code=0)
    assert "same final placements: 2 of 2" in done.stdout
    with pytest.raises(UntrustedCodeError, match="setting wrappers names code"):
        package.load_run(tmp_path / "run")


def test_a_run_is_resumed_with_the_same_file_only(careful: Path, tmp_path: Path) -> None:
    shutil.copytree(careful, tmp_path, dirs_exist_ok=True)
    words = ("run", *SCRIPTED, "--repeats", "2", "--out", "run")
    done = run_module("housewise", [*words, f"wrappers={tmp_path}/my_wrapper.py:HandsOffBooks"], cwd=tmp_path, code=0)
    assert "nothing is left to play of 2 episodes" in done.stdout
    assert "other settings (wrappers)" in run_module("housewise", words, cwd=tmp_path, code=2).stderr
    (tmp_path / "my_wrapper.py").write_text("# changed\n" + (tmp_path / "my_wrapper.py").read_text())
    assert "has changed since" in run_module("housewise", [*words, NAME], cwd=tmp_path, code=2).stderr


class Twice:
    """A wrapper that asks twice and takes the second plan."""

    def __init__(self, planner: object, context: PlannerContext) -> None:
        self.planner, self.seed = planner, context.seed

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        self.planner.plan(graph, attempts)  # type: ignore[attr-defined]
        return self.planner.plan(graph, attempts)  # type: ignore[attr-defined, no-any-return]


class Stubborn(Twice):
    """A wrapper that always says the same."""

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> str:  # type: ignore[override]
        self.planner.plan(graph, attempts)  # type: ignore[attr-defined]
        return "mission complete"


@pytest.mark.parametrize("prompt", ["planner", "judging"])
def test_what_a_model_wrote_is_recorded_before_what_a_wrapper_made_of_it(prompt: str, toy: RearrangementTask) -> None:
    env = RearrangementEnv(open_simulator("raycast", ("instance",)), [toy])
    env.reset()
    model = ReplayChatModel(["step 1: go to kitchen 0"] * 2)
    context = PlannerContext(toy, env, 0, model, Sampling())
    graph = SceneGraph(["kitchen 0"])
    twice, stubborn = f"{__name__}:Twice", f"{__name__}:Stubborn"
    plan = open_planner(AgentSettings(prompt=prompt, wrappers=("loop_recovery", twice)))(context).plan(graph, [])
    assert len(plan.prior_calls) == 1 and len(plan.replies) == 2 and plan.messages
    model = ReplayChatModel(["step 1: go to kitchen 0"])
    context = PlannerContext(toy, env, 0, model, Sampling())
    plan = open_planner(AgentSettings(prompt=prompt, wrappers=(stubborn,)))(context).plan(graph, [])
    assert plan.complete and not plan.messages and plan.prior_calls[0].reply.text == "step 1: go to kitchen 0"
    assert plan.text.removeprefix("step 1:").strip() == "mission complete"


class Wordy(Twice):
    """A wrapper whose plans are long."""

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> str:  # type: ignore[override]
        return "\n".join(["go to kitchen 0"] * 15)


@pytest.mark.parametrize("most", [2, 12])
def test_plans_of_a_wrapper_are_as_long_as_the_settings_say(most: int, toy: RearrangementTask) -> None:
    env = RearrangementEnv(open_simulator("raycast", ("instance",)), [toy])
    env.reset()
    context = PlannerContext(toy, env, 0, ReplayChatModel([]), Sampling())
    settings = AgentSettings(wrappers=(f"{__name__}:Wordy",), max_steps_per_plan=most)
    assert len(open_planner(settings)(context).plan(SceneGraph(["kitchen 0"]), []).steps) == most


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("class HandsOffBooks:\n  def __init__(self, planner): ...\n", "has no method plan(graph, attempts)"),
        ("class HandsOffBooks:\n  def plan(self, graph, attempts): ...\n", "is called with the wrapped planner"),
        ("HandsOffBooks = 3\n", "is called with the wrapped planner"),
        ("class Hands: ...\n", "has no attribute 'HandsOffBooks'; available: Hands"),
        ("import nothing_of_the_kind\n", "No module named 'nothing_of_the_kind'"),
        ("def HandsOffBooks(planner): return 3\n", "made 3, which has no plan"),
    ],
)
def test_what_is_no_wrapper_is_one_line(source: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "my_wrapper.py").write_text(source)
    done = run_module("housewise", ["run", *SCRIPTED, NAME, "--out", "run"], cwd=tmp_path)
    (line,) = done.stderr.strip().splitlines()
    assert done.returncode in (2, 3) and "wrapper './my_wrapper.py:HandsOffBooks'" in line and said in line


def test_what_a_wrapper_does_wrong_is_told_with_its_line(tmp_path: Path) -> None:
    source = "class HandsOffBooks:\n  def __init__(self, p): ...\n  def plan(self, graph, attempts): return [1 / 0]\n"
    (tmp_path / "my_wrapper.py").write_text(source)
    run_module("housewise", ["run", *SCRIPTED, NAME, "--out", "run"], cwd=tmp_path, code=3)
    (error,) = json.loads((tmp_path / "run" / "metrics.json").read_text())["failed"]["errors"].values()
    assert "ZeroDivisionError: division by zero, in my_wrapper.py:3 (plan)" in error
