"""The actions of a person in the lab, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verb = Literal[
    "MoveForward", "MoveBackward", "RotateLeft", "RotateRight", "LookUp", "LookDown", "GotoRoom", "GotoObject",
    "Pickup", "Place", "Open", "Close", "Toggle", "Break", "Pour", "Throw", "Speak",
]  # fmt: skip

ARGUMENTS: dict[Verb, str] = {
    "MoveForward": "metres", "MoveBackward": "metres", "RotateLeft": "degrees", "RotateRight": "degrees",
    "LookUp": "degrees", "LookDown": "degrees", "GotoRoom": "room", "GotoObject": "thing", "Pickup": "thing",
    "Place": "thing", "Open": "thing", "Close": "thing", "Toggle": "thing", "Break": "thing", "Pour": "thing",
    "Throw": "thing", "Speak": "text",
}  # fmt: skip
"""What each verb is followed by. All but Speak are the 16 actions of the paper (section 4.1)."""

AMOUNTS: dict[Verb, tuple[int, ...]] = {
    "MoveForward": (1, 2), "MoveBackward": (1, 2), "RotateLeft": (45, 90), "RotateRight": (45, 90), "LookUp": (30,),
    "LookDown": (30,),
}  # fmt: skip
"""Permitted metres or degrees of the low-level actions."""

MANIPULATIONS: tuple[Verb, ...] = ("Pickup", "Place", "Open", "Close", "Toggle", "Break", "Pour", "Throw")
"""Actions that do something to a thing."""


@dataclass(frozen=True)
class LabAction:
    """An action.

    Attributes:
        verb: What is done.
        argument: Id of a thing, name of a room, metres, degrees or the spoken text; see ARGUMENTS.
    """

    verb: Verb
    argument: str = ""

    def __str__(self) -> str:
        text = f'"{self.argument}"' if self.verb == "Speak" else self.argument
        return f"{self.verb} {text}".strip()


Status = Literal[
    "ActionSuccessful", "UnsupportedAction", "UnsupportedNavigation", "AlreadyHoldingObject", "ReceptacleIsFull",
    "ReceptacleIsClosed", "TargetInaccessible", "KilledByHazard", "TargetOutOfRange", "ObjectUnpowered",
    "InvalidCommand", "ObjectNotPickedUp", "NoFreeHand",
]  # fmt: skip


@dataclass(frozen=True)
class ActionOutcome:
    """What became of an action.

    Attributes:
        status: Kind of success or failure, by the names of Alexa Arena.
        message: Result or reason in a sentence that names no ids, for people.
        reason: Name of the rule's requirement that is missing; empty after a success.
        events: Names of effects that took place, for subgoals, such as ``"fired"``.
    """

    status: Status
    message: str
    reason: str = ""
    events: tuple[str, ...] = ()

    @property
    def succeeded(self) -> bool:
        """Whether the action was carried out."""
        return self.status == "ActionSuccessful"
