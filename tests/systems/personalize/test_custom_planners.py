"""Custom planners: the documented one as a user runs it, and faulty ones."""

import json
import re
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import housewise as package
from housewise.core.errors import UserError
from housewise.systems.personalize.record import read_house_records
from tests.commands import run_module

DOCS = Path(__file__).parents[3] / "docs" / "extending.md"
FUNCTION = "def plan(graph, attempts):\n    return 'go to kitchen 0\\nmission complete'\n"


def run(folder: Path, *words: str | Path, source: str | None = None) -> CompletedProcess[str]:
    """Run episodes of a few steps from a folder with ``my_planner.py`` in it."""
    if source is not None:
        (folder / "my_planner.py").write_text(source)
    out = () if "--out" in words else ("--out", "run")
    return run_module("housewise", ["run", "--houses", "1", "max_steps=60", *out, *words], cwd=folder)


def last_line(result: CompletedProcess[str]) -> str:
    """Return the one-line error of a failed command."""
    assert result.returncode in (2, 3), result.stdout + result.stderr
    (line,) = [line for line in result.stderr.splitlines() if line.strip()]
    return line


@pytest.fixture(scope="module")
def documented() -> list[str]:
    """Return the planner and the program of the documentation's section on planners."""
    section = DOCS.read_text().partition("## A planner in a file")[2].partition("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)


def test_the_documented_planner_runs_in_processes_and_is_replayed(documented: list[str], tmp_path: Path) -> None:
    words = ("--planner", "./my_planner.py:CupTidier", "--repeats", "2", "--workers", "2")
    result = run(tmp_path, *words, source=documented[0])
    assert result.returncode == 0, result.stderr
    first, _ = read_house_records(tmp_path / "run" / "episodes")
    assert first.plans[0].reply.startswith("go to ") and first.actions[0].status == "succeeded"
    # Its file is gone, and the copy in the run's folder is nobody's program.
    (tmp_path / "my_planner.py").unlink()
    (tmp_path / "run" / "planner.py").write_text("raise SystemExit('it ran')")
    result = run_module("housewise", ["replay", "run", "--out", "again"], cwd=tmp_path)
    assert result.returncode == 0 and "same final placements: 2 of 2" in result.stdout, result.stderr


def test_the_documented_program_plays(documented: list[str], tmp_path: Path) -> None:
    (tmp_path / "my_planner.py").write_text(documented[0])
    (tmp_path / "program.py").write_text(documented[1])
    result = run_module("program", [], cwd=tmp_path)
    assert result.returncode == 0 and 0 <= float(result.stdout) <= 1, result.stderr


@pytest.mark.parametrize("name", ["my_planner:plan", "./my_planner.py:plan"])
def test_a_function_in_the_working_directory_is_a_planner(name: str, tmp_path: Path) -> None:
    result = run(tmp_path, "--planner", name, source=FUNCTION)
    assert result.returncode == 0, result.stderr
    (record,) = read_house_records(tmp_path / "run" / "episodes")
    assert (record.header.agent, record.plans[0].reply) == (name, "go to kitchen 0\nmission complete")
    assert record.result.end_reason == "complete"


@pytest.mark.parametrize(
    ("source", "name", "said"),
    [
        ("class P:\n  def plan(self, graph:\n    return ''\n", "P", r"SyntaxError: .*, in my_planner\.py:2: def plan"),
        ("import nothing_of_the_kind\n", "P", r"No module named .*, in my_planner\.py:1: import nothing_of_the_kind"),
        ("def tour(graph, attempts): ...\n", "tuor", r"has no attribute 'tuor'; did you mean tour\?"),
        ("class P: ...\n", "P", r"P has no method plan\(graph, attempts\)"),
        ("class P:\n  def plan(self, graph): ...\n", "P", r"called with \(graph, attempts\)"),
        (
            "class P:\n  def __init__(self, a, b): ...\n  def plan(self, g, a): ...\n",
            "P",
            "without any, or with a PlannerContext",
        ),
        ("P = 3\n", "P", "cannot be called"),
    ],
    ids=["syntax", "import", "name", "no plan", "arguments", "constructor", "number"],
)
def test_what_is_no_planner_is_told_before_anything_is_made(source: str, name: str, said: str, tmp_path: Path) -> None:
    line = last_line(run(tmp_path, "--planner", f"./my_planner.py:{name}", source=source))
    assert re.search(said, line) and "planner './my_planner.py:" in line, line
    assert not (tmp_path / "run").exists()


def test_a_file_without_a_name_in_it(tmp_path: Path) -> None:
    assert "use ./my_planner.py:NAME" in last_line(run(tmp_path, "--planner", "./my_planner.py", source=FUNCTION))


FAULTS = [
    ("return None", "my_planner.py:2 (P.plan) returned None; return the plan as text"),
    ("return ['go to kitchen']", "which is list and not text"),
    ("return 1 / 0", "ZeroDivisionError: division by zero, in my_planner.py:3 (plan): return 1 / 0"),
    ("return graph.no_such_thing", "no attribute 'no_such_thing', in my_planner.py:3 (plan): return graph.no_such"),
    ("return open('/nowhere').read()", "'/nowhere', in my_planner.py:3 (plan): return open('/nowhere').read()"),
    ("exit()", "it ended the program"),
    ("return self.situation.answers", "set asks_model = True"),  # former name of required_model
]


@pytest.mark.parametrize(
    ("body", "said", "workers"), [*((*fault, "1") for fault in FAULTS), *((*FAULTS[n], "2") for n in (2, 5))]
)
def test_what_a_planner_does_wrong_is_told_with_its_line(body: str, said: str, workers: str, tmp_path: Path) -> None:
    source = (
        f"class P:\n  def plan(self, graph, attempts):\n    {body}\n  def __init__(self, it): self.situation = it\n"
    )
    result = run(tmp_path, "--planner", "./my_planner.py:P", "--workers", workers, "repeats=2", source=source)
    assert result.returncode == 3 and "2 of 2 episodes failed" in last_line(result)
    # In the last lines of the run, and in its figures.
    assert "generated-0-0000-run1: " in result.stdout and result.stdout.count(said) >= 2, result.stdout
    failed = json.loads((tmp_path / "run" / "metrics.json").read_text())["failed"]
    assert len(failed["errors"]) == 2 and all(said in error for error in failed["errors"].values()), failed


def test_a_run_goes_on_with_the_same_file_wherever_it_lies(tmp_path: Path) -> None:
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
    words = ("--planner", "./my_planner.py:plan", "--out", tmp_path / "out")
    assert run(tmp_path / "here", *words, source=FUNCTION).returncode == 0
    moved = run(tmp_path / "there", *words, "--repeats", "2", source=FUNCTION)
    assert moved.returncode == 0 and "1 of 2 episodes are finished already" in moved.stdout, moved.stderr
    line = last_line(run(tmp_path / "there", *words, "--repeats", "3", source=f"# changed\n{FUNCTION}"))
    assert "my_planner.py: has changed since" in line and str(tmp_path / "out" / "planner.py") in line


def test_a_planner_that_was_mended_goes_on_where_nothing_was_finished(tmp_path: Path) -> None:
    words = ("--planner", "./my_planner.py:plan", "--fail-fast", "repeats=2")
    line = last_line(run(tmp_path, *words, source=FUNCTION.replace("return", "return 1 +")))
    assert "generated-0-0000-run0 failed (TypeError: " in line and "my_planner.py:2 (plan)" in line
    assert len(list((tmp_path / "run" / "episodes").iterdir())) == 1
    assert run(tmp_path, *words, source=FUNCTION).returncode == 0
    assert (tmp_path / "run" / "planner.py").read_text() == FUNCTION


class Looking:
    """Prints its context."""

    def __init__(self, situation: object) -> None:
        print(repr(situation))

    def plan(self, graph: object, attempts: object) -> str:
        print(repr(graph))
        return "mission complete"


def test_what_a_planner_gets_says_what_it_is_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    record = package.play(0, Looking)
    assert record.header.agent == "Looking" and record.result.end_reason == "complete"
    situation, graph = capsys.readouterr().out.splitlines()
    assert re.fullmatch(
        r"<PlannerContext: generated-0, episode 0, \d+ objects, seed 0, no model, no memory>", situation
    )
    assert graph.startswith("<SceneGraph: rooms ") and "kitchen 0" in graph and "nothing in the hand" in graph


@pytest.mark.parametrize(
    ("planner", "said"),
    [(lambda graph, attempts: None, "returned None"), (3, "has no method plan"), (lambda graph: "", "takes other")],
)
def test_a_program_is_told_what_is_no_planner(planner: object, said: str) -> None:
    with pytest.raises(UserError, match=said):
        package.play(0, planner)  # type: ignore[arg-type]
