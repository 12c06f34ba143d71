"""The high-level actions that planners speak in (LLM-Personalize, section 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class ActionKind(str, Enum):
    """What the robot can be told to do."""

    GO_TO = "go to"
    LOOK_AT = "look at"
    PICK_UP = "pick up"
    PLACE = "place"


@dataclass(frozen=True)
class HighLevelAction:
    """One instruction, with names as spoken.

    Attributes:
        kind: what to do.
        target: room, receptacle or object that it is done to.
        destination: where to place the target; None for every other kind.
    """

    kind: ActionKind
    target: str
    destination: str | None = None

    def renamed(self, called: Mapping[str, str]) -> HighLevelAction:
        """The same with other words for some things.

        Args:
            called: words by name, of the names that have any.
        """
        destination = self.destination and called.get(self.destination, self.destination)
        return HighLevelAction(self.kind, called.get(self.target, self.target), destination)

    def __str__(self) -> str:
        if self.destination is not None:
            return f"{self.kind.value} {self.target} on {self.destination}"
        return f"{self.kind.value} {self.target}"
