"""The paper's measures of an episode (STARS, tables 2 and 11 to 13)."""

from __future__ import annotations

from housewise.agent.stars.lessons import StarsEpisode


def episode_measures(episode: StarsEpisode) -> dict[str, float]:
    """Return the measures of an episode by name. Shares are in percent."""
    responses = [each for lesson in episode.lessons for each in lesson.candidates]
    done, talk, usage = episode.completion, episode.dialogue, episode.usage
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
        "sourced": sum(lesson.uses_model_goal for lesson in episode.lessons),
        "stated": talk.stated,
        "recalled": sum(lesson.recalled is not None for lesson in episode.lessons),
        "calls": sum(usage.calls.values()),
        "total_tokens": usage.total_tokens,
        "instructions": len(talk.turns),
        "words": talk.words,
    }
