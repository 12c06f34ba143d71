"""Resolves the names in an action to entities, with helpful reasons for names that cannot be resolved."""

from __future__ import annotations

import difflib
import random
import re

from housewise.worlds.kitchen.action_parser import ImpossibleAction, shorten, strip_article
from housewise.worlds.kitchen.state import Entity, State
from housewise.worlds.kitchen.trace import Trace

_NUMBER = re.compile(r"_\d+$")


def to_id(words: str) -> str:
    """Return words as an id: ``the Oat Milk`` becomes ``oat_milk``."""
    return strip_article(re.sub(r"[\s-]+", "_", words.strip().strip("\"'<>`").lower()))


def describe_entity(entity: Entity) -> str:
    """Describe an entity: ``milk_1 (oat milk in a carton, contains oat_milk)``."""
    parts = [entity.description, f"contains {entity.contents}" if entity.contents else ""]
    words = ", ".join(part for part in parts if part)
    return f"{entity.id} ({words})" if words else entity.id


def resolve_entity(words: str, trace: Trace) -> str:
    """Return the id of the entity that some words mean.

    Raises:
        ImpossibleAction: It does not exist, was used up, or several are named.
    """
    state = trace.state
    id = to_id(words)
    if id in state:
        return id
    named = _named_ids(words, state)
    if len(named) > 1:
        raise ImpossibleAction(f"Several things where one belongs: {', '.join(named)}; handle one thing at a time.")
    for made in reversed(trace.made):
        if id in made.parts:
            raise ImpossibleAction(f"{id} does not exist any more: it became part of {made.id}.")
    packets = [entity.id for entity in state.entities.values() if entity.contents == id]
    if packets:
        raise ImpossibleAction(f"{id} is inside {', '.join(packets)}: pour or move it from there.")
    raise ImpossibleAction(f"{shorten(words)} was not found.{_did_you_mean(id, state)}")


def resolve_contents(words: str, holder: str, trace: Trace) -> str | None:
    """Return the id of the entity in ``holder`` that ``words`` mean, or None for the contents of a packet.

    Raises:
        ImpossibleAction: ``holder`` does not contain it.
    """
    state = trace.state
    id = to_id(words)
    inside = state.inside(holder)
    if id in inside:
        return id
    contents = state[holder].contents
    if contents and (id == contents or (id not in state.entities.keys() - {holder} and _part_of(id, contents))):
        return None
    if id not in state:
        alike = [other for other in inside if _NUMBER.sub("", other) == _NUMBER.sub("", id)]
        if len(alike) == 1:
            return alike[0]
        if len(_named_ids(words, state)) > 1:
            resolve_entity(words, trace)
    elsewhere = state.holder(id) if id in state else None
    held = ", ".join([*([contents] if contents else []), *inside]) or "nothing"
    where = f" {id} is in/on {elsewhere}." if elsewhere else ""
    raise ImpossibleAction(f"{holder} does not contain {shorten(words)}.{where} {holder} contains {held}.")


def search_house(words: str, state: State, rng: random.Random) -> str:
    """Search the whole house for things whose name contains a word, or else whose description has all words.

    Raises:
        ImpossibleAction: Nothing is found.
    """
    word = to_id(words)
    word = word[:-1] if word.endswith("s") and len(word) > 1 else word
    found = [id for id in state.places if word and (word in id or id in word)]
    if found:
        rng.shuffle(found)
        return f"Found {_join_descriptions(found, state)}"
    alike = [id for id in state.places if _describes(word, state[id])]
    if alike:
        rng.shuffle(alike)
        return f"{shorten(words)} not found, but found {_join_descriptions(alike, state)}"
    raise ImpossibleAction(f"{shorten(words)} was not found. Search a place, or look for another single word.")


def _describes(word: str, entity: Entity) -> bool:
    return bool(_words(word)) and _words(word) <= _words(entity.description) | _words(entity.contents or "")


def _join_descriptions(ids: list[str], state: State) -> str:
    return ", ".join(f"{describe_entity(state[id])} in/on {state.holder(id)}" for id in ids)


def _words(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, without plural s and numbers."""
    return frozenset(word.rstrip("s") for word in re.findall(r"[^\W\d_]+", text.lower()) if word.rstrip("s"))


def _part_of(id: str, contents: str) -> bool:
    """Whether a name is a short form of some contents: milk for oat_milk."""
    return bool(_words(id)) and _words(id) <= _words(contents)


def _named_ids(words: str, state: State) -> list[str]:
    parts = [to_id(part) for part in re.split(r",|&|\+|/|\band\b|\s", words) if part.strip()]
    return [part for part in dict.fromkeys(parts) if part in state]


def _did_you_mean(id: str, state: State) -> str:
    plain = _NUMBER.sub("", id)
    close = [other for other in state.entities if plain and plain in other]
    close += difflib.get_close_matches(id, list(state.entities), n=3, cutoff=0.6)
    close += [other for other, entity in state.entities.items() if _words(plain) & _words(entity.description)]
    close = list(dict.fromkeys(close))[:3]
    return f" Did you mean {', '.join(close)}?" if close else ""
