"""Splits short texts into words: lower case, stemmed, without stop words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_STOP = """a an the this that these those it its they them their there here of for from to in on at by with into onto
    and or but as is are was were be been being am do does did done have has had can could should would
    will shall may might must i me my mine we us our you your yours he she his her please robot just also
    then when while where which who what how than too very so some any each other another one use used
    using take make get put place serve bring give go want wants like likes prefer prefers preferred
    rather always usually only specific type kind kinds types either"""
STOP_WORDS = frozenset(_STOP.split())
_DIGITS = "zero one two three four five six seven eight nine ten"
_NUMBERS = {word: str(value) for value, word in enumerate(_DIGITS.split())} | {
    "half": "1/2",
    "quarter": "1/4",
    "both": "both",
}
# Letters that look alike in Latin and Cyrillic; both occur within English words of data sets.
_LOOK_ALIKE = str.maketrans("АВЕКМНОРСТХаеорсухі", "ABEKMHOPCTXaeopcyxi")
_CONTROL_CHARACTER = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_TOKEN = re.compile(r"\d+/\d+|\d+(?:\.\d+)?|[a-z]+(?:'s\b)?")


def one_line(text: str) -> str:
    """Return a text on one line, without unprintable characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def flatten_if_broken(text: str) -> str:
    """Return a text on one line if it has line breaks or other control characters, else unchanged.

    Use this for a line of a prompt, in which untrusted text must not begin another line.
    """
    return one_line(text) if _CONTROL_CHARACTER.search(text) else text


@lru_cache(maxsize=1 << 15)
def normalize_letters(text: str) -> str:
    """Return a text in lower case with Latin letters without accents."""
    decomposed = unicodedata.normalize("NFKD", text.translate(_LOOK_ALIKE))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter)).lower()


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return a word without its plural or third-person ending; number words become digits."""
    word = word.removesuffix("'s")
    if word in _NUMBERS:
        return _NUMBERS[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes", "oes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def word_stems(text: str) -> list[str]:
    """Return the stems of all words of a text, in order."""
    return [stem(word) for word in _TOKEN.findall(normalize_letters(text))]


@lru_cache(maxsize=1 << 15)
def content_words(text: str) -> tuple[str, ...]:
    """Return the stems of the words that are not stop words, in order; all words if every word is a stop word."""
    found = [stem(word) for word in _TOKEN.findall(normalize_letters(text)) if word not in STOP_WORDS]
    return tuple(found or word_stems(text))


def occurs_in_verb(words: Iterable[str], verb: str) -> bool:
    """Whether a form of a verb contains one of several words."""
    return any(word in form for word in words for form in verb_forms(verb))


@lru_cache(maxsize=1 << 15)
def verb_forms(verb: str) -> tuple[str, ...]:
    """Return the forms of a verb: fry, fried, frying; chop, chopped, chopping."""
    if re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", verb):
        return verb, f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing"
    if verb.endswith("e"):
        return verb, f"{verb}d", f"{verb[:-1]}ing"
    return verb, f"{verb[:-1]}ied" if re.search(r"[^aeiou]y$", verb) else f"{verb}ed", f"{verb}ing"
