"""Rewards and the success rate of the rearrangement task (Housekeep; LLM-Personalize, section 3)."""

from __future__ import annotations

from collections.abc import Iterable


def grab_reward(was_correct: bool) -> int:
    """Return the reward for grabbing an object: -1 if it was on a correct receptacle, else 0."""
    return -1 if was_correct else 0


def placement_reward(is_correct: bool) -> int:
    """Return the reward for placing an object: +1 on a correct receptacle, else 0."""
    return 1 if is_correct else 0


def success_rate(correct: Iterable[bool], misplaced_at_start: int) -> float:
    """Return (correct now - correct at the start) / misplaced at the start, which can be negative.

    Args:
        correct: Whether each object is on a correct receptacle now.
        misplaced_at_start: Number of objects that were misplaced at the start. The rate is 0 if there were none.
    """
    misplaced_now = sum(not each for each in correct)
    return (misplaced_at_start - misplaced_now) / misplaced_at_start if misplaced_at_start else 0.0
