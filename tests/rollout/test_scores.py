"""Figures over episodes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.core.record import Result
from housewise.rollout.scores import Score, standard_error, summarize

values = st.lists(st.floats(-100, 100), min_size=2, max_size=12)


@given(values)
def test_episodes_of_different_tasks_have_the_usual_error(rates: list[float]) -> None:
    usual = np.std(rates, ddof=1) / np.sqrt(len(rates))
    assert standard_error(rates) == pytest.approx(usual, abs=1e-9)
    assert standard_error(rates, range(len(rates))) == pytest.approx(usual, abs=1e-9)
    assert standard_error(rates, ["one task"] * len(rates)) is None


@given(values, st.integers(1, 5))
def test_playing_everything_again_with_the_same_result_tells_nothing_new(rates: list[float], runs: int) -> None:
    tasks = [task for task in range(len(rates)) for _ in range(runs)]
    assert standard_error([rates[task] for task in tasks], tasks) == pytest.approx(standard_error(rates), abs=1e-9)


def test_a_score_that_no_episode_has_is_left_out() -> None:
    scores = [Score("found"), Score("precision", weight="claims")]
    result = Result(end_reason="complete", scores={"found": 1.0, "claims": 0})
    assert "precision" not in summarize([result], scores)
    result = result.model_copy(update={"scores": {"found": 1.0, "precision": 0.5, "claims": 2}})
    assert summarize([result], scores)["precision"] == 0.5


def test_one_episode_has_no_error() -> None:
    assert standard_error([60.0]) is None


def test_a_score_that_some_episodes_have_is_counted() -> None:
    results = [Result(end_reason="complete", scores=scores) for scores in ({"found": 0.5}, {}, {})]
    found = summarize(results, [Score("found", error=True)], ["a", "b", "c"])
    assert (found["found"], found["found_episodes"], found["found_stderr"], found["episodes"]) == (0.5, 1, None, 3)
    results = [Result(end_reason="complete", scores={"found": 0.5}) for _ in range(2)]
    assert "found_episodes" not in summarize(results, [Score("found")])
