"""By which words a scripted person calls uncommon things themself. They are drawn, and not fitted to anybody."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from housewise.people.lab.views import SeenThing


class OwnWords:
    """One of several descriptions of each uncommon thing, in which the person recognises it at once.

    Args:
        descriptions: Descriptions by how the thing looks (``SeenThing.look`` without states).
        seed: Seed of the draws.
    """

    def __init__(self, descriptions: Mapping[str, Sequence[str]], seed: int) -> None:
        self._own = {look: random.Random(f"{seed}:{look}").choice(texts) for look, texts in descriptions.items()}
        self._called: set[str] = set()

    def listen(self, speech: str) -> None:
        """Notice which things are described in the person's words; an earlier speech does not count any more."""
        said = speech.casefold()
        self._called = {look for look, text in self._own.items() if text.casefold() in said}

    def fit(self, thing: SeenThing) -> bool:
        """Return whether the thing was just described in the person's words."""
        return any(thing.look == look or thing.look.startswith(f"{look} ") for look in self._called)
