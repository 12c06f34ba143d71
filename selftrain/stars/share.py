"""Which objects of the packaged tasks may be learned from: those of the others are for measuring alone."""

from __future__ import annotations

import hashlib
import math
from functools import lru_cache

from housewise.agent.stars.data_files import TASKS, load_task
from housewise.agent.stars.tasks import StarsTask

_SHARE = 0.6


def developers_share(task: StarsTask) -> frozenset[str]:
    """Nouns of a task's objects that may be learned from: 60 % of them, drawn by a digest that will not change."""

    def order(noun: str) -> str:
        return hashlib.sha256(f"stars/{task.name}/{noun}".encode()).hexdigest()

    nouns = sorted({about.thing.noun for about in task.objects}, key=order)
    return frozenset(nouns[: math.ceil(_SHARE * len(nouns))])


@lru_cache(maxsize=1)
def held_out() -> frozenset[str]:
    """Nouns of the packaged tasks' objects that nothing is learned from."""
    tasks = [load_task(name)[0] for name in TASKS]
    return frozenset(
        about.thing.noun for task in tasks for about in task.objects if about.thing.noun not in developers_share(task)
    )
