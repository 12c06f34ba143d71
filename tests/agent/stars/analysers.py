"""Bundled tasks of STARS with the analyser of goals that the robot has in them."""

from housewise.agent.stars.analysis_and_repair import GoalAnalyser
from housewise.agent.stars.data_files import load_robot, load_task
from housewise.agent.stars.goal_grammar import PAPER_GRAMMAR, GoalLanguage
from housewise.agent.stars.tasks import StarsTask


def load_task_and_analyser(name: str, grammar: str = PAPER_GRAMMAR) -> tuple[StarsTask, GoalAnalyser]:
    task, vocabulary = load_task(name)
    return task, GoalAnalyser(GoalLanguage(vocabulary, grammar), load_robot())
