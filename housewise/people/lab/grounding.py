"""Finds the thing that an instruction means among the things that a person sees or remembers.

A thing is known by what the picture shows: its common or fuzzy name, colour, look and label, and what it lies on. An
uncommon thing whose look was described differently is not recognised.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from housewise.people.lab.understanding import Instruction, categories
from housewise.people.lab.views import SeenThing
from housewise.people.lab.vocabulary import load_vocabulary
from housewise.worlds.lab.actions import Verb
from housewise.worlds.lab.kinds import KINDS, Property
from housewise.worlds.lab.texts import side_of

AMBIGUOUS = 0.85
"""A candidate with this share of the best score may be meant as well."""
RECOGNIZED = 0.5
"""Share of the words of look in a description that an uncommon thing has to show."""

_NEEDED: Mapping[Verb, frozenset[Property]] = {
    "Pickup": frozenset({"pickupable"}),
    "Open": frozenset({"openable"}),
    "Close": frozenset({"openable"}),
    "Toggle": frozenset({"toggleable", "powerable"}),
    "Place": frozenset({"receptacle", "infectable", "fillable"}),
    "Pour": frozenset({"receptacle", "fillable"}),
    "Break": frozenset({"breakable"}),
}


@dataclass(frozen=True)
class Match:
    """A thing that may be meant.

    Attributes:
        thing: The thing.
        score: How well it fits; only comparable for one instruction.
    """

    thing: SeenThing
    score: float


def is_suitable(thing: SeenThing, verb: Verb | None) -> bool:
    """Return whether a person would try an action on a thing of this name, known or fuzzy."""
    needed = _NEEDED.get(verb) if verb else None
    return needed is None or bool(needed & affordances(thing.name))


def is_small(thing: SeenThing) -> bool:
    """Return whether a thing of this name can be carried, as far as one sees."""
    return "pickupable" in affordances(thing.name)


def is_decor(thing: SeenThing) -> bool:
    """Return whether a thing of this name only hangs or stands there, so that nothing is looked for on it."""
    return "decor" in affordances(thing.name)


def is_furniture(thing: SeenThing) -> bool:
    """Return whether things can lie on a thing that everybody knows and nobody carries."""
    return is_common(thing.name) and is_suitable(thing, "Place") and not (is_small(thing) or is_decor(thing))


def is_tool(thing: SeenThing) -> bool:
    """Return whether things are broken with it."""
    return thing.name == KINDS["hammer"].name


@lru_cache(maxsize=256)
def affordances(name: str) -> frozenset[Property]:
    """Return what a thing of this name might be good for; an uncommon one for what things of its category are."""
    kinds = [kind for kind in KINDS.values() if (_category(name) or name) == (kind.fuzzy or kind.name)]
    return frozenset(each for kind in kinds for each in kind.properties)


@lru_cache(maxsize=256)
def is_common(name: str) -> bool:
    """Return whether everybody knows things of this name."""
    return any(kind.name == name and kind.is_common for kind in KINDS.values())


@lru_cache(maxsize=256)
def is_exact(name: str) -> bool:
    """Return whether a name is that of one kind, common or not, and no fuzzy one."""
    return any(kind.name == name for kind in KINDS.values())


def find_matches(
    instruction: Instruction,
    candidates: Sequence[SeenThing],
    aliases: Mapping[str, Collection[str]],
    verb: Verb | None = None,
) -> list[Match]:
    """Return the things that an instruction may mean, best first.

    Args:
        instruction: What was said.
        candidates: Things in view or in memory.
        aliases: Words by which things were called before, by id.
        verb: What will be done with it, by which candidates are chosen. None for any thing.
    """
    suitable = [each for each in candidates if is_suitable(each, verb)]
    words = {each.id: {*thing_words(each), *aliases.get(each.id, ())} for each in suitable}
    holders = {each.id: _holder_words(each, candidates) for each in suitable}
    frequency = Counter(word for each in words.values() for word in each)
    named = {word for each in candidates for word in thing_words(each)}
    matches = []
    for thing in suitable:
        score = _score(instruction, thing, words[thing.id], holders[thing.id], frequency, named)
        if score > 0:
            matches.append(Match(thing, score))
    return sorted(matches, key=lambda match: (-match.score, match.thing.distance, match.thing.id))


def said_places(instruction: Instruction, candidates: Sequence[SeenThing]) -> list[SeenThing]:
    """Return the things on or in which a small thing is said to be: those that fit most words said beside it."""
    if instruction.verb not in ("Pickup", "Break"):
        return []
    places = [each for each in candidates if is_suitable(each, "Place") and not is_small(each)]
    fits = [len(thing_words(each).intersection({*instruction.place_words, *instruction.context})) for each in places]
    return [each for each, fit in zip(places, fits, strict=True) if fit == max(fits) > 0]


def shows_all(instruction: Instruction, thing: SeenThing) -> bool:
    """Return whether a thing shows every word of look that was said."""
    return _visual_words() & {*instruction.words, *instruction.context} <= thing_words(thing)


def is_described(instruction: Instruction) -> bool:
    """Return whether words of look were said, besides names such as "machine"."""
    return bool(_visual_words() & {*instruction.words, *instruction.context})


def names_common(instruction: Instruction) -> bool:
    """Return whether a common thing is named."""
    return bool((_common_names(True) | _common_names(False)) & {*instruction.words, *instruction.context})


def plain_words() -> frozenset[str]:
    """Return the words that everybody knows: of looks, common things and categories."""
    return _visual_words() | _common_names(True) | _common_names(False) | categories()


def is_meaningful(instruction: Instruction) -> bool:
    """Return whether an instruction does more than state something that a person cannot make sense of."""
    return instruction.verb is not None or bool(instruction.room) or is_plain(instruction)


def is_plain(instruction: Instruction) -> bool:
    """Return whether an instruction has words that everybody knows."""
    return bool({*instruction.words, *instruction.place_words, *instruction.context} & plain_words())


def possible_matches(matches: Sequence[Match], side: str) -> list[SeenThing]:
    """Return the best matches that cannot be told apart, those on a mentioned side first."""
    close = [each.thing for each in matches if each.score >= AMBIGUOUS * matches[0].score]
    return sorted(close, key=lambda thing: not side or side_of(thing.bearing) != side)


@lru_cache(maxsize=1 << 12)
def thing_words(thing: SeenThing) -> frozenset[str]:
    """Return the keys of the words that a thing in view calls to mind."""
    text = f"{thing.name} , {_category(thing.name)} , {thing.color} , {thing.look}"
    return frozenset(load_vocabulary().text_content(text))


@lru_cache(maxsize=256)
def _category(name: str) -> str:
    """Return what a thing of an exact name looks to be, such as "machine"; empty for common and fuzzy names."""
    return next((kind.fuzzy for kind in KINDS.values() if kind.name == name and kind.fuzzy), "")


def _holder_words(thing: SeenThing, candidates: Sequence[SeenThing]) -> frozenset[str]:
    holder = next((each for each in candidates if each.id == thing.holder), None)
    return thing_words(holder) if holder else frozenset()


def _score(
    instruction: Instruction,
    thing: SeenThing,
    words: Collection[str],
    holder: Collection[str],
    frequency: Counter[str],
    others: Collection[str],
) -> float:
    """Return how well a thing fits a description; 0 if it is not recognised."""
    weights = dict.fromkeys(instruction.place_words, 0.3)
    weights |= dict.fromkeys(instruction.context, 0.5)
    weights |= dict.fromkeys(instruction.words, 1.0)
    score = sum(weights[word] * (0.5 + 1 / frequency[word]) for word in weights if word in words)
    score += sum(0.3 * weight for word, weight in weights.items() if word in holder and word not in words)
    colors = _own_colors(instruction.words, holder) | _own_colors(instruction.context, holder)
    if not score or (colors and not colors.intersection(words)):
        return 0.0
    if is_common(thing.name):
        # A common thing is known by its name: "jar" alone does not mean the other kind of jar.
        called = [word for word in _naming_words(thing.name) if word in weights]
        other = (_common_names(is_small(thing)) & {*instruction.words}) - {*words, *holder, *others}
        return score + len(called) if called and not other else 0.0
    if is_exact(thing.name):
        if _is_named(thing.name, {*weights}):
            return score + len(_exact_words(thing.name))
        if not _visual_words() & {*weights} & {*words}:
            return 0.0  # "the hammer" is no hammer cartridge
    said = [word for word in instruction.words if word in categories()] or [
        word for word in instruction.context if word in categories()
    ]
    if said and not set(said) & set(words):
        return 0.0  # "the red computer" is no machine
    if not said and (_common_names(True) | _common_names(False)) & {*instruction.words} - set(words):
        return 0.0  # "the red hammer" is no red disk
    told = {*instruction.words, *instruction.context}
    described = [word for word in told if word in _visual_words() and word not in holder]
    shown = [word for word in described if word in words]
    if len(shown) < RECOGNIZED * len(described):
        return 0.0
    return score


def _own_colors(said: Sequence[str], holder: Collection[str]) -> frozenset[str]:
    """Return the colours that were said, without those of what the thing lies on: "white" of "on the white table"."""
    named = pairwise([*said, ""])
    return frozenset(word for word, after in named if word in _colors() and not (word in holder and after in holder))


@lru_cache(maxsize=2)
def _common_names(small: bool) -> frozenset[str]:
    """Return the words of the names of common things, small ones or furniture."""
    names = [kind.name for kind in KINDS.values() if kind.is_common and ("pickupable" in kind.properties) == small]
    return frozenset(word for name in names for word in load_vocabulary().text_content(name))


@lru_cache(maxsize=256)
def _naming_words(name: str) -> tuple[str, ...]:
    """Return the words of a common name by which its thing is called: "shelf" of "red wall shelf"."""
    words = load_vocabulary().text_content(name)
    return tuple(word for word in words if word not in _colors() | _look_words() or word == words[-1])


def _is_named(name: str, said: Collection[str]) -> bool:
    """Return whether words name an uncommon thing whose exact name is known.

    Words of no other name do, since others may have been taken for the held thing: "unmaker" without "coffee".
    """
    words = {*_exact_words(name)}
    own = words - categories()
    unique = {word for word in own if _name_words()[word] == 1}
    return unique <= {*said} if unique else words <= {*said} if own else words == {*said}


@lru_cache(maxsize=256)
def _exact_words(name: str) -> tuple[str, ...]:
    """Return all words of the exact name of an uncommon thing."""
    return tuple(load_vocabulary().text_content(name))


@lru_cache(maxsize=1)
def _name_words() -> Counter[str]:
    """Return in how many names of kinds each word is."""
    return Counter(word for kind in KINDS.values() for word in {*_exact_words(kind.name)})


@lru_cache(maxsize=1)
def _look_words() -> frozenset[str]:
    """Return the words of the looks of uncommon things."""
    vocabulary = load_vocabulary()
    return frozenset(word for kind in KINDS.values() for word in vocabulary.text_content(kind.look))


@lru_cache(maxsize=1)
def _colors() -> frozenset[str]:
    """Return the words of colours."""
    colors = {color for kind in KINDS.values() for color in kind.colors}
    return frozenset(word for color in colors for word in load_vocabulary().text_content(color))


@lru_cache(maxsize=1)
def _visual_words() -> frozenset[str]:
    """Return the words of shapes, colours and parts that everybody knows."""
    vocabulary = load_vocabulary()
    # Names of uncommon things, such as "laser" or "virus", tell nothing about a look.
    names = {word for kind in KINDS.values() if kind.fuzzy for word in vocabulary.text_content(kind.name)}
    known = frozenset(vocabulary.keys.values()) - (names - _look_words()) | _look_words()
    return known - _common_names(True) - _common_names(False) - categories() | _colors()


def without_held(instruction: Instruction, held: SeenThing, aliases: Mapping[str, set[str]]) -> Instruction:
    """Return an instruction without the words for the thing in the hand, if others are left.

    Args:
        instruction: What to do.
        held: The thing in the hand.
        aliases: Words by which things were called, by id.
    """
    called = aliases.get(held.id, set())
    names, words = {*load_vocabulary().text_content(held.name), *called}, {*thing_words(held), *called}

    def rest(said: Collection[str]) -> tuple[str, ...]:
        # Without the name of the held thing, its colour belongs to another thing.
        return tuple(word for word in said if word not in words or not names.intersection(said))

    left = replace(instruction, place_words=rest(instruction.place_words), context=rest(instruction.context))
    return replace(left, words=rest(instruction.words)) if rest(instruction.words) or left.context else left
