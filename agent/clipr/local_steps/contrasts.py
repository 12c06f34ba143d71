"""Find the attributes in which the actions of a situation differ, without a language model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from housewise.language.embedder import Embedder, cosine
from housewise.language.words import STOP_WORDS, content_words, normalize_letters, stem
from housewise.worlds.choices.scenario import Situation

_LONG = 25
"""Requests with more words are reduced to the sentence that is closest in meaning to the actions."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_PLACE = re.compile(r"\b(in|into|on|onto|near|beside|next to)\b (?:the )?", re.IGNORECASE)
_WORD = re.compile(r"[^\W_][\w'’/-]*")


@dataclass(frozen=True)
class Contrast:
    """One attribute in which the actions of a situation differ.

    Attributes:
        example: Id of the situation.
        condition: When the choice arises, in words of the request.
        values: Value of each action, without the words that most actions share.
    """

    example: str
    condition: str
    values: tuple[str, ...]

    @property
    def distinct_values(self) -> tuple[str, ...]:
        """The values without repetitions."""
        return tuple(dict.fromkeys(self.values))


def find_contrasts(embedder: Embedder, situation: Situation) -> tuple[Contrast, ...]:
    """Return the contrasts of a situation.

    There are two if every action combines a thing and a place ("the cola in the top drawer"), else one.
    """
    parts = [_PLACE.split(action, maxsplit=1) for action in situation.actions]
    if all(len(part) == 3 for part in parts):
        things, places = [part[0] for part in parts], [part[2] for part in parts]
        kinds, spots = len(set(things)), len(set(places))
        if kinds > 1 and spots > 1 and kinds * spots == len(parts):
            return tuple(
                Contrast(
                    situation.id, _closest_request_word(embedder, situation.request, values), distinctive_words(values)
                )
                for values in (things, places)
            )
    return (Contrast(situation.id, _find_condition(embedder, situation), distinctive_words(situation.actions)),)


def merge_contrasts(group: Sequence[Contrast]) -> Contrast:
    """Merge contrasts of several examples about the same thing: the first one's condition and the values of all."""
    values = tuple(dict.fromkeys(value for contrast in group for value in contrast.distinct_values))
    return Contrast(group[0].example, group[0].condition, values)


def distinctive_words(actions: Sequence[str]) -> tuple[str, ...]:
    """Remove from each action stop words and the words that more than half of the distinct actions share."""
    shared = _frequent_stems(actions)
    return tuple(_drop_stems(action, shared) for action in actions)


def common_stems(texts: Sequence[str]) -> frozenset[str]:
    """Return the stems that occur in more than half of the texts, if at least three texts differ."""
    return _frequent_stems(texts) if len(set(texts)) > 2 else frozenset()


def remove_stems(text: str, stems: frozenset[str]) -> str:
    """Remove words with the given stems, and stop words. Without stems the text is returned unchanged."""
    return _drop_stems(text, stems) if stems else text


def _frequent_stems(texts: Sequence[str]) -> frozenset[str]:
    """Return stems in more than half of the distinct texts, or in both of two. A single text shares none."""
    different = {
        normalize_letters(text): {stem(normalize_letters(word)) for word in _WORD.findall(text)} for text in texts
    }
    counts = Counter(word for words in different.values() for word in words)
    least = len(different) if len(different) == 2 else len(different) // 2 + 1
    return frozenset(word for word, count in counts.items() if count >= least and len(different) > 1)


def _drop_stems(text: str, stems: frozenset[str]) -> str:
    """Remove words with the given stems, and stop words. Return the whole text if no word is left."""
    words = _WORD.findall(text)
    return (
        " ".join(
            word
            for word in words
            if normalize_letters(word) not in STOP_WORDS and stem(normalize_letters(word)) not in stems
        )
        or text
    )


def _find_condition(embedder: Embedder, situation: Situation) -> str:
    request = situation.request
    sentences = _SENTENCE.split(request)
    if len(request.split()) <= _LONG or len(sentences) == 1:
        return request
    return sentences[int(cosine(embedder, [" or ".join(situation.actions)], sentences)[0].argmax())]


def _closest_request_word(embedder: Embedder, request: str, values: Sequence[str]) -> str:
    """Return the word of a request closest to what differs: "drawer" for "top drawer" and "bottom drawer".

    A request without a word in Latin letters is returned whole.
    """
    words = list(dict.fromkeys(content_words(request))) or [request]
    return words[int(cosine(embedder, [" or ".join(dict.fromkeys(values))], words)[0].argmax())]
