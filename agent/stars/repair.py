"""Repair: what cannot be understood, seen or done is refused with the reason, and the model goes on (STARS, repair)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from housewise.agent.stars.analysis import GoalAnalysis, MismatchKind
from housewise.agent.stars.search_tree import RetrievedGoal

MAX_REPAIRS = 2
_ORDER = (MismatchKind.AFFORDANCE, MismatchKind.UNGROUNDED, MismatchKind.UNKNOWN_WORD)


@dataclass(frozen=True)
class GoalCandidate:
    """A retrieved goal and what the robot makes of it.

    Attributes:
        parent: the text that it repairs, None where it is from the first prompt.
        repairs: how many repairs led to it.
    """

    response: RetrievedGoal
    analysis: GoalAnalysis
    parent: str | None = None
    repairs: int = 0

    @property
    def text(self) -> str:
        """The goal sentence."""
        return self.response.text

    @property
    def repairable(self) -> bool:
        """Whether the model is asked for something better: never for what could not be interpreted."""
        return self.analysis.kind in _ORDER and self.repairs < MAX_REPAIRS


def repair_candidates(
    candidates: Sequence[GoalCandidate],
    ask: Callable[[GoalCandidate], Sequence[RetrievedGoal]],
    analyse: Callable[[str], GoalAnalysis],
) -> Iterator[tuple[GoalCandidate, list[GoalCandidate]]]:
    """What repairs of unviable candidates bring, one after the other.

    Fewer mismatches come first, then affordances before what is not seen before unknown words, then the likelier one.
    Each is repaired once, and what came of two repairs is not.

    Args:
        candidates: from the first prompt.
        ask: new responses to the prompt that repairs a candidate.
        analyse: a sentence's analysis.

    Yields:
        The candidate that was repaired, and what came of it.
    """
    waiting = [candidate for candidate in candidates if candidate.repairable]
    while waiting:
        wrong = min(waiting, key=_urgency)
        waiting.remove(wrong)
        found = [
            GoalCandidate(response, analyse(response.text), wrong.text, wrong.repairs + 1) for response in ask(wrong)
        ]
        waiting += [candidate for candidate in found if candidate.repairable]
        yield wrong, found


def _urgency(candidate: GoalCandidate) -> tuple[int, int, float]:
    kind = candidate.analysis.kind
    order = _ORDER.index(kind) if kind in _ORDER else len(_ORDER)
    return len(candidate.analysis.mismatches), order, -candidate.response.probability
