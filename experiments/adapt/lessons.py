"""How much of what ADAPT's learners learn from is questions, and what became of the steps that were reflected upon."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from housewise.core.errors import UserError
from housewise.core.text_files import read_json
from housewise.experiments.measured_values import MeasuredValue
from housewise.selftrain.adapt.record_reflection import is_question
from housewise.selftrain.examples import EpisodeDemonstration, Preference, read_examples

_REFLECTIONS = {"Reflection-DPO": "reflections.json", "oracle questions": "oracle-reflections.json"}
_COUNTED = ("compared", "thought_of_a_question", "questions", "actions", "dropped", "epsilon_1", "epsilon_2")


def count_lessons(training: str, learner: str) -> Iterator[MeasuredValue]:
    """Yield the number of replies and of questions that a learner learned from, and the counts of its reflections.

    Args:
        training: Folder of the training of a fold.
        learner: Name of the learner.

    Raises:
        UserError: The learner was not trained there, or a file is damaged.
    """
    folder = Path(training) / "fold" / learner.replace(" ", "-")
    preferences, pairs = folder / "preferences.jsonl", folder / "pairs.jsonl"
    if preferences.is_file():
        both = list(read_examples(preferences, Preference))
        replies = [each.chosen for each in both]
        rejected = sum(is_question(each.rejected.strip()) for each in both)
        yield MeasuredValue(learner, 0, "rejected_questions", rejected)
    elif pairs.is_file():
        replies = [reply for pair in read_examples(pairs, EpisodeDemonstration) for reply in _replies(pair)]
    else:
        raise UserError(f"{folder}: holds no trained learner; train it, or leave it out with --only learner=NAME")
    yield MeasuredValue(learner, 0, "replies", len(replies))
    yield MeasuredValue(learner, 0, "asked", sum(is_question(reply.strip()) for reply in replies))
    if learner in _REFLECTIONS:
        counts = read_json(folder.parent / _REFLECTIONS[learner])
        yield from (MeasuredValue(learner, 0, name, counts[name]) for name in _COUNTED)


def _replies(pair: EpisodeDemonstration) -> list[str]:
    """Return all that is learned of a conversation."""
    before = [turn["content"] for turn in pair.prompt if turn["role"] == "assistant"] if pair.turns else []
    return [*(reply.removeprefix(pair.prefix) for reply in before), pair.reply]
