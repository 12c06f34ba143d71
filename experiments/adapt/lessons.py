"""How much of what an agent has learned from is questions: of the replies that it was shown, and of those rejected."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from housewise.selftrain.adapt.record_reflection import is_question
from housewise.selftrain.examples import EpisodeDemonstration, Preference, read_examples


def lessons(folder: Path) -> dict[str, int] | None:
    """Counts over all that a learner's folder has.

    Args:
        folder: of selftrain.adapt.folds.Fold, which holds pairs or preferences once the learner was trained.

    Returns:
        ``replies`` and ``questions`` among them; of preferences also ``rejected_questions``, while their replies are
        those that were chosen. None where there is neither file.

    Raises:
        UserError: when one is damaged.
    """
    preferences, pairs = folder / "preferences.jsonl", folder / "pairs.jsonl"
    if preferences.is_file():
        return _of_preferences(read_examples(preferences, Preference))
    if pairs.is_file():
        return _count_replies(
            [reply for pair in read_examples(pairs, EpisodeDemonstration) for reply in _replies(pair)]
        )
    return None


def _of_preferences(preferences: Iterable[Preference]) -> dict[str, int]:
    both = [(one.chosen, one.rejected) for one in preferences]
    chosen = _count_replies([chosen for chosen, _ in both])
    return {**chosen, "rejected_questions": _count_replies([rejected for _, rejected in both])["questions"]}


def _replies(pair: EpisodeDemonstration) -> list[str]:
    """All that is learned of a conversation."""
    before = [turn["content"] for turn in pair.prompt if turn["role"] == "assistant"] if pair.turns else []
    return [*(reply.removeprefix(pair.prefix) for reply in before), pair.reply]


def _count_replies(replies: list[str]) -> dict[str, int]:
    return {"replies": len(replies), "questions": sum(is_question(reply.strip()) for reply in replies)}
