"""Trust in a model, estimated from how far its scores agree with notes."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.agent.personalize.model_trust import ScoredKind, estimate_trust, placement_probabilities

SCORES = (math.log(0.7), math.log(0.1), math.log(0.1), math.log(0.1))
AGREES = ScoredKind(SCORES, (True, None, None, None), is_familiar=True)
CONTRADICTS = ScoredKind(SCORES, (False, None, None, True), is_familiar=True)


def test_without_notes_a_model_is_trusted_less_with_unfamiliar_kinds() -> None:
    trust = estimate_trust([])
    assert 0.2 < trust.unfamiliar + 0.1 < trust.familiar < 0.5


def test_notes_that_agree_raise_trust_and_notes_that_contradict_lower_it() -> None:
    agreed = [estimate_trust([AGREES] * count).familiar for count in (0, 2, 5, 20)]
    contradicted = [estimate_trust([CONTRADICTS] * count).familiar for count in (0, 2, 5, 20)]
    assert agreed == sorted(agreed) and agreed[-1] > 0.9
    assert contradicted == sorted(contradicted, reverse=True) and contradicted[-1] < contradicted[0] / 2


def test_notes_about_familiar_kinds_say_nothing_about_unfamiliar_ones() -> None:
    assert estimate_trust([AGREES] * 9).unfamiliar == estimate_trust([]).unfamiliar
    strange = ScoredKind(SCORES, (True, None, None, None), is_familiar=False)
    found = estimate_trust([strange] * 9)
    assert found.familiar == estimate_trust([]).familiar and found.unfamiliar > 2 * estimate_trust([]).unfamiliar


@given(
    st.lists(
        st.integers(1, 6).flatmap(
            lambda count: st.builds(
                ScoredKind,
                scores=st.lists(st.floats(-800, 0), min_size=count, max_size=count),
                wanted=st.lists(st.none() | st.booleans(), min_size=count, max_size=count),
                is_familiar=st.booleans(),
            )
        ),
        max_size=30,
    )
)
def test_trust_is_finite_and_from_zero_to_one(kinds: list[ScoredKind]) -> None:
    trust = estimate_trust(kinds)
    assert 0 <= trust.familiar <= 1 and 0 <= trust.unfamiliar <= 1


def test_probabilities_follow_the_scores_with_trust_and_are_equal_without() -> None:
    assert placement_probabilities(SCORES, 1.0) == pytest.approx([0.7, 0.1, 0.1, 0.1])
    assert placement_probabilities(SCORES, 0.0) == pytest.approx([0.25] * 4)
