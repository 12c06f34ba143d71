"""People who do not exist, as files."""

from pathlib import Path

from housewise.people.kitchen.invented_profiles import invent_profile
from housewise.people.kitchen.profile_files import load_profiles
from tests.commands import run_module


def test_invented_people_are_read_as_they_were_drawn(tmp_path: Path) -> None:
    done = run_module("housewise.experiments.adapt.invent", ["--people", "3", "--out", tmp_path / "people"])
    assert done.returncode == 0 and not done.stdout, done.stderr
    assert load_profiles(tmp_path / "people") == [invent_profile(seed) for seed in (10000, 10001, 10002)]


def test_who_is_met_in_the_warm_up_is_named(tmp_path: Path) -> None:
    done = run_module("housewise.experiments.adapt.invent", ["--people", "1", "--seed", "7", "--out", tmp_path])
    assert "met in the warm-up" in done.stdout
