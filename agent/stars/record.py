"""Records of what was done and why: one JSON object a line, for every object, enough to count and to show it again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from housewise.agent.stars.analysis import Analysis
from housewise.agent.stars.conditions import Condition
from housewise.agent.stars.learner import Episode, Lesson
from housewise.agent.stars.tasks import Task


def record(task: Task, condition: Condition, episode: Episode, settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The lines of an episode's record: a header, a lesson for each object, the result."""
    yield {"type": "episode", "system": "stars", "task": task.name, "condition": asdict(condition), **settings}
    for lesson in episode.lessons:
        yield lesson_line(lesson)
    done, usage = episode.completion, episode.usage
    yield {
        "type": "result",
        "completion_percent": round(done.percent, 1),
        "in_place": done.in_place,
        "objects": done.objects,
        "fixtures_closed": done.closed,
        "fixtures": done.fixtures,
        "turns": episode.dialogue.turns,
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
    }


def lesson_line(lesson: Lesson) -> dict[str, Any]:
    """What happened with one object."""
    return {
        "type": "lesson",
        "object": lesson.about.thing.name,
        "seen": lesson.about.seen,
        "recalled": lesson.recalled.note.statement if lesson.recalled else None,
        "by_policy": lesson.recalled.by_policy if lesson.recalled else None,
        "responses": [
            {
                "text": each.text,
                "probability": each.response.probability,
                "source": each.response.source,
                "parent": each.parent,
                "repairs": each.repairs,
                **_verdict(each.analysis),
            }
            for each in lesson.candidates
        ],
        "choices": [
            {
                "options": each.options,
                "answer": each.answer,
                "chosen": each.candidate.text,
                "fallback": each.fallback,
            }
            for each in lesson.choices
        ],
        "answers": [{"goal": goal, "answer": "yes" if yes else "no"} for goal, yes in lesson.answers],
        "stated": lesson.stated,
        "plan": None if lesson.path is None else [str(act) for act in lesson.path],
        "sourced": lesson.sourced,
    }


def write(path: Path, lines: Iterator[dict[str, Any]]) -> None:
    """Write a record whole, in place of what was there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    partial.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    partial.replace(path)


def _verdict(analysis: Analysis) -> dict[str, Any]:
    return {
        "viable": analysis.viable,
        "mismatches": [{"kind": m.kind.value, "what": m.what, "object": m.thing} for m in analysis.mismatches],
    }
