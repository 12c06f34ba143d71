"""Turns of interrupted attempts at a session, which no model is asked for again."""

from __future__ import annotations

from collections.abc import Iterable

from housewise.core.record import Event
from housewise.systems.basis.record import GuidanceEvent, LabActionEvent

_Place = tuple[int, int]


class EarlierTurns:
    """Looks up recorded turns by attempt and number of the action; of several, the first one counts.

    Args:
        events: Events of the interrupted attempts, oldest first.
        person: Whether to look up actions of the person.
        assistant: Whether to look up turns of the assistant.
    """

    def __init__(self, events: Iterable[Event] = (), person: bool = True, assistant: bool = True) -> None:
        self._actions: dict[_Place, LabActionEvent] = {}
        self._guidance: dict[_Place, GuidanceEvent] = {}
        place = (0, 0)
        for event in events:
            if isinstance(event, LabActionEvent):
                place = event.attempt, event.number
                if person:
                    self._actions.setdefault(place, event)
            elif isinstance(event, GuidanceEvent) and assistant:
                # The assistant speaks after an action.
                self._guidance.setdefault(place, event)

    def action(self, attempt: int, number: int) -> LabActionEvent | None:
        """Return an action of the person, or None if it is new."""
        return self._actions.get((attempt, number))

    def guidance(self, attempt: int, number: int) -> GuidanceEvent | None:
        """Return the turn of the assistant after an action, or None if it is new."""
        return self._guidance.get((attempt, number))
