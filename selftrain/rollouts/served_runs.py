"""Plays runs with the model of a phase, which an engine makes ready."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from housewise.core.console import print_note
from housewise.core.errors import UserError
from housewise.rollout.run import Run
from housewise.selftrain.rollouts.engine import RolloutEngine
from housewise.selftrain.trainers import ModelReference

T = TypeVar("T")

_MAX_RESTARTS = 2


def play_with_model(
    engine: RolloutEngine,
    phase: str,
    model: ModelReference,
    examples: Path,
    open_run: Callable[[Mapping[str, Any]], Run],
    play: Callable[[Run], T],
) -> T:
    """Play a run with the model of a phase. The engine makes the model ready only if episodes are left.

    A server that ends or loses the model during the run gets it again.

    Args:
        engine: Where the model answers.
        phase: Phase that the model was trained in.
        model: The model.
        examples: File with the examples that the model has learned.
        open_run: Opens the run with further settings.
        play: Plays it.

    Raises:
        UserError: See RolloutEngine.serve and Run.play.
    """
    for restarts in range(_MAX_RESTARTS + 1):
        run = open_run({})
        if run.open_jobs:
            run = open_run(engine.serve(phase, model, examples))
        try:
            return play(run)
        except UserError as error:
            if restarts == _MAX_RESTARTS or not engine.recover():
                raise
            print_note(f"a server ended or lost the model ({error}); it is served again")
    raise AssertionError("the last attempt returns or raises")
