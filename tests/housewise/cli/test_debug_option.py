"""What is said of errors in the user's own code and elsewhere, with and without ``--debug``."""

import json
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.commands import run_module

OWN = """
def plan(graph, attempts):
    raise KeyError(len(graph.rooms))

def keep(pairs, settings):
    return pairs[0] + 1

class Planner:
    def __init__(self, situation):
        raise ValueError("no luck")

    def plan(self, graph, attempts):
        return ""
"""
RUN = ("run", "--houses", "2", "max_steps=30", "--out", "run")


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work beside code of the user's own."""
    (tmp_path / "own_code.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    # Modules of this name that other tests have imported here are other ones.
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "own_code", raising=False)


def housewise(*words: str) -> CompletedProcess[str]:
    return run_module("housewise", words)


@pytest.mark.parametrize("words", [("--debug", *RUN), (*RUN, "--debug")], ids=["before", "behind"])
def test_an_episode_that_fails_shows_its_traceback(words: tuple[str, ...]) -> None:
    result = housewise(*words, "--planner", "own_code:plan", "--workers", "2")
    assert result.returncode == 3
    said = result.stdout + result.stderr
    assert said.count("raise KeyError(len(graph.rooms))\n") >= 2 and "Traceback (most recent call last):" in said
    # That of what sums it up says nothing.
    assert "FailedEpisodesError" not in said


def test_without_it_an_error_is_a_line() -> None:
    result = housewise(*RUN, "--planner", "own_code:Planner")
    (line,) = result.stderr.splitlines()
    assert "2 x ValueError in own_code.py:" in line and '(__init__): raise ValueError("no luck")' in line
    assert "Traceback" not in result.stdout


def test_a_mistake_of_the_users_shows_where_it_was_noticed() -> None:
    for words, has_one in ((("run", "seeed=1"), False), (("list", "nothing", "--debug"), True)):
        result = housewise(*words)
        assert result.returncode == 2 and ("Traceback" in result.stderr) is has_one
        assert result.stderr.splitlines()[-1].startswith("error: ")


def test_the_first_failed_episode_ends_a_run_that_then_goes_on() -> None:
    words = (*RUN, "--planner", "own_code:plan", "--fail-fast")
    result = housewise(*words)
    (line,) = result.stderr.splitlines()
    assert result.returncode == 3 and "generated-0-0000-run0 failed (KeyError: 8, in own_code.py:3 (plan): " in line
    assert "to resume: the same command with --out run" in result.stdout
    assert json.loads(Path("run/metrics.json").read_text())["failed"]["episodes"] == 1
    assert [path.name for path in Path("run/episodes").iterdir()] == ["generated-0-0000-run0.jsonl.failed"]
    code = Path("own_code.py")
    code.write_text(code.read_text().replace("raise KeyError(len(graph.rooms))", "return 'mission complete'"))
    assert housewise(*words).returncode == 0
    assert {path.suffix for path in Path("run/episodes").iterdir()} == {".jsonl"}


def test_a_filter_that_fails_is_told_with_its_line() -> None:
    from housewise.core.errors import UserError
    from housewise.selftrain.personalize.filters import FilterSettings, apply_filter

    with pytest.raises(
        UserError, match=r"failed \(IndexError: .*, in own_code\.py:6 \(keep\): return pairs\[0\] \+ 1\)"
    ):
        apply_filter("./own_code.py:keep", [], FilterSettings())


def test_what_nobody_expects_of_the_users_code_is_told_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """As where a trainer, a simulator or a tracker fails while it works."""
    from housewise.core.exit_codes import run_cli
    from housewise.core.plugins import FILTERS
    from housewise.core.user_code import load_plugin_or_code

    keep = load_plugin_or_code(FILTERS, "./own_code.py:keep", "filter")
    with pytest.raises(SystemExit) as ended:
        run_cli(lambda: keep([], None))
    (line,) = capsys.readouterr().err.splitlines()
    assert ended.value.code == 2 and "IndexError: list index out of range, in own_code.py:6 (keep)" in line
    assert line.endswith("or see the whole traceback with --debug")
