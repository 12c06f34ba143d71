"""Per-object outcomes of an episode (placed correctly, misplaced, never discovered) and a one-sentence summary."""

from __future__ import annotations

from dataclasses import dataclass

from housewise.core.formatting import plural
from housewise.systems.personalize.record import HouseRecord
from housewise.worlds.house.scene_graph import ROBOT

HAND = "the robot's hand"
"""Place of an object that the robot still holds."""


@dataclass(frozen=True)
class ObjectOutcome:
    """First and last placement of one object.

    Attributes:
        name: Name of the object.
        start: Receptacle before the first action.
        end: Receptacle after the last action.
        correct_places: Receptacles where people want it.
        was_discovered: Whether the robot ever saw it.
    """

    name: str
    start: str
    end: str
    correct_places: tuple[str, ...]
    was_discovered: bool

    @property
    def is_displaced(self) -> bool:
        """Whether it ended on another receptacle."""
        return self.start != self.end

    @property
    def was_correct(self) -> bool:
        """Whether people want it where it started."""
        return self.start in self.correct_places

    @property
    def is_correct(self) -> bool:
        """Whether people want it where it ended."""
        return self.end in self.correct_places

    @property
    def start_status(self) -> str:
        """CSS class of its start: right, wrong or unseen."""
        return _status(self.was_correct, self.was_discovered)

    @property
    def end_status(self) -> str:
        """CSS class of its end: right, wrong or unseen."""
        return _status(self.is_correct, self.was_discovered)

    @property
    def description(self) -> str:
        """The outcome in a few words."""
        if not self.was_discovered:
            return "in place, unseen" if self.is_correct else "never found"
        if self.end == HAND:
            return "still in the hand"
        if self.was_correct:
            return (
                ("moved, still right" if self.is_displaced else "right all along") if self.is_correct else "taken away"
            )
        if self.is_correct:
            return "put right"
        return "moved, still wrong" if self.is_displaced else "left where it was"


def list_object_outcomes(record: HouseRecord) -> list[ObjectOutcome]:
    """Return the outcome of every object, displaced objects first."""
    state = record.initial_state
    moved = {name for line in record.actions for name in line.moves}
    seen = record.known_things | moved
    result = [
        ObjectOutcome(
            name,
            _place_name(start),
            _place_name(record.final.placements.get(name, start)),
            tuple(state.correct.get(name, ())),
            name in seen,
        )
        for name, start in state.placements.items()
    ]
    return sorted(result, key=lambda outcome: (not outcome.is_displaced, outcome.was_correct, outcome.name))


def summarize_outcomes(outcomes: list[ObjectOutcome], wanting: str) -> str:
    """Summarize an episode in a sentence.

    Args:
        outcomes: Outcome of every object.
        wanting: Subject and verb of the wish, such as ``"Ada wants"``; see wish_subject.
    """
    wrong = [outcome for outcome in outcomes if not outcome.was_correct]
    right = [outcome for outcome in wrong if outcome.is_correct]
    lost = [outcome for outcome in outcomes if outcome.was_correct and not outcome.is_correct]
    hidden = [outcome for outcome in wrong if not outcome.was_discovered]
    held = [outcome.name for outcome in outcomes if outcome.end == HAND]
    parts = [f"{len(right)} of {plural(len(wrong), 'misplaced object')} ended where {wanting} them"]
    if lost:
        parts.append(f"{plural(len(lost), 'correct one')} {_were(len(lost))} taken away")
    if hidden:
        parts.append(f"{len(hidden)} {_were(len(hidden))} never found")
    if held:
        parts.append(f"the robot still holds {held[0]}")
    return "; ".join(parts) + "."


def wish_subject(person: str) -> str:
    """Return subject and verb of a person's wish, given the person's name from the settings."""
    if person in ("", "majority"):
        return "most people want"
    return f"{person.replace('-', ' ').capitalize()} wants"


def _status(right: bool, was_discovered: bool) -> str:
    if not was_discovered:
        return "unseen"
    return "right" if right else "wrong"


def _place_name(name: str) -> str:
    return HAND if name == ROBOT else name


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
