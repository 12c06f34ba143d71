"""Resolve names that a player types in the text kitchen ("the milk", "almond milk", "it") to ids, and back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from housewise.language.words import STOP_WORDS, word_stems
from housewise.worlds.kitchen.name_resolution import describe_entity, to_id
from housewise.worlds.kitchen.state import Entity, State

_NUMBER = re.compile(r"_\d+$")
_ID = re.compile(r"\w_\d+\b")
_FOUND = re.compile(r"(.*\b[Ff]ound )(\w+ in/on .+)")
"""Observation of a search: its beginning, and the ids that it lists with their places."""
_IT = frozenset({"it", "them", "that", "this", "these", "those"})
_ARTICLES = re.compile(r"^(?:(?:the|a|an|some|any|my|all|all the|one|of|piece of|glass of|cup of) )+(?=.)")
_SYNONYMS = {
    "cupboard": "cabinet",
    "worktop": "counter",
    "countertop": "counter",
    "hob": "stove",
    "cooker": "stove",
    "refrigerator": "fridge",
    "saucepan": "pot",
    "frying pan": "pan",
    "couch": "sofa",
    "yogurt": "yoghurt",
}
_MAX_CHOICES, _NO_MATCH = 6, 4


class NotUnderstoodLine(Exception):
    """A line is not understood. The message says why and gives examples."""


class AmbiguousName(NotUnderstoodLine):
    """A name may mean several things.

    Attributes:
        words: The name.
        choices: Ids of the things that it may mean, at most six.
    """

    def __init__(self, words: str, choices: Sequence[str], names: Sequence[str]) -> None:
        listed = "".join(f"\n  {place}. {name}" for place, name in enumerate(names[:_MAX_CHOICES], 1))
        more = f"\n  ... and {len(names) - _MAX_CHOICES} more" if len(names) > _MAX_CHOICES else ""
        super().__init__(f"Which {words}?{listed}{more}")
        self.words, self.choices = words, tuple(choices[:_MAX_CHOICES])


class ThingNames:
    """Resolves names of things to ids, and names things as a person would.

    Args:
        state: Returns the current state of the kitchen.
        furniture: Ids of furniture, without rooms.

    Attributes:
        held: Id of the thing in the hand, or an empty text.
    """

    def __init__(self, state: Callable[[], State], furniture: Sequence[str]) -> None:
        self._state, self._furniture = state, tuple(furniture)
        self._recent: list[str] = []
        self._known = {id: self.name(id) for id in state().entities}
        self.held = ""

    def mention(self, id: str) -> str:
        """Remember that a thing was mentioned, so that "it" and ambiguous names mean it from now on."""
        self._recent.append(id)
        return id

    def find(self, words: str) -> str:
        """Return the id of the thing that a name means.

        Raises:
            NotUnderstoodLine: No thing has this name.
            AmbiguousName: Several different things have this name.
        """
        state, said = self._state(), _ARTICLES.sub("", words.strip().lower()).strip(" .!\"'")
        if said in _IT:
            there = [id for id in self._recent if id in state and id not in self._furniture]
            if not (self.held or there):
                raise NotUnderstoodLine(f'I do not know what "{said}" is. Name the thing, as in: take the milk')
            return self.held or there[-1]
        if to_id(said) in state:
            return self.mention(to_id(said))
        found = self._matches(said, state)
        if not found:
            raise NotUnderstoodLine(
                f'I know of no "{said}". Try for example: find {said.split()[-1] if said else "milk"}; look'
            )
        recent = [id for id in reversed(self._recent) if id in found]
        kinds = {(state[id].kind, state[id].description) for id in found}
        if recent or len(kinds) == 1:
            return self.mention((recent or found)[0])
        first = {(state[id].kind, state[id].description): id for id in reversed(found)}
        choices = sorted(first.values(), key=found.index)
        raise AmbiguousName(said, choices, [self.name(id) for id in choices])

    def name(self, id: str) -> str:
        """Return the name of a thing: the kind of furniture that occurs once, and the description of other things."""
        entity = self._state()[id]
        plain = _NUMBER.sub("", id).replace("_", " ")
        if id not in self._furniture:
            # Descriptions of things that were made or poured consist of ids.
            of_ids = entity.can("room") or entity.description.startswith("made of") or _ID.search(entity.description)
            return plain if of_ids else entity.description or plain
        alike = [other for other in self._furniture if _NUMBER.sub("", other) == _NUMBER.sub("", id)]
        return plain if len(alike) == 1 else f"{id} ({entity.description})"

    def replace_ids(self, text: str) -> str:
        """Replace the ids in an observation by names. Things that were used up keep their last names."""
        state = self._state()
        for id, entity in state.entities.items():
            text = text.replace(describe_entity(entity), id) if id in text else text
        self._known |= {id: self.name(id) for id in state.entities}

        def replace_in(part: str) -> str:
            return re.sub(r"\w+", lambda found: self._known.get(found[0], found[0]), part)

        if listed := _FOUND.fullmatch(text):
            return replace_in(listed[1]) + _join_counted(map(replace_in, listed[2].split(", ")))
        return replace_in(text)

    def describe_contents(self, id: str) -> str:
        """Return a sentence about what is in or on a thing."""
        contents = self._state()[id].contents
        poured = [contents.replace("_", " ")] if contents else []
        listed = _join_counted([*poured, *map(self.name, self._state().inside(id))])
        return f"In or on the {self.name(id)}: {listed or 'nothing'}."

    def _matches(self, said: str, state: State) -> list[str]:
        """Return the ids that match best: by name, by contents, then by words of name, contents and description."""
        for other, word in _SYNONYMS.items():
            said = re.sub(rf"\b{other}(?=s?\b)", word, said)
        words = set(significant_words(said))
        if not words:
            return []
        ranks = {id: _match_rank(words, entity) for id, entity in state.entities.items()}
        best = min(ranks.values())
        return [id for id, rank in ranks.items() if rank == best < _NO_MATCH]


def _match_rank(words: set[str], entity: Entity) -> int:
    """Return how well words fit a thing: 0 for its whole name, up to ``_NO_MATCH``."""
    names, contents = {*significant_words(entity.id)}, {*significant_words(entity.contents or "")}
    fits = (
        words == {*significant_words(_NUMBER.sub("", entity.id))},
        words == contents,
        words <= names | contents,
        words <= names | contents | {*significant_words(entity.description)},
        True,
    )
    return fits.index(True)


def _join_counted(names: Iterable[str]) -> str:
    """Join names, each once, with the number of its occurrences if there are several."""
    return ", ".join(name if count == 1 else f"{name} ({count})" for name, count in Counter(names).items())


def significant_words(text: str) -> list[str]:
    """Return the stems of the words in a text or id, without stop words."""
    return [word for word in word_stems(text.replace("_", " ")) if word not in STOP_WORDS]
