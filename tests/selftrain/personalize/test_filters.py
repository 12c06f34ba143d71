from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.core.errors import UserError
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.selftrain.personalize.filters import FilterSettings, apply_filter, balanced, positive, rising
from tests.selftrain.tiny import pair

PAIRS = st.lists(
    st.builds(
        pair,
        st.integers(0, 99),
        reward=st.integers(-2, 3).map(float),
        moved=st.sampled_from([(), ("mug 1",), ("mug 2",), ("book 1",), ("mug 1", "book 3")]),
    ),
    max_size=40,
)


@given(PAIRS)
def test_positive_keeps_what_made_the_house_better(pairs: list[EpisodeDemonstration]) -> None:
    assert positive(pairs, FilterSettings()) == [pair for pair in pairs if pair.reward > 0]


@given(PAIRS)
def test_thresholds_rise_and_the_last_one_stays(pairs: list[EpisodeDemonstration]) -> None:
    kept = [rising(pairs, FilterSettings(iteration, (0.0, 1.0))) for iteration in range(3)]
    assert [min((pair.reward for pair in part), default=9) > bar for part, bar in zip(kept, (0, 1, 1), strict=True)]
    assert kept[0] == positive(pairs, FilterSettings()) and kept[1] == kept[2]
    assert all(pair in kept[0] for pair in kept[1])


@given(PAIRS, st.integers(1, 5), st.integers(0, 3))
def test_no_kind_of_object_has_more_than_its_share(pairs: list[EpisodeDemonstration], most: int, seed: int) -> None:
    settings = FilterSettings(max_per_object=most, seed=seed)
    kept = balanced(pairs, settings)
    found = Counter(kind for pair in kept for kind in _kinds(pair))
    assert all(count <= most for count in found.values())
    left_out = [pair for pair in positive(pairs, settings) if not any(pair is one for one in kept)]
    assert all(any(found[kind] == most for kind in _kinds(pair)) for pair in left_out)
    assert kept == balanced(pairs, settings)
    assert [pair for pair in pairs if any(pair is one for one in kept)] == kept


def _kinds(pair: EpisodeDemonstration) -> set[str]:
    return {name.rpartition(" ")[0] for name in pair.moved}


def test_a_kind_has_its_share_however_it_is_combined() -> None:
    others = [f"thing {number}" for number in range(15)]
    pairs = [pair(number, reward=1.0, moved=("mug 1", f"{other.replace(' ', '-')} 1")) for number in range(4)
             for other in others]  # fmt: skip
    assert len(balanced(pairs, FilterSettings(max_per_object=10))) == 10


def test_statistics_say_what_was_kept_of_what() -> None:
    pairs = [pair(1, reward=1.0, moved=("mug 1",)), pair(2, reward=-1.0), pair(3, complete=True)]
    kept, report = apply_filter("positive", pairs, FilterSettings())
    assert kept == pairs[:1]
    assert report["pairs"]["count"] == 3 and report["pairs"]["rewards"] == {"-1": 1, "0": 1, "1": 1}
    assert report["kept"]["count"] == 1 and report["kept"]["moved"] == {"mug": 1}
    assert (report["pairs"]["complete"], report["pairs"]["episodes"]) == (1, 3)


def test_nothing_may_be_kept() -> None:
    kept, report = apply_filter("positive", [pair(), pair(1, reward=-1.0)], FilterSettings())
    assert kept == [] and report["kept"]["count"] == 0 and report["pairs"]["count"] == 2


def test_a_filter_of_ones_own() -> None:
    pairs = [pair(), pair(1)]
    assert apply_filter("tests.selftrain.tiny:everything", pairs, FilterSettings())[0] == pairs


@pytest.mark.parametrize(
    ("name", "known"),
    [
        *((name, "balanced, corrected, positive, rising") for name in ("best", "no.such:filter", "")),
        (
            "housewise.selftrain.personalize.filters:none",
            "no attribute 'none'; .*positive, corrected, rising, balanced",
        ),
    ],
)
def test_a_filter_that_is_not_there(name: str, known: str) -> None:
    with pytest.raises(UserError, match=known):
        apply_filter(name, [pair()], FilterSettings())
