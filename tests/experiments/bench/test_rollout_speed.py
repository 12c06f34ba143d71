"""The rollout speed experiment: that it measures what it says; how fast anything is, no test asks."""

from pathlib import Path

import pytest

from housewise.experiments.bench.rollout_speed import measure, remembering
from housewise.people.memory import MemoryFolder
from housewise.systems.personalize.record import read_house_records
from housewise.systems.personalize.settings import house_settings


def test_the_figures_are_of_all_episodes(tmp_path: Path) -> None:
    config = house_settings(settings={"planner": "scripted", "houses": 3, "max_steps": 40})
    row = measure(config, 2, tmp_path / "run")
    steps = sum(record.result.scores["steps"] for record in read_house_records(tmp_path / "run" / "episodes"))
    assert row["episodes"] == 3 and row["parallel"] == 2
    assert row["episodes_per_minute"] * row["seconds"] == pytest.approx(60 * 3)
    assert row["steps_per_minute"] * row["seconds"] == pytest.approx(60 * steps)


def test_with_notes_what_is_shown_is_known(tmp_path: Path) -> None:
    config = house_settings(settings={"planner": "memory_lookup", "houses": 1, "max_steps": 40})
    noted = remembering(config, 1, tmp_path)
    assert measure(noted, 1, tmp_path / "run")["episodes"] == 1
    folders = (MemoryFolder(tmp_path / name) for name in ("shown/memory", "run/memory_at_start"))
    shown, known = (folder.load("majority").notes for folder in folders)
    assert known == shown and shown
    assert noted == config.with_changes(memory=noted.memory)
