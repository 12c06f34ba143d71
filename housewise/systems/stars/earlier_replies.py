"""Replies of models and people in interrupted attempts at an episode, which are not requested again."""

from __future__ import annotations

from collections.abc import Sequence

from housewise.agent.stars.lessons import GoalSelection, GoalSelector, ResponseRetriever
from housewise.agent.stars.model_usage import ModelUsage
from housewise.agent.stars.responses import GoalCandidate, RetrievedGoal, RetrievedTexts
from housewise.agent.stars.tasks import StarsTask, TaskObject
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
        self._answers: dict[tuple[str, str], GoalAnswerEvent] = {}
        for event in events:
            if isinstance(event, RetrievedEvent | RepairEvent):
                wrong = event.refused_goal if isinstance(event, RepairEvent) else None
                self._goal_events.setdefault((event.thing, wrong), event)
            elif isinstance(event, SelectionEvent) and event.answer is not None:
                self._selections.setdefault((event.thing, frozenset(event.options)), event)
            elif isinstance(event, GoalAnswerEvent):
                self._answers.setdefault((event.thing, event.question), event)

    def find_goals(self, about: TaskObject, wrong: GoalCandidate | None) -> RetrievedEvent | RepairEvent | None:
        """Return the earlier retrieval or repair, or None."""
        return self._goal_events.get((about.thing.name, wrong.text if wrong else None))

    def find_selection(self, about: TaskObject, pool: Sequence[GoalCandidate]) -> SelectionEvent | None:
        """Return the earlier selection among candidates, or None."""
        return self._selections.get((about.thing.name, frozenset(each.text for each in pool)))

    def answer(self, about: TaskObject, question: str) -> GoalAnswerEvent | None:
        """Return the person's earlier answer to a question, or None."""
        return self._answers.get((about.thing.name, question))


class ResumedRetriever:
    """Returns earlier replies, and asks a retriever for the others; see ResponseRetriever.

    Args:
        retriever: Asks the model.
        earlier: Earlier replies.
    """

    def __init__(self, retriever: ResponseRetriever, earlier: EarlierReplies) -> None:
        self._retriever, self._earlier = retriever, earlier
        self.max_calls = retriever.max_calls

    def retrieve(
        self, about: TaskObject, wrong: GoalCandidate | None, seen: RetrievedTexts, usage: ModelUsage
    ) -> list[RetrievedGoal]:
        """See ResponseRetriever.retrieve."""
        event = self._earlier.find_goals(about, wrong)
        if event is None:
            return self._retriever.retrieve(about, wrong, seen, usage)
        usage.merge(event.usage.usage)
        seen.texts.update(line.text for line in event.responses)
        return [line.retrieved_goal for line in event.responses]


class ResumedSelector:
    """Returns earlier selections, and lets a selector make the others; see GoalSelector.

    Args:
        selector: Asks the model.
        earlier: Earlier replies.
    """

    def __init__(self, selector: GoalSelector, earlier: EarlierReplies) -> None:
        self._selector, self._earlier = selector, earlier

    def select(
        self, task: StarsTask, about: TaskObject, candidates: Sequence[GoalCandidate], usage: ModelUsage
    ) -> GoalSelection:
        """See GoalSelector.select."""
        event = self._earlier.find_selection(about, candidates)
        chosen = next((each for each in candidates if event and each.text == event.chosen), None)
        if event is None or chosen is None:
            return self._selector.select(task, about, candidates, usage)
        usage.merge(event.usage.usage)
        return GoalSelection(chosen, tuple(event.options), event.answer, event.fallback)
