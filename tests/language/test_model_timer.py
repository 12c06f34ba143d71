"""The time of model calls, apart from what callers do between them."""

import time
from collections.abc import Sequence

from housewise.language.base import ChatRequest, Reply, Scorer, TokenScorer
from housewise.language.model_timer import ModelTimer

PAUSE = 0.05


class SlowModel:
    """Takes a moment to answer and to score."""

    name = "slow"

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        time.sleep(PAUSE)
        return [[Reply("go")] for _ in requests]

    def score(self, request: ChatRequest, continuations: Sequence[str]) -> list[float]:
        time.sleep(PAUSE)
        return [0.0 for _ in continuations]

    def close(self) -> None: ...


def test_only_calls_of_the_model_are_timed() -> None:
    timer = ModelTimer()
    model = timer.wrap(SlowModel())
    assert isinstance(model, Scorer) and not isinstance(model, TokenScorer)
    time.sleep(2 * PAUSE)
    assert model.name == "slow" and timer.seconds == 0.0
    assert model.complete([ChatRequest(())]) == [[Reply("go")]]
    assert timer.seconds >= PAUSE
    before = timer.seconds
    assert model.score(ChatRequest(()), ["a"]) == [0.0] and timer.seconds >= before + PAUSE
