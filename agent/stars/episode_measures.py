"""The paper's measures of an episode (STARS, tables 2 and 11 to 13)."""

from __future__ import annotations

from collections.abc import Sequence

from housewise.agent.stars.lessons import ObjectLesson, UserDialogue
from housewise.agent.stars.model_usage import ModelUsage
from housewise.agent.stars.tasks import TaskCompletion


def episode_measures(
    lessons: Sequence[ObjectLesson], talk: UserDialogue, usage: ModelUsage, done: TaskCompletion
) -> dict[str, float]:
    """Return the measures of an episode by name. Shares are in percent.

    Args:
        lessons: Lessons in the order of the objects.
        talk: Everything that the user said.
        usage: Model usage.
        done: How much of the task is done.
    """
    responses = [each for lesson in lessons for each in lesson.candidates]
    return {
        "completion_percent": done.percent,
        "objects_percent": 100 * done.in_place / max(1, done.objects),
        "in_place": done.in_place,
        "objects": done.objects,
        "closed": done.closed,
        "fixtures": done.fixtures,
        "retrieved": len(responses),
        "viable_percent": 100 * sum(each.analysis.viable for each in responses) / max(1, len(responses)),
        "proposed": talk.questions,
        "sourced": sum(lesson.uses_model_goal for lesson in lessons),
        "stated": talk.stated,
        "recalled": sum(lesson.recalled is not None for lesson in lessons),
        "calls": sum(usage.calls.values()),
        "total_tokens": usage.total_tokens,
        "instructions": len(talk.turns),
        "words": talk.words,
    }
