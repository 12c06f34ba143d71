"""A person who says where things belong: what they are heard to say is what they want."""

from __future__ import annotations

from pathlib import Path

import pytest

from housewise.people.house.respondent import HouseRespondent
from housewise.people.respondent import Question
from housewise.worlds.house.preferences import load_person

ME = """
name: me
wants:
  drinkware: {kitchen: [shelf, table], bedroom: [table]}
  mug: {kitchen: [sink]}
  dog_bowl: {bathroom: [bathtub]}
"""


@pytest.fixture
def me(tmp_path: Path) -> HouseRespondent:
    (tmp_path / "me.yaml").write_text(ME, encoding="utf-8")
    return HouseRespondent(load_person(tmp_path / "me.yaml"), seed=3)


def test_most_of_what_is_asked_about_decides_and_the_first_of_each_room_comes_first(me: HouseRespondent) -> None:
    question = "Where should drinkware be (mug, cup, tumbler), and where not? Usual are (1) shelf in the kitchen, "
    said = me.answer(Question(f"{question}(2) sofa in the living room.")).text
    places = [said.index(place) for place in ("shelf in the kitchen", "table in the bedroom", "table in the kitchen")]
    assert places == sorted(places) and "sink" not in said
    assert "sofa in the living room" in said, "it was asked what not"
    assert said == me.answer(Question(f"{question}(2) sofa in the living room.")).text


def test_a_dog_bowl_is_no_bowl_and_of_what_nobody_has_nothing_is_said(me: HouseRespondent) -> None:
    usual = "Where do mugs and cups go? Usual are (1) dishwasher in the kitchen."
    assert " washer" not in me.answer(Question(usual)).text
    assert "bathtub in the bathroom" in me.answer(Question("Where does the dog bowl go?")).text
    assert " in the " not in me.answer(Question("What do you think of the moon?")).text
