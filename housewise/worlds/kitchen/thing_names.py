"""Names of things in the text kitchen as people type them: "the milk", "almond milk", "2", "it"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from housewise.agent.clipr.answer_phrases import NoSuchOption, replace_option_numbers
from housewise.language.words import STOP_WORDS, word_stems
from housewise.worlds.kitchen.name_resolution import describe_entity, to_id
from housewise.worlds.kitchen.state import Entity, State

_NUMBER = re.compile(r"_\d+$")
_ID = re.compile(r"\w_\d+\b")
_FOUND = re.compile(r"(.*\b[Ff]ound )(\w+ in/on .+)")
"""What a search of the house says, and the ids that it lists with their places."""
_IT = frozenset({"it", "them", "that", "this", "these", "those"})
_ARTICLES = re.compile(r"^(?:(?:the|a|an|some|any|my|all|all the|one|of|piece of|glass of|cup of) )+(?=.)")
_OTHER_WORDS = {
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
_MOST_CHOICES = 6


class NotUnderstoodLine(Exception):
    """A line is not understood; the message says why, with examples."""


class AmbiguousName(NotUnderstoodLine):
    """A name may mean several things.

    Attributes:
        words: that were said.
        choices: ids of what they may mean.
    """

    def __init__(self, words: str, choices: Sequence[str], names: Sequence[str]) -> None:
        listed = "".join(f"\n  {place}. {name}" for place, name in enumerate(names[:_MOST_CHOICES], 1))
        more = f"\n  ... and {len(names) - _MOST_CHOICES} more" if len(names) > _MOST_CHOICES else ""
        super().__init__(f"Which {words}?{listed}{more}")
        self.words, self.choices = words, tuple(choices[:_MOST_CHOICES])


class ThingNames:
    """Finds what names mean in a state, and says things by names that a person would use.

    Args:
        state: brings the state of the moment.
        furniture: ids of furniture, rooms left out.

    Attributes:
        held: id of what is in the hand; "" for nothing.
    """

    def __init__(self, state: Callable[[], State], furniture: Sequence[str]) -> None:
        self._state, self._furniture = state, tuple(furniture)
        self._recent: list[str] = []
        self._known = {id: self.name(id) for id in state().entities}
        self.held = ""

    def mention(self, id: str) -> str:
        """Note that something is talked about, which "it" and names that fit several things mean from now on."""
        self._recent.append(id)
        return id

    def find(self, words: str) -> str:
        """The id of what is meant.

        Raises:
            Unclear: nothing is, or several things are.
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

    def choose(self, words: str, choices: Sequence[str]) -> str | None:
        """Which of some things an answer means, by number or in words; None for none of them alone."""
        names = [self.name(id) for id in choices]
        try:
            named = replace_option_numbers(words, names)
        except NoSuchOption:
            return None
        numbered = [id for id, name in zip(choices, names, strict=True) if name in named and name not in words]
        if len(numbered) == 1:
            return numbered[0]
        said = set(_words(words))
        fitting = [id for id, name in zip(choices, names, strict=True) if said and said <= {*_words(name), *_words(id)}]
        return fitting[0] if len(fitting) == 1 else None

    def name(self, id: str) -> str:
        """What a thing is called: furniture by its kind where there is one such, other things as they are described."""
        entity = self._state()[id]
        plain = _NUMBER.sub("", id).replace("_", " ")
        if id not in self._furniture:
            # What was made or poured is described by ids.
            of_ids = entity.can("room") or entity.description.startswith("made of") or _ID.search(entity.description)
            return plain if of_ids else entity.description or plain
        alike = [other for other in self._furniture if _NUMBER.sub("", other) == _NUMBER.sub("", id)]
        return plain if len(alike) == 1 else f"{id} ({entity.description})"

    def spoken(self, text: str) -> str:
        """What the kitchen says, with names in place of ids; what was used up keeps the name that it had."""
        state = self._state()
        for id, entity in state.entities.items():
            text = text.replace(describe_entity(entity), id) if id in text else text
        self._known |= {id: self.name(id) for id in state.entities}

        def named(part: str) -> str:
            return re.sub(r"\w+", lambda found: self._known.get(found[0], found[0]), part)

        if listed := _FOUND.fullmatch(text):
            return named(listed[1]) + _counted(map(named, listed[2].split(", ")))
        return named(text)

    def inside(self, id: str) -> str:
        """What is in or on something, in words."""
        contents = self._state()[id].contents
        poured = [contents.replace("_", " ")] if contents else []
        listed = _counted([*poured, *map(self.name, self._state().inside(id))])
        return f"In or on the {self.name(id)}: {listed or 'nothing'}."

    def _matches(self, said: str, state: State) -> list[str]:
        """Ids that fit best: whose name or contents it is, or whose name, contents or description has its words."""
        for other, word in _OTHER_WORDS.items():
            said = re.sub(rf"\b{other}(?=s?\b)", word, said)
        words = set(_words(said))
        if not words:
            return []
        ways: tuple[Callable[[str, Entity], bool], ...] = (
            lambda id, entity: words == set(_words(_NUMBER.sub("", id))),
            lambda id, entity: words == set(_words(entity.contents or "")),
            lambda id, entity: words <= {*_words(id), *_words(entity.contents or "")},
            lambda id, entity: words <= {*_words(id), *_words(entity.contents or ""), *_words(entity.description)},
        )
        for fits in ways:
            if found := [id for id, entity in state.entities.items() if fits(id, entity)]:
                return found
        return []


def _counted(names: Iterable[str]) -> str:
    """Names with how often they are there, each once."""
    return ", ".join(name if count == 1 else f"{name} ({count})" for name, count in Counter(names).items())


def _words(text: str) -> list[str]:
    return [word for word in word_stems(text.replace("_", " ")) if word not in STOP_WORDS]
