"""A respondent who answers where things belong in their house."""

from __future__ import annotations

import re
from collections import Counter

from housewise.core.validation import read_model
from housewise.people.respondent import Answer, Question
from housewise.people.speech import UNSEEN_SPEECH_FILE, Speech
from housewise.worlds.choices.scenario import random_from_text
from housewise.worlds.house.place_kinds import PlaceKind, find_quoted_kinds, interleave_rooms, to_place_kinds
from housewise.worlds.house.preferences import HousePreferences
from housewise.worlds.house.spoken_names import spoken_name

ANSWERED_PLACES = 4
"""Places that a person names at most in one answer."""
_GROUP = re.compile(r"(?P<name>[^\W\d][\w' ]*?) \([^\W\d][^()]*\):")
"""Matches what a question says about a group of things before the colon."""


class HouseRespondent:
    """A ``Respondent`` that answers from its preferences about the things that a question names.

    Args:
        preferences: Where the person wants which things.
        seed: Seed of the phrasings. Equal questions get equal answers.
    """

    def __init__(self, preferences: HousePreferences, seed: int = 0) -> None:
        self.name = preferences.name
        self._preferences, self._seed = preferences, seed
        self._speech = read_model(UNSEEN_SPEECH_FILE, Speech)
        self._things = sorted(preferences.categories, key=lambda name: (-len(name), name))

    def answer(self, question: Question) -> Answer:
        """Say where most of the named things belong, and at which of the named places none of them belongs.

        A question about several groups, as in "Drinkware (mug, cup): ... Books (novel): ...", gets an answer for each.
        """
        groups = list(_GROUP.finditer(question.text))
        if len(groups) < 2:
            return Answer(self._sentence(question.text))
        ends = [*(group.start() for group in groups[1:]), len(question.text)]
        parts = [question.text[group.start() : end] for group, end in zip(groups, ends, strict=True)]
        said = [f"{group['name']}: {self._sentence(part)}" for group, part in zip(groups, parts, strict=True)]
        return Answer(" ".join(said))

    def _sentence(self, text: str) -> str:
        """Say where most of the things that a text names belong."""
        generator = random_from_text(f"{self._seed}\0{text}")
        wanted = self._wanted_places(text)
        if not wanted:
            return generator.choice(self._speech.indifferent)
        likes = [place.phrase for place in interleave_rooms(_most_wanted(wanted))[:ANSWERED_PLACES]]
        anywhere = {place for places in wanted for place in places}
        dislikes = [place.phrase for place in find_quoted_kinds(text) if place not in anywhere]
        return self._speech.sentence(likes, dislikes, generator, refusing=True)

    def _wanted_places(self, text: str) -> list[tuple[PlaceKind, ...]]:
        """Return, for each thing that a text names, where it is wanted."""
        found = []
        for thing in self._things:
            pattern = re.compile(rf"\b{re.escape(spoken_name(thing))}\b", re.IGNORECASE)
            if pattern.search(text):
                # The longest names come first and are removed, so that a serving bowl is not taken for a bowl.
                text = pattern.sub(" ", text)
                found.append(to_place_kinds(self._preferences.places_for(thing)))
        return [places for places in found if places]


def _most_wanted(wanted: list[tuple[PlaceKind, ...]]) -> list[PlaceKind]:
    """Return the places that at least half of the things are wanted at, or else the most common one."""
    counts = Counter(place for places in wanted for place in places)
    half = [place for place, count in counts.items() if 2 * count >= len(wanted)]
    return half or [counts.most_common(1)[0][0]]
