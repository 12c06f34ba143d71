"""What people want: for any category of object, the places where it belongs."""

from __future__ import annotations

from typing import Protocol


class Preferences(Protocol):
    """One person's, or a household's, idea of order.

    Attributes:
        name: of the person or the group, for example ``"majority"`` or ``"ada"``.
    """

    name: str

    def wants(self, category: str, room: str, receptacle: str) -> bool:
        """Whether this person is content to find such an object there.

        Args:
            category: of the object, with underscores, for example ``"tea_towel"``.
            room: kind of the room, as spoken, for example ``"living room"``.
            receptacle: kind of the receptacle, as spoken, for example ``"coffee table"``.
        """
        ...
