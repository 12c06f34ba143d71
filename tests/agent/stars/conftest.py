from collections.abc import Callable

import pytest

from housewise.agent.stars.analysis_and_repair import GoalAnalyser
from housewise.agent.stars.goal_grammar import PAPER_GRAMMAR
from housewise.agent.stars.responses import GoalAnalysis
from housewise.agent.stars.tasks import StarsTask
from tests.agent.stars.analysers import load_task_and_analyser

Analyse = Callable[..., GoalAnalysis]


@pytest.fixture(scope="session")
def analyse() -> Analyse:
    """Analyses a sentence in one of the packaged tasks, asked about an object of it."""
    known: dict[tuple[str, str], tuple[StarsTask, GoalAnalyser]] = {}

    def analysed(
        sentence: str, about: str = "mug 2", task: str = "tidy kitchen", grammar: str = PAPER_GRAMMAR
    ) -> GoalAnalysis:
        if (task, grammar) not in known:
            known[task, grammar] = load_task_and_analyser(task, grammar)
        world, analyser = known[task, grammar]
        return analyser.analyse(sentence, world.situation.with_focus(world[about].thing))

    return analysed
