"""A person who says, when they are asked, where things belong in their house."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from itertools import chain, zip_longest
from pathlib import Path

from housewise.people.choices.respondent import UNSEEN_SPEECH_FILE, Speech
from housewise.people.respondent import Answer, Question
from housewise.worlds.choices.files import read_yaml_settings
from housewise.worlds.house.names import spoken
from housewise.worlds.house.preferences import ANY_ROOM, RECEPTACLE_KINDS, ROOM_KINDS, Person

_MOST_SAID = 4
"""Places that anybody names in one answer."""

_Spot = tuple[str, str]
"""Kinds of room and of receptacle."""


class HouseRespondent:
    """Answers by what they want; see Person. They hear the question alone, and find the things that it names.

    Args:
        who: where they want what.
        seed: of the ways of speaking, in which the same question is always answered alike.
        speech: ways of speaking, which no learner has seen.
    """

    def __init__(self, who: Person, seed: int = 0, speech: Path = UNSEEN_SPEECH_FILE) -> None:
        self.name = who.name
        self._who, self._seed = who, seed
        self._speech = read_yaml_settings(speech, Speech)
        self._names = sorted(who.categories, key=lambda name: (-len(name), name))

    def answer(self, question: Question) -> Answer:
        """Where most of the things that are asked about are wanted, and one of the named places where none is."""
        digest = sha256(f"{self._seed}\0{question.text}".encode()).digest()
        generator = random.Random(int.from_bytes(digest[:8], "big"))
        wanted = self._wanted(question.text)
        if not wanted:
            return Answer(generator.choice(self._speech.indifferent))
        likes = [_phrase(spot) for spot in interleave_rooms(_usual(wanted))[:_MOST_SAID]]
        anywhere = {_phrase(spot) for spots in wanted for spot in spots}
        every = [_phrase((room, kind)) for room in (*ROOM_KINDS, ANY_ROOM) for kind in RECEPTACLE_KINDS]
        named = [phrase for phrase in every if re.search(rf"\b{re.escape(phrase)}\b", question.text)]
        dislikes = [phrase for phrase in named if phrase not in anywhere]
        return Answer(self._speech.sentence(likes, dislikes, generator, refusing=True))

    def _wanted(self, text: str) -> list[list[_Spot]]:
        """For each thing that a text names, where it is wanted."""
        found = []
        for name in self._names:
            said = re.compile(rf"\b{re.escape(spoken(name))}\b", re.IGNORECASE)
            if said.search(text):
                # A serving bowl is no bowl.
                text = said.sub(" ", text)
                places = self._who.places(name)
                found.append([(room, kind) for room, kinds in places.items() for kind in kinds])
        return [spots for spots in found if spots]


def _usual(wanted: list[list[_Spot]]) -> list[_Spot]:
    """Where at least half of the things are wanted, or else what most are."""
    counts = Counter(spot for spots in wanted for spot in spots)
    half = [spot for spot, count in counts.items() if 2 * count >= len(wanted)]
    return half or [counts.most_common(1)[0][0]]


def interleave_rooms(spots: Sequence[_Spot]) -> list[_Spot]:
    """The first of each room, then the second: what one would do in any house."""
    rooms: dict[str, list[_Spot]] = {}
    for spot in spots:
        rooms.setdefault(spot[0], []).append(spot)
    return [spot for spot in chain.from_iterable(zip_longest(*rooms.values())) if spot]


def _phrase(spot: _Spot) -> str:
    room, kind = spot
    return f"{kind} in {room if room == ANY_ROOM else f'the {room}'}"
