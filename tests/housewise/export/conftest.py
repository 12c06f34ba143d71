"""A short run of two houses, and one of a system that is not installed."""

from pathlib import Path

import pytest

from housewise.export.episode_playback import Playback
from housewise.export.house_player import HousePlayer
from housewise.systems.personalize.record import HouseRecord, read_house_records
from tests.housewise.report.conftest import play
from tests.record_lines import write_lines

STEPS = 90
HOSTILE = "# Title\n[click](javascript:alert(1)) <script>alert(1)</script> \x1b[2J\u202egnihton"


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(tmp_path_factory.mktemp("exports") / "run", houses=2, max_steps=STEPS)


@pytest.fixture(scope="session")
def records(run: Path) -> list[HouseRecord]:
    return list(read_house_records(run / "episodes"))


@pytest.fixture(scope="session")
def played(run: Path, records: list[HouseRecord]) -> list[Playback]:
    player = HousePlayer()
    return [player.play(record.record, run / "episodes" / f"{record.name}.jsonl") for record in records]


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A run of somebody else's system, with a type of event and words that want to be more than text."""
    lines = [
        {"type": "header", "data": {"version": 2, "system": "pantry", "task": "soup"}},
        {"type": "stir/../\x1b[2J", "data": {"said": HOSTILE, "times": 3}},
        {"type": "taste", "data": {"said": "good"}},
        {"type": "result", "data": {"ended": "eaten", "scores": {"taste": 0.5}}},
    ]
    folder = tmp_path / "pantry" / "episodes"
    folder.mkdir(parents=True)
    write_lines(folder / "soup-run0.jsonl", lines)
    return folder.parent
