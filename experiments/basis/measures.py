"""Measures of BASIS sessions that are no scores of the system."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from housewise.core.record import Record
from housewise.playback.session_replay import SessionTurn, read_attempts
from housewise.selftrain.basis.session_examples import kept_attempt


def learned_turns(record: Record) -> float | None:
    """Return the number of the assistant's turns in the attempt that is kept; None if none is."""
    turns = _kept_turns(record)
    return float(len(turns)) if turns else None


def turns_with_speech(record: Record) -> tuple[float, float] | None:
    """Return the share of these turns at which the assistant speaks, and their number as weight in means."""
    turns = _kept_turns(record)
    return (sum(bool(turn.speech) for turn in turns) / len(turns), len(turns)) if turns else None


def _in_round(record: Record, score: str, number: int) -> float | None:
    """Return a score of a session in which a person does a task for the n-th time in a run."""
    is_then = record.header.initial_state["seed"] - record.header.settings["tasks"]["seed"] == number - 1
    return record.result.scores[score] if is_then else None


success_1, success_2 = (partial(_in_round, score="success", number=number) for number in (1, 2))
steps_1, steps_2 = (partial(_in_round, score="steps", number=number) for number in (1, 2))
user_turns_1, user_turns_2 = (partial(_in_round, score="user_turns", number=number) for number in (1, 2))


def _kept_turns(record: Record) -> list[SessionTurn]:
    attempt = kept_attempt(record, Path(record.name))
    return [] if attempt is None else [turn for turn in read_attempts(record)[attempt - 1] if turn.guidance]
