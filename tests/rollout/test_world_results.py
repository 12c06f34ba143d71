"""What a world says at the end of an episode: numbers of any library, and one line for what a record cannot hold."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from housewise.agent.base import Decision, History
from housewise.core.errors import UserCodeError
from housewise.core.record import Event, Header, Result
from housewise.core.record_files import format_event
from housewise.rollout.episode_loop import EpisodeLoop
from housewise.worlds.base import Step


class EndingWorld:
    """Is over after one step, with given scores and a given final state."""

    def __init__(self, scores: Any, final: Any) -> None:
        self._scores, self._final = scores, final

    def reset(self) -> int:
        return 0

    def step(self, action: str) -> Step[int]:
        return Step(0, over=True)

    def scores(self) -> Mapping[str, float]:
        scores: Mapping[str, float] = self._scores
        return scores

    def final(self) -> Mapping[str, Any]:
        final: Mapping[str, Any] = self._final
        return final


class Lines:
    """Formats events as the writer of records does."""

    def write(self, event: Event) -> None:
        format_event(event)


def play(scores: Any, final: Any) -> Result:
    def decide(observation: int, history: History[int]) -> Decision[str]:
        return Decision(["go"])

    return EpisodeLoop(EndingWorld(scores, final), decide, Lines()).play(Header(system="mine", task="one"))


def test_numbers_of_other_libraries_are_kept() -> None:
    scores = {"liked": np.float32(0.5), "found": np.int64(3), "all": np.bool_(True), "steps": 7}
    assert play(scores, {"a": [1]}).scores == {
        "plans": 1, "complete": 0, "liked": 0.5, "found": 3, "all": 1, "steps": 7
    }  # fmt: skip


@pytest.mark.parametrize("name", ["plans", "complete", "seconds", "tokens"])
def test_what_is_measured_of_every_episode_is_not_overwritten(name: str) -> None:
    with pytest.raises(UserCodeError, match=f"system mine: .*score '{name}' is measured of every episode"):
        play({name: 1}, {})


@pytest.mark.parametrize("value", [float("nan"), None, float("inf"), -np.inf, "0.5", 1e13, 10**400, [1, 2]])
def test_a_score_that_is_no_finite_number_is_named(value: object) -> None:
    with pytest.raises(UserCodeError, match=r"system mine: .*score 'liked' is .*; return a number"):
        play({"liked": value}, {})


@pytest.mark.parametrize(
    ("scores", "final", "message"),
    [
        (None, {}, r"system mine: scores\(\) of its world: returned None; return numbers by name"),
        ({3: 1.0}, {}, r"system mine: scores\(\) of its world: returned {3: 1.0}"),
        ({}, None, r"system mine: final\(\) of its world: returned None; return values of JSON"),
        ({}, {"a": np.int64(3)}, r"event result: a value is not one of JSON \(.*int64.*\); convert it"),
    ],
)
def test_what_a_record_cannot_hold_is_one_line(scores: Any, final: Any, message: str) -> None:
    with pytest.raises(UserCodeError, match=message):
        play(scores, final)
