"""What scripted people in the lab are like."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class UserTraits:
    """What a scripted person is like.

    The rates are not fitted to anybody. That of mistakes was chosen on training scenarios, so that guidance may fail.

    Attributes:
        name: Alice is brief; Bob also acknowledges and asks which one is meant.
        mistakes: Probability of a mistake whenever there is occasion for it: the person overlooks a thing in view, goes
            to another room than the one meant, acts on another thing, or forgets what to do.
        patience: Number of searches and questions about one advice before the person gives up on it.
        talkativeness: Probability to acknowledge an advice, and to ask which of several things is meant.
        hears: Whether the person hears the assistant.
        wording: Wording of the person's speech: training, held_out, or a path to a YAML file.
    """

    name: str = "Bob"
    mistakes: float = 0.5
    patience: int = 2
    talkativeness: float = 0.1
    hears: bool = True
    wording: str = "training"


ALICE = UserTraits("Alice", talkativeness=0.0)
BOB = UserTraits("Bob")
