"""What became of each object of an episode, and of all of them in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from housewise.systems.personalize.record import HouseRecord
from housewise.worlds.house.scene_graph import ROBOT

HAND = "the robot's hand"


@dataclass(frozen=True)
class ObjectOutcome:
    """Start and end of one object.

    Attributes:
        name: of the object.
        start, end: receptacles.
        wanted: receptacles where people want it.
        found: whether the robot ever saw it.
        touched: whether it was ever moved.
    """

    name: str
    start: str
    end: str
    wanted: tuple[str, ...]
    found: bool
    touched: bool

    @property
    def moved(self) -> bool:
        """Whether it ended elsewhere."""
        return self.start != self.end

    @property
    def was_right(self) -> bool:
        return self.start in self.wanted

    @property
    def is_right(self) -> bool:
        return self.end in self.wanted

    @property
    def start_class(self) -> str:
        """Whether it started right, wrong or undiscovered, for style sheets."""
        return _class(self.was_right, self.found)

    @property
    def end_class(self) -> str:
        """Whether it ended right, wrong or undiscovered, for style sheets."""
        return _class(self.is_right, self.found)

    @property
    def verdict(self) -> str:
        """In a few words."""
        if not self.found:
            return "in place, unseen" if self.is_right else "never found"
        if self.end == HAND:
            return "still in the hand"
        if self.was_right:
            return ("moved, still right" if self.moved else "right all along") if self.is_right else "taken away"
        if self.is_right:
            return "put right"
        return "moved, still wrong" if self.moved else "left where it was"


def fates(record: HouseRecord) -> list[ObjectOutcome]:
    """What became of each object, those with a change first."""
    header = record.setting
    touched = {name for line in record.actions for name in line.moved}
    seen = record.known_things | touched
    result = [
        ObjectOutcome(
            name,
            _place(start),
            _place(record.final.placements.get(name, start)),
            tuple(header.correct.get(name, ())),
            name in seen,
            name in touched,
        )
        for name, start in header.placements.items()
    ]
    return sorted(result, key=lambda fate: (not fate.moved, fate.was_right, fate.name))


def story(found: list[ObjectOutcome], wanting: str) -> str:
    """The episode in a sentence.

    Args:
        found: what became of each object.
        wanting: who wants what, as in ``"Ada wants"``.
    """
    wrong = [fate for fate in found if not fate.was_right]
    right = [fate for fate in wrong if fate.is_right]
    lost = [fate for fate in found if fate.was_right and not fate.is_right]
    hidden = [fate for fate in wrong if not fate.found]
    held = [fate.name for fate in found if fate.end == HAND]
    parts = [f"{len(right)} of {len(wrong)} misplaced {_plural(len(wrong), 'object')} ended where {wanting} them"]
    if lost:
        parts.append(f"{len(lost)} correct {_plural(len(lost), 'one')} {_were(len(lost))} taken away")
    if hidden:
        parts.append(f"{len(hidden)} {_were(len(hidden))} never found")
    if held:
        parts.append(f"the robot still holds {held[0]}")
    return "; ".join(parts) + "."


def who_wants(person: str) -> str:
    """A person's name from the settings as the subject of a wish."""
    if person in ("", "majority"):
        return "most people want"
    return f"{person.replace('-', ' ').capitalize()} wants"


def _class(right: bool, found: bool) -> str:
    if not found:
        return "unseen"
    return "right" if right else "wrong"


def _place(name: str) -> str:
    return HAND if name == ROBOT else name


def _plural(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
