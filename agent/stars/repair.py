"""Repair: report to the model why a goal is not viable and ask for a better one. (STARS, repair)"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from housewise.agent.stars.analysis import GoalAnalysis, MismatchKind
from housewise.agent.stars.search_tree import RetrievedGoal

MAX_REPAIRS = 2
_ORDER = (MismatchKind.AFFORDANCE, MismatchKind.UNGROUNDED, MismatchKind.UNKNOWN_WORD)


@dataclass(frozen=True)
class GoalCandidate:
    """A retrieved goal and its analysis.

    Attributes:
        response: Retrieved goal.
        analysis: Analysis of the goal.
        parent: Text of the goal that it repairs, or None for goals of the first prompt.
        repairs: Number of repairs that led to it.
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
        """Whether the model is asked for a better goal. Uninterpretable goals are not repaired."""
        return self.analysis.kind in _ORDER and self.repairs < MAX_REPAIRS


def repair_candidates(
    candidates: Sequence[GoalCandidate],
    ask: Callable[[GoalCandidate], Sequence[RetrievedGoal]],
    analyse: Callable[[str], GoalAnalysis],
) -> Iterator[tuple[GoalCandidate, list[GoalCandidate]]]:
    """Repair unviable candidates one after the other.

    Candidates with fewer mismatches come first, then affordance mismatches, ungrounded objects and unknown words, then
    the more probable candidate. A candidate is repaired once, and results of a second repair are not repaired.

    Args:
        candidates: Candidates from the first prompt.
        ask: Returns new responses to the prompt that repairs a candidate.
        analyse: Returns the analysis of a sentence.

    Yields:
        The repaired candidate and the candidates that the repair brought.
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
