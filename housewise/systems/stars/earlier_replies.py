"""Replies of models and people in interrupted attempts at an episode, which are not requested again."""

from __future__ import annotations

from collections.abc import Sequence

from housewise.agent.stars.model_usage import ModelUsage
from housewise.agent.stars.repair import GoalCandidate
from housewise.agent.stars.search_tree import RetrievedGoal
from housewise.agent.stars.selection import GoalSelection
from housewise.agent.stars.tasks import TaskObject
from housewise.core.record import Event
from housewise.systems.stars.record import GoalAnswerEvent, RepairEvent, RetrievedEvent, SelectionEvent


class EarlierReplies:
    """Looks up earlier replies. If something was asked repeatedly, the first reply counts.

    Args:
        events: Events of the earlier attempts, oldest first.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self._goal_events: dict[tuple[str, str | None], RetrievedEvent | RepairEvent] = {}
        self._selections: dict[tuple[str, frozenset[str]], SelectionEvent] = {}
        self._answers: dict[tuple[str, str], str] = {}
        for event in events:
            if isinstance(event, RetrievedEvent | RepairEvent):
                wrong = event.refused_goal if isinstance(event, RepairEvent) else None
                self._goal_events.setdefault((event.thing, wrong), event)
            elif isinstance(event, SelectionEvent) and event.answer is not None:
                self._selections.setdefault((event.thing, frozenset(event.options)), event)
            elif isinstance(event, GoalAnswerEvent):
                self._answers.setdefault((event.thing, event.question), event.text)

    def find_goals(
        self, about: TaskObject, mends: GoalCandidate | None, usage: ModelUsage
    ) -> list[RetrievedGoal] | None:
        """See EarlierModelReplies.find_goals."""
        event = self._goal_events.get((about.thing.name, mends.text if mends else None))
        if event is None:
            return None
        usage.merge(event.usage.usage)
        return [line.retrieved_goal for line in event.responses]

    def find_selection(
        self, about: TaskObject, pool: Sequence[GoalCandidate], usage: ModelUsage
    ) -> GoalSelection | None:
        """See EarlierModelReplies.find_selection."""
        event = self._selections.get((about.thing.name, frozenset(each.text for each in pool)))
        candidate = next((each for each in pool if event and each.text == event.chosen), None)
        if event is None or candidate is None:
            return None
        usage.merge(event.usage.usage)
        return GoalSelection(candidate, tuple(event.options), event.answer, event.fallback)

    def answer(self, about: TaskObject, question: str) -> str | None:
        """Return the person's earlier answer to a question, or None."""
        return self._answers.get((about.thing.name, question))
