"""The speed of runs: that it is of all episodes; how fast anything is, no test asks."""

from pathlib import Path

import pytest

from housewise.experiments.bench.rollout_speed import add_memory, time_run, time_runs
from housewise.people.memory import MemoryFolder
from housewise.systems.personalize.record import read_house_records
from housewise.systems.personalize.settings import house_settings


def test_speeds_are_of_all_episodes(tmp_path: Path) -> None:
    speeds = time_run(house_settings(settings={"planner": "scripted", "houses": 3, "max_steps": 40}), tmp_path / "run")
    steps = sum(record.result.scores["steps"] for record in read_house_records(tmp_path / "run" / "episodes"))
    assert speeds["steps_per_minute"] / speeds["episodes_per_minute"] == pytest.approx(steps / 3)


def test_several_at_a_time_are_compared_with_one_after_another() -> None:
    settings = {"planner": "scripted", "houses": 2, "max_steps": 20}
    assert {value.measure: value.value for value in time_runs(2, **settings)}["times_one"] > 0
    assert "times_one" not in {value.measure for value in time_runs(1, **settings)}


@pytest.mark.slow
def test_demonstrations_are_remembered(tmp_path: Path) -> None:
    config = house_settings(settings={"planner": "memory_lookup", "houses": 1, "max_steps": 40})
    noted = add_memory(config, 1, tmp_path)
    time_run(noted, tmp_path / "noted")
    folders = (MemoryFolder(tmp_path / name) for name in ("run/memory", "noted/memory_at_start"))
    demonstrated, known = (folder.load("majority").notes for folder in folders)
    assert known == demonstrated and demonstrated
    assert noted == config.with_changes(memory=noted.memory)
