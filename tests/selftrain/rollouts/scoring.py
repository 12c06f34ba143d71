"""Scores pairs without a process of its own, which takes most of the time of a test."""

from pathlib import Path

import pytest

from housewise.core.files import write_json
from housewise.core.validation import read_model
from housewise.selftrain.trainers import logprobs
from housewise.selftrain.trainers.logprobs import LogprobRequest


def score_in_this_process(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Do in this process what ``score_pairs`` does in another, and return the numbers of pairs of its requests."""
    scored: list[int] = []

    def score(command: list[str], **options: object) -> None:
        request = read_model(Path(command[3]), LogprobRequest)
        scored.append(len(request.pairs))
        write_json(Path(command[3]), logprobs.compute(request).model_dump())

    monkeypatch.setattr(logprobs.subprocess, "run", score)
    return scored
