"""What answers were worth, from records of scripted cooks."""

from pathlib import Path

import pytest

from housewise.experiments.adapt.figures import answer_value
from housewise.language.embedder import has_minilm
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from tests.systems.command_runs import adapt, record_of

pytestmark = pytest.mark.skipif(not has_minilm(), reason="needs MiniLM")


def test_a_cook_that_asks_hears_wishes_and_fulfils_them(tmp_path: Path) -> None:
    people = {person.name: person for person in load_profiles(ADAPT_PROFILES)}
    adapt("person=juan", "task=[4]", "planner=always", "--out", tmp_path / "asks")
    adapt("person=juan", "task=[4]", "planner=never", "--out", tmp_path / "never")
    asked = answer_value([record_of(tmp_path / "asks", "juan-4-run0")], people)
    assert 0 < asked["answers"] < 1, "some questions find that people are flexible"
    assert asked["wishes"] > 0.5 and asked["satisfied"] == 1
    never = answer_value([record_of(tmp_path / "never", "juan-4-run0")], people)
    assert never["answers"] is None and never["satisfied"] is None and never["wishes"] == 0
    assert never["satisfied_unheard"] < 1
    assert answer_value([], people) == dict.fromkeys(("answers", "wishes", "satisfied", "satisfied_unheard"))
