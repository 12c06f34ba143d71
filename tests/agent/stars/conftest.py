from collections.abc import Callable

import pytest

from housewise.agent.stars.analysis_and_repair import GoalAnalyser
from housewise.agent.stars.data_files import load_robot, load_task
from housewise.agent.stars.goal_grammar import PAPER_GRAMMAR, GoalLanguage
from housewise.agent.stars.responses import GoalAnalysis

Analyse = Callable[..., GoalAnalysis]


@pytest.fixture(scope="session")
def analyse() -> Analyse:
    """Analyses a sentence in one of the packaged tasks, asked about an object of it."""
    known: dict[tuple[str, str], GoalAnalyser] = {}

    def analysed(
        sentence: str, about: str = "mug 2", task: str = "tidy kitchen", grammar: str = PAPER_GRAMMAR
    ) -> GoalAnalysis:
        world, vocabulary = load_task(task)
        if (task, grammar) not in known:
            known[task, grammar] = GoalAnalyser(GoalLanguage(vocabulary, grammar), load_robot())
        return known[task, grammar].analyse(sentence, world.situation.with_focus(world[about].thing))

    return analysed
