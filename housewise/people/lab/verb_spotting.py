"""Splits sentences at their verbs, and finds the rooms in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from housewise.people.lab.vocabulary import SpeechVocabulary, SpokenVerb, find_phrase

HERE = "here"
_WANTS = frozenset({"need", "needs", "want", "wants", "require", "requires", "deserves"})
_SEEING = frozenset({"can", "i", "you", "you'll", "should", "will", "could", "i'll", "may", "might"})


@dataclass
class Segment:
    """A verb and the words before and after it."""

    verb: SpokenVerb | None
    before: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)


def split_at_verbs(tokens: Sequence[str], vocabulary: SpeechVocabulary) -> list[Segment]:
    """Split a sentence into its verbs and the words that follow each."""
    segments = [Segment(None)]
    tokens = _resolve_give(tokens, vocabulary)
    place = 0
    while place < len(tokens):
        found = _verb_at(tokens, place, vocabulary)
        if segments[-1].verb is not None and segments[-1].tokens == [":"]:
            found = None  # "Fetch: hammer cartridge."
        if found is None:
            segments[-1].tokens.append(tokens[place])
            place += 1
            continue
        verb, length, form = found
        last = segments[-1]
        is_result = verb in ("Open", "Close") and length == 1 and form == "base" and last.verb is not None
        if is_result and {*last.tokens[-1:]} - vocabulary.function_words["openers"]:
            last.verb = verb  # "push the door shut"
            place += 1
            continue
        new = Segment(verb, list(segments[-1].tokens) if segments[-1].verb is None else [])
        before = tokens[place - 1] if place else ""
        is_passive = form in ("participle", "third") and before != "please"
        if is_passive or (form == "gerund" and before in _WANTS):  # "the door has to be opened", "it needs opening"
            new.before, new.tokens = [], [token for token in segments[-1].tokens if token not in ("be", "to")]
        if segments[-1].verb is None or is_passive:
            segments.pop()
        segments.append(new)
        place += length
    return segments


def _resolve_give(tokens: Sequence[str], vocabulary: SpeechVocabulary) -> list[str]:
    """Return "press the machine" for "give the machine a press"."""
    start = tokens.index("give") if "give" in tokens else len(tokens)
    for i in range(start + 2, len(tokens) - 1):
        if tokens[i] in ("a", "another") and tokens[i + 1] in vocabulary.verb_expressions:
            return [*tokens[:start], tokens[i + 1], *tokens[start + 1 : i], *tokens[i + 2 :]]
    return list(tokens)


def _verb_at(tokens: Sequence[str], place: int, vocabulary: SpeechVocabulary) -> tuple[SpokenVerb, int, str] | None:
    """Return the verb that stands at a place, its number of words, and its form. None if none does."""
    before = tokens[place - 1] if place else ","
    function_words = vocabulary.function_words
    determiners = function_words["determiners"]
    for words, verb, form in vocabulary.verb_expressions.get(tokens[place], ()):
        length = len(words)
        if tuple(tokens[place : place + length]) != words:
            # A thing may stand between verb and particle: "turn it off", "pick the mug up", "set it in motion".
            end = next((i for i in range(place + 1, place + 6) if tuple(tokens[i : i + length - 1]) == words[1:]), 0)
            if length == 1 or verb == "GotoRoom" or not end:
                continue
            between = tokens[place + 1 : end]
            if (
                not between
                or between[0] not in (determiners | function_words["pronouns"])
                or {",", "and"} & set(between)
            ):
                continue
            length = 1
        if form == "participle" and verb == "Find":
            continue
        if form == "participle":
            is_wish = before in ("is", "are") and {"sure", "ensure"} & set(
                tokens[:place]
            )  # "make sure that it is closed"
            if is_wish or before in ("be", "being", "get", "please") or (place > 1 and before == "been"):
                return verb, length, form
            continue
        if form == "third" and (verb != "Toggle" or len(words) + (length == 1) < 2):
            continue  # "the green computer turns it off", but not "it opens" or "the machine works"
        if verb == "Find" and before in _SEEING:
            return None  # "you can see it on your left" tells where it is
        is_named = form == "gerund" and (
            before == "by"
            or before in _WANTS
            or (before == "is" and _has_object(tokens, place + length, verb, vocabulary))
        )
        if before in determiners | function_words["linking"] and not is_named:
            continue
        if form == "gerund" and not (place == 0 or is_named or before in function_words["gerund_openers"]):
            continue  # "a machine carrying a sign"
        if form == "gerund" and {"will", "would", "does", "makes", "won't"} & set(tokens[place : place + 6]):
            continue
        if (
            tokens[place] in function_words["nouns_too"]
            and before not in function_words["openers"]
            and before != before.upper()
        ):
            continue
        if words == ("close",) and tokens[place + 1 : place + 2] in (["to"], ["by"]):
            continue
        return verb, length, form
    return None


def _has_object(tokens: Sequence[str], place: int, verb: SpokenVerb, vocabulary: SpeechVocabulary) -> bool:
    """Return whether a thing or a room follows: "is picking up the mug", but not "is coming with us"."""
    if verb == "GotoRoom":
        return bool(take_room(list(tokens[place:]), vocabulary)[1])
    function_words = vocabulary.function_words
    return bool({*tokens[place : place + 1]} - function_words["into"] - function_words["from"] - {"with", ","})


def take_room(tokens: list[str], vocabulary: SpeechVocabulary) -> tuple[list[str], str, bool]:
    """Return a text without the expressions of rooms, the first room, and whether it says "to" that room."""
    kept: list[str] = []
    room, to_room, place = "", False, 0
    while place < len(tokens):
        found = [(find_phrase(tokens, place, phrases), name) for name, phrases in vocabulary.rooms.items()]
        length, name = max((*found, (find_phrase(tokens, place, vocabulary.here), HERE)))
        if length:
            to_room = to_room or (not room and bool({"to", "into"} & set(tokens[max(0, place - 2) : place])))
            room = room or name
            place += length
        else:
            kept.append(tokens[place])
            place += 1
    return kept, room, to_room
