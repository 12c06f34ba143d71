"""The benchmark of reports: that it measures what it says; how fast anything is, no test asks."""

import signal
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.experiments.bench.report import copy_records, measure, measured_commit, time_command
from housewise.report.entries import read_entries
from housewise.rollout.comparison import compare
from tests.housewise.report.conftest import play

pytestmark = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="takes the /proc of Linux")
PYTHON = Path(sys.executable)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two short episodes."""
    return play(tmp_path_factory.mktemp("bench") / "played", houses=2, max_steps=8)


def test_copies_are_episodes_of_their_own_of_which_no_two_of_a_house_follow_each_other(
    played: Path, tmp_path: Path
) -> None:
    copy_records(played, tmp_path / "copies", 7)
    entries, notes = read_entries(tmp_path / "copies")
    assert len(entries) == 7 and not [note for note in notes if "Left out" in note]
    houses = [entry.header.task for entry in entries if entry.header]
    assert all(one != other for one, other in pairwise(houses))
    finished = [entry.finished_episode for entry in entries if entry.finished_episode]
    assert compare(finished, finished).common == 7


def test_every_row_is_of_all_episodes(played: Path, tmp_path: Path) -> None:
    rows = {row.what: row for row in measure(PYTHON, played, tmp_path / "run", 2, 600)}
    assert list(rows) == ["index", "pages", "films", "compare"]
    assert (rows["pages"].made, rows["films"].made) == (2, 2)
    assert all(row.episodes == 2 and row.finished and row.cpu_seconds > 0 and row.peak_mb > 0 for row in rows.values())
    assert rows["index"].cpu_seconds <= rows["pages"].cpu_seconds


def test_a_command_is_interrupted_or_its_failure_told() -> None:
    forever = [PYTHON, "-c", "import time\nwhile True: time.sleep(0.1)"]
    # As in a job of a shell's background.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert not time_command(forever, 0.5)[2]
    finally:
        signal.signal(signal.SIGINT, before)
    with pytest.raises(UserError, match="no such thing"):
        time_command([PYTHON, "-c", "raise SystemExit('no such thing')"], 60)


def test_the_installation_that_was_measured_is_named() -> None:
    assert measured_commit(PYTHON).keys() == {"commit", "changed"}
