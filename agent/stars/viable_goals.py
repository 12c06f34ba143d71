"""List all goals for an object that are viable by construction: known words, perceived things, possible actions.

They are an upper bound of what analysis can contribute, and a set from which a model can choose without writing.
"""

from __future__ import annotations

from collections.abc import Iterator

from housewise.agent.stars.analysis_and_repair import GoalAnalyser
from housewise.agent.stars.tasks import StarsTask, TaskObject


def list_viable_goals(task: StarsTask, about: TaskObject, analyser: GoalAnalyser) -> list[str]:
    """Return sentences that put an object in or on a fixture and, if possible, close the fixture.

    Fixtures with the same noun (three bags) are treated as one place.

    Args:
        task: Task with its fixtures.
        about: The object.
        analyser: Checks every sentence.
    """
    situation = task.situation.with_focus(about.thing)
    sentences = dict.fromkeys(_sentences(task, about))
    return [sentence for sentence in sentences if analyser.analyse(sentence, situation).viable]


def _sentences(task: StarsTask, about: TaskObject) -> Iterator[str]:
    are = "are" if about.plural else "is"
    for fixture in task.fixtures:
        place = " ".join(("the", *sorted(fixture.modifiers), fixture.noun))
        for relation in ("in", "on"):
            goal = f"the goal is that the {about.thing.noun} {are} {relation} {place}"
            yield goal
            yield f"{goal} and {place} is closed"
