"""Translate everyday words for places ("the worktop", "a cupboard in the hall") into the words of rules."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from housewise.agent.clipr.answer_phrases import normalize_line, phrase_pattern
from housewise.core.configs import CONFIGS
from housewise.core.validation import StrictModel, read_model
from housewise.worlds.house.place_kinds import PlaceKind, find_place_kinds
from housewise.worlds.house.preferences import RECEPTACLE_KINDS, ROOM_KINDS

PLACE_WORDS = CONFIGS / "clipr" / "everyday_places.yaml"


class _PlaceWordsFile(StrictModel):
    places: dict[str, tuple[str, ...]]


class PlaceVocabulary:
    """Finds places in an answer; see housewise.agent.clipr.terminal_interview.WordReader.

    Args:
        usual: Usual places of the things in question. They decide the meaning of ambiguous words.
    """

    def __init__(self, usual: Sequence[PlaceKind] = ()) -> None:
        self._usual = tuple(usual)
        self.topic_words = " ".join(place_words())

    def mark_phrases(self, text: str) -> str:
        """Return the text in lower case, with everyday words replaced by names of kinds."""
        return phrase_pattern(place_words()).sub(
            lambda found: self._kind(place_words()[found[1]]), normalize_line(text)
        )

    def find_values(self, text: str, wanted: bool) -> tuple[str, ...]:
        """Return the places that a marked text names, in the words of rules and without repetition.

        A wanted place without a room gets the room of the only usual place with that receptacle.
        """
        # "On the desk in the study but in the wardrobe" names two places, and the room of one of them.
        spots = find_place_kinds(re.sub(r"\bbut\b", ";", text)) or ()
        return tuple(dict.fromkeys(self.phrase(self._with_room(spot) if wanted else spot) for spot in spots))

    @staticmethod
    def covers(refused: str, value: str) -> bool:
        """See WordReader.covers. Who wants nothing on any shelf does not want it on the shelf in the kitchen."""
        places = find_place_kinds(value) or ()
        return any(place.is_at(spot) for place in places for spot in find_place_kinds(refused) or ())

    @staticmethod
    def phrase(spot: PlaceKind) -> str:
        """Return a place in the words of rules."""
        return spot.phrase.replace("childs room", "child's room")

    def _kind(self, kinds: Sequence[str]) -> str:
        known = {name for spot in self._usual for name in (spot.receptacle, spot.room)}
        return next((kind for kind in kinds if kind in known), kinds[0])

    def _with_room(self, spot: PlaceKind) -> PlaceKind:
        alike = [usual for usual in self._usual if usual.receptacle == spot.receptacle]
        return alike[0] if spot.room is None and len(alike) == 1 else spot


@lru_cache(maxsize=1)
def place_words() -> Mapping[str, tuple[str, ...]]:
    """Return the kinds that each word may mean. The kinds' own names mean themselves."""
    places = read_model(PLACE_WORDS, _PlaceWordsFile).places
    return places | {name: (name,) for name in (*RECEPTACLE_KINDS, *ROOM_KINDS)}
