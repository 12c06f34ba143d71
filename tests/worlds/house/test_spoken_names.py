import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.worlds.house.spoken_names import kind_from_name, spoken_name, spoken_receptacle_name

WORDS = st.lists(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8), min_size=1, max_size=3).map("_".join)
NUMBERS = st.integers(0, 199)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("bathroom_0-table_7_0.urdf", "bathroom 0 table 7"),
        ("kitchen_0-counter_18_0.urdf", "kitchen 0 counter 18"),
        ("living_room_0-coffee_table_26_0.urdf", "living room 0 coffee table 26"),
        ("bedroom_0-bottom_cabinet_no_top_13_0.urdf", "bedroom 0 bottom cabinet 13"),
        ("None-door_54_0.urdf", "door 54"),
        ("none-picture_9_1.urdf", "picture 9"),
    ],
)
def test_receptacle_names_are_those_of_the_papers(key: str, name: str) -> None:
    assert spoken_receptacle_name(key) == name


@given(WORDS, NUMBERS, WORDS, NUMBERS, st.integers(0, 9))
def test_receptacle_names_have_room_kind_and_number(room: str, door: int, kind: str, number: int, part: int) -> None:
    name = spoken_receptacle_name(f"{room}_{door}-{kind}_{number}_{part}.urdf")
    assert name == f"{room} {door} {kind} {number}".replace("_", " ")


@pytest.mark.parametrize("key", ["", "table", "kitchen_0-table", "kitchen_0_table_7_0.urdf", "-table_7_0.urdf"])
def test_keys_of_another_form_are_refused(key: str) -> None:
    with pytest.raises(ValueError, match=r"not of the form <room>") as refusal:
        spoken_receptacle_name(key)
    assert repr(key) in str(refusal.value)


@given(WORDS, NUMBERS)
def test_kinds_are_names_without_the_number(word: str, number: int) -> None:
    assert kind_from_name(f"{word}_{number}") == spoken_name(word)
    assert spoken_name(f"{word}_{number}") == f"{spoken_name(word)} {number}"
    assert kind_from_name(word) == kind_from_name(f"{spoken_name(word)} {number}") == spoken_name(word)
