"""Descriptions in which a scripted person recognises uncommon things at once. They are drawn, not fitted to anybody."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from housewise.people.lab.views import SeenThing


class RecognizedDescriptions:
    """One of several descriptions of each uncommon thing, in which the person recognises it at once.

    Args:
        descriptions: Descriptions by how the thing looks (``SeenThing.look`` without states).
        seed: Seed of the draws.
    """

    def __init__(self, descriptions: Mapping[str, Sequence[str]], seed: int) -> None:
        self._descriptions = descriptions
        self._own = {look: random.Random(f"{seed}:{look}").choice(texts) for look, texts in descriptions.items()}
        self._recognized: set[str] = set()

    def listen(self, speech: str) -> None:
        """Notice which things are described. A thing that is described again counts by its newest description."""
        said = speech.casefold()
        for look, texts in self._descriptions.items():
            if any(text.casefold() in said for text in texts):
                self._recognized.discard(look)
            if self._own[look].casefold() in said:
                self._recognized.add(look)

    def is_recognized(self, thing: SeenThing) -> bool:
        """Return whether the thing was described in the words in which the person recognises it."""
        return any(thing.look == look or thing.look.startswith(f"{look} ") for look in self._recognized)
