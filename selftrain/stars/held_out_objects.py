"""Splits the objects of the bundled tasks: some may be learned from, the others are held out for evaluation."""

from __future__ import annotations

import hashlib
import math
from functools import lru_cache

from housewise.agent.stars.data_files import TASKS, load_task
from housewise.agent.stars.tasks import StarsTask

_LEARNABLE_SHARE = 0.6


def learnable_nouns(task: StarsTask) -> frozenset[str]:
    """Return nouns of objects of a task that may be learned from: 60 % of them, selected by a stable digest."""

    def order(noun: str) -> str:
        return hashlib.sha256(f"stars/{task.name}/{noun}".encode()).hexdigest()

    nouns = sorted({about.thing.noun for about in task.objects}, key=order)
    return frozenset(nouns[: math.ceil(_LEARNABLE_SHARE * len(nouns))])


@lru_cache(maxsize=1)
def held_out_nouns() -> frozenset[str]:
    """Return nouns of objects of the bundled tasks that are never learned from."""
    tasks = [load_task(name)[0] for name in TASKS]
    return frozenset(
        about.thing.noun for task in tasks for about in task.objects if about.thing.noun not in learnable_nouns(task)
    )
