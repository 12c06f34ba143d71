"""The experiment that makes sessions to learn from, killed within a session and resumed."""

import signal
from pathlib import Path

import pytest

pytest.importorskip("pandas", reason="the extra housewise[experiments] is not installed")

from housewise.core.errors import UserError
from housewise.experiments.basis.sentences import count_sentences
from housewise.experiments.results_table import read_table
from housewise.experiments.statistics import summarize
from tests.commands import run_module
from tests.systems.basis.sessions import SIMPLE
from tests.systems.command_runs import environment

POWER = "fire_freezeray__none__power"
WORDS = ["experiment", "basis-sessions", f"variant=[{SIMPLE},{POWER}]", "scenarios=2", "max_actions=8"]


def play(folder: Path, *words: str, events: int = 0) -> str:
    """Play the experiment; it is killed after so many events, where there are any."""
    done = run_module("tests.systems.mortal", [events, *WORDS, *words], environment(), folder)
    assert done.returncode == (-signal.SIGKILL if events else 0), done.stdout + done.stderr
    return " ".join(done.stdout.split())


@pytest.mark.slow
def test_killed_within_a_session_it_ends_the_same(tmp_path: Path) -> None:
    shown = play(tmp_path, "--out", "whole")
    play(tmp_path, "--out", "killed", events=30)
    assert "1 episodes of 1 tasks; 3 are missing" in play(tmp_path, "--out", "killed", "--show")
    play(tmp_path, "--out", "killed")
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert (killed / "basis-sessions.csv").read_bytes() == (whole / "basis-sessions.csv").read_bytes()
    assert len(list((whole / "sessions" / "episodes").iterdir())) == 4

    table = read_table(whole / "basis-sessions.csv")
    kept = table.select({"measure": ["success_all"]}).frame
    means = summarize(kept, ["precondition"]).set_index("precondition")
    assert dict(means["episode_count"]) == {"simple": 2, "power": 2}
    assert 0 < means["mean"]["simple"] != means["mean"]["power"]
    # The last row is over all sessions, beside what was published.
    assert f" all {100 * kept['value'].mean():.1f} ± " in shown and "[95.9]" in shown

    sentences = {value.measure: value.value for value in count_sentences(str(whole))}
    assert sentences["sessions"] == 4 and 1 < sentences["different_sentences"] < sentences["sentences"]
    with pytest.raises(UserError, match="no finished sessions"):
        list(count_sentences(str(whole), "test"))
