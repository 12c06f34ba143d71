"""The high-level actions of planners: go to, look at, pick up and place (LLM-Personalize, section 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

HOLDING_NOTHING = "holding nothing"
"""Reason of a placement that was not tried because the robot holds nothing."""


class ActionKind(str, Enum):
    """Kinds of high-level actions."""

    GO_TO = "go to"
    LOOK_AT = "look at"
    PICK_UP = "pick up"
    PLACE = "place"


@dataclass(frozen=True)
class HighLevelAction:
    """A high-level action with spoken names.

    Attributes:
        kind: Kind of the action.
        target: Room, receptacle or object that the action is about.
        destination: Receptacle on which to place the target; None for all other kinds.
    """

    kind: ActionKind
    target: str
    destination: str | None = None

    def replace_names(self, names: Mapping[str, str]) -> HighLevelAction:
        """Return a copy with other names.

        Args:
            names: New names by the names to replace.
        """
        destination = self.destination and names.get(self.destination, self.destination)
        return HighLevelAction(self.kind, names.get(self.target, self.target), destination)

    def __str__(self) -> str:
        if self.destination is not None:
            return f"{self.kind.value} {self.target} on {self.destination}"
        return f"{self.kind.value} {self.target}"
