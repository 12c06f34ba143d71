"""What a scripted person does wrong: overlooks a thing, goes to another room, or takes one thing for another."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import replace

from housewise.people.lab.grounding import is_suitable
from housewise.people.lab.recognized_descriptions import RecognizedDescriptions
from housewise.people.lab.views import SeenThing, UserView
from housewise.worlds.lab.actions import Verb
from housewise.worlds.lab.state import ROOMS
from housewise.worlds.lab.texts import NEAR_METRES, side_of


class Lapses:
    """Draws mistakes.

    Args:
        probability: Probability of each mistake, whenever there is occasion for it.
        seed: Seed of the random number generator.
        recognized: Descriptions in which the person recognises things at once: what was described so is neither
            overlooked nor mistaken.
    """

    def __init__(self, probability: float, seed: int, recognized: RecognizedDescriptions | None = None) -> None:
        self._probability, self._seed, self._recognized = probability, seed, recognized
        self._noticed: set[str] = set()

    def glance(self, view: UserView, sides: Collection[str] = ()) -> UserView:
        """Return what the person notices of what is in view. What was noticed once is noticed again.

        Args:
            view: What is in view.
            sides: Sides to which the assistant has just pointed. Nothing there is overlooked.
        """
        if self._recognized is not None and view.speech:
            self._recognized.listen(view.speech)
        for thing in view.things:
            if (
                side_of(thing.bearing) in sides
                or self._is_recognized(thing)
                or not self._occurs(view, f"overlook {thing.id}")
            ):
                self._noticed.add(thing.id)
        return replace(view, things=tuple(thing for thing in view.things if thing.id in self._noticed))

    def room(self, meant: str, view: UserView) -> str:
        """Return the room to which the person goes, who was sent to another one."""
        if not self._occurs(view, "room"):
            return meant
        return self._generator(view, "which room").choice([room for room in ROOMS if room not in (meant, view.room)])

    def forgets(self, thing: SeenThing, view: UserView) -> bool:
        """Return whether the person, standing before a thing, takes another one for it or forgets what to do."""
        return not self._is_recognized(thing) and self._occurs(view, "forget")

    def mistaken_thing(
        self, thing: SeenThing, verb: Verb, view: UserView, dangers: Collection[str]
    ) -> SeenThing | None:
        """Return another thing near by with which one can do the same. None if there is none."""
        others = [each for each in view.things if each.id != thing.id and is_suitable(each, verb)]
        return next((each for each in others if each.id not in dangers and each.distance <= NEAR_METRES), None)

    def _is_recognized(self, thing: SeenThing) -> bool:
        return self._recognized is not None and self._recognized.is_recognized(thing)

    def _occurs(self, view: UserView, what: str) -> bool:
        return self._generator(view, what).random() < self._probability

    def _generator(self, view: UserView, what: str) -> random.Random:
        return random.Random(f"{self._seed}:{len(view.history)}:{what}")
