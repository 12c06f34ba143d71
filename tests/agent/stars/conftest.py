from __future__ import annotations

from collections.abc import Callable

import pytest

from housewise.agent.stars.analysis import Analyser, Analysis
from housewise.agent.stars.language import PAPER, Language
from housewise.agent.stars.settings import load_robot, load_task

Analyse = Callable[..., Analysis]


@pytest.fixture(scope="session")
def analyse() -> Analyse:
    """Analyses a sentence in one of the packaged tasks, asked about an object of it."""
    known: dict[tuple[str, str], Analyser] = {}

    def analysed(sentence: str, about: str = "mug 2", task: str = "tidy kitchen", grammar: str = PAPER) -> Analysis:
        world, vocabulary = load_task(task)
        if (task, grammar) not in known:
            known[task, grammar] = Analyser(Language(vocabulary, grammar), load_robot())
        return known[task, grammar].analyse(sentence, world.situation.asked_about(world[about].thing))

    return analysed
