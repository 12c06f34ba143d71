"""The respondent who answers where things belong."""

from pathlib import Path

import pytest

from housewise.people.house.respondent import HouseRespondent
from housewise.people.respondent import Question
from housewise.worlds.house.preferences import load_preferences

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
    return HouseRespondent(load_preferences(tmp_path / "me.yaml"), seed=3)


def test_the_answer_has_the_places_of_most_things_one_room_after_another(me: HouseRespondent) -> None:
    question = "Where should drinkware be (mug, cup, tumbler), and where not? Usual are (1) shelf in the kitchen, "
    said = me.answer(Question(f"{question}(2) sofa in the living room.")).text
    places = [said.index(place) for place in ("shelf in the kitchen", "table in the bedroom", "table in the kitchen")]
    assert places == sorted(places) and "sink" not in said
    assert "sofa in the living room" in said, "it was asked what not"
    assert said == me.answer(Question(f"{question}(2) sofa in the living room.")).text


def test_the_longest_name_matches_and_unknown_things_are_ignored(me: HouseRespondent) -> None:
    usual = "Where do mugs and cups go? Usual are (1) dishwasher in the kitchen."
    assert " washer" not in me.answer(Question(usual)).text
    assert "bathtub in the bathroom" in me.answer(Question("Where does the dog bowl go?")).text
    assert " in the " not in me.answer(Question("What do you think of the moon?")).text
