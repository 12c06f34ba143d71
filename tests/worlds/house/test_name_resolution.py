import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.worlds.house.name_resolution import Vocabulary

HOUSE = Vocabulary(
    rooms=("kitchen 0", "living room 0", "bedroom 0", "bedroom 1"),
    receptacles=(
        "kitchen 0 counter 18",
        "kitchen 0 counter 19",
        "kitchen 0 sink 4",
        "living room 0 coffee table 26",
        "living room 0 sofa 3",
        "bedroom 0 bed 1",
        "bedroom 1 bed 2",
    ),
    objects=("mug 1", "saucer 1", "saucer 2", "coffee mug 1", "picture frame 1", "dr. pepper can 1", "soap-dish 1"),
)
NAMES = (*HOUSE.rooms, *HOUSE.receptacles, *HOUSE.objects)


@pytest.mark.parametrize("name", NAMES)
def test_exact_names_are_resolved(name: str) -> None:
    for said in (name, name.upper(), f"  the {name}. ", name.replace(" ", "_"), f"`{name}`", f'"{name.title()}",'):
        assert HOUSE.resolve(said).name == name, said


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("counter 18", "kitchen 0 counter 18"),
        ("the sink", "kitchen 0 sink 4"),
        ("kitchen sink", "kitchen 0 sink 4"),
        ("sofa", "living room 0 sofa 3"),
        ("bed 2", "bedroom 1 bed 2"),
        ("18", "kitchen 0 counter 18"),
        ("picture frame", "picture frame 1"),
        ("frame", "picture frame 1"),
        ("Dr Pepper can", "dr. pepper can 1"),
        # A room or an object without its number, although longer names also contain the word.
        ("the kitchen", "kitchen 0"),
        ("living room", "living room 0"),
        ("the mug", "mug 1"),
        # Misspellings.
        ("saurcer 1", "saucer 1"),
        ("sauser 2", "saucer 2"),
        ("kitchn 0 conter 18", "kitchen 0 counter 18"),
        ("pictur frame 1", "picture frame 1"),
    ],
)
def test_unambiguous_texts_are_resolved(said: str, meant: str) -> None:
    assert HOUSE.resolve(said).name == meant


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("counter", "'counter' could be kitchen 0 counter 18, kitchen 0 counter 19"),
        ("the saucer", "'saucer' could be saucer 1, saucer 2"),
        ("bedroom", "'bedroom' could be bedroom 0, bedroom 1"),
        ("bed", "'bed' could be bedroom 0 bed 1, bedroom 1 bed 2"),
        # Numbers have to be exact.
        *((said, f"unknown: {said}") for said in ("unicorn", "saucer 3", "kitchen 1", "counter 181", "mug one")),
        *((said, f"unknown: {said}") for said in ("kitchen 0 counter 181", "1 mug")),
        *((said, "no name given") for said in ("", "  ", "the", "...", "—", "日本")),
    ],
)
def test_texts_that_mean_no_single_name_are_reported(said: str, problem: str) -> None:
    resolution = HOUSE.resolve(said)
    assert (resolution.name, resolution.problem) == (None, problem)


def test_at_most_three_candidates_are_listed() -> None:
    many = Vocabulary(objects=tuple(f"cup {number}" for number in range(9)))
    assert many.resolve("cup").problem == "'cup' could be cup 0, cup 1, cup 2, ..."


def test_the_choice_can_be_narrowed() -> None:
    assert HOUSE.resolve("coffee").problem
    assert HOUSE.resolve("coffee", HOUSE.objects).name == "coffee mug 1"
    assert HOUSE.resolve("coffee", HOUSE.receptacles).name == "living room 0 coffee table 26"
    assert HOUSE.resolve("mug 1", HOUSE.rooms).name is None
    assert HOUSE.resolve("mug 1", ()).name is None


@given(st.text(max_size=200))
def test_every_text_gets_a_resolution(said: str) -> None:
    resolution = HOUSE.resolve(said)
    assert (resolution.name in NAMES) != bool(resolution.problem)
    assert "\n" not in resolution.problem


@given(st.sampled_from(NAMES), st.data())
def test_misspellings_never_change_the_number(name: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(name) - 1))
    letter = data.draw(st.sampled_from("abcdefghijklmnopqrstuvwxyz0123456789 "))
    said = name[:place] + letter + name[place + 1 :]
    meant = HOUSE.resolve(said).name
    if meant is not None:
        numbers = [word for word in said.split() if word.isdigit()]
        assert all(number in meant.split() for number in numbers)


def test_names_that_begin_like_articles_are_resolved() -> None:
    vocabulary = Vocabulary(rooms=("a 0", "a 0 0"), objects=("this 1", "mug-1", "mug 1"))
    for name in ("a 0", "a 0 0", "this 1", "mug-1", "mug 1"):
        assert vocabulary.resolve(name).name == name
