"""Which options an answer in a person's own words means: words in common, MiniLM, and small patterns of negation.

Ours, not the paper's: there a large language model reads answers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from housewise.language.embedder import Embedder, cosine
from housewise.language.words import content_words, plain

MOST_CHARACTERS = 2000
"""Of an answer that are read; nobody says more about one choice."""

_NOT = (
    r"(?:not|never|no|don'?t|doesn'?t|won'?t|can'?t(?! (?:go wrong|get enough|beat|resist))|without|except|avoid\w*"
    r"|skip\w*|hate|dislike|spare me|leave out|keep away from|steer clear of|nothing with|instead of|rather than"
    r"|over|than)"
)
_NEGATED = re.compile(rf"\b{_NOT}\b(?! (?:mind|matter|only|just)\b)[^.;:,!?]*?(?=[.;:,!?]|\bbut\b|\bjust\b|$)")
_CLAUSE = re.compile(r"(?<=[.;!?])\s+|\b(?:but|as for|whereas)\b")
_REJECTED = re.compile(
    r"\b(?:nah|nope|no (?:way|thanks?|thank you)|not for me|pass|yuck|awful|worst|forget|away|do(?:ing)? without"
    r"|out of (?:my|the) \w+|can (?:stay|wait|go)|never|hate|dislike|rather not|spare|skip)\b"
)
"""Says of a whole clause that it names what is not wanted."""
_FOR = ("I like that a lot.", "That is my favourite.", "I would love that.", "That one, please.")
_AGAINST = ("I don't like that.", "Keep that away from me.", "No thanks, not that.", "I can do without that.")
_APART = 0.05
"""How much nearer a clause has to be to refusals than to likings, in cosine."""
_ALL = re.compile(r"\b(?:both|all of (?:them|these|it)|every one|each of them|everything)\b")
_DEPENDS = re.compile(r"\b(?:depends?|depending|it varies|sometimes .* sometimes)\b")
_INDIFFERENT = re.compile(
    r"(?:\b(?:no (?:real |strong |particular )?preference|whatever(?= *(?:[.!,]|$))|any of (?:them|these)"
    r"|either (?:one )?is fine|up to you|not fussy|not picky|no idea|not sure|anything goes|all the same)\b"
    r"|\bdo(?:n'?t| not) (?:really |much )?(?:mind|care|know)\b|\bdoes(?:n'?t| not) (?:really )?matter\b)"
)


@dataclass(frozen=True)
class Reader:
    """How words and meaning are weighed.

    Attributes:
        meaning: weight of the cosine between answer and option beside the share of the option's words in the answer.
        least: a score below which no option is meant.
    """

    meaning: float = 0.25
    least: float = 0.7


@dataclass(frozen=True)
class Meaning:
    """What an answer says about options.

    Attributes:
        options: numbers of those that it wants, best first; () where it wants none of them or does not say.
        scores: one for each option.
        depends: it says that this depends on something.
        indifferent: it says that the person does not mind.
    """

    options: tuple[int, ...]
    scores: tuple[float, ...]
    depends: bool = False
    indifferent: bool = False


def parts(embedder: Embedder, answer: str) -> tuple[str, str]:
    """What an answer wants and what it refuses: "an apple, not both. As for pears, no" is "an apple" and "both; pears".

    Within a clause negation counts for what follows it. A later clause is refused as a whole where it says so, or where
    MiniLM finds it nearer to refusals than to likings.
    """
    text = plain(answer[:MOST_CHARACTERS])
    wanted, refused = [], []
    for place, clause in enumerate(_clauses(text)):
        if place and _rejects(embedder, clause):
            refused.append(clause)
            continue
        start = re.match(r"\s*no\b[,.]?", clause) if not place else None
        kept = clause[start.end() :] if start else clause
        refused += [found.group() for found in _NEGATED.finditer(kept)]
        wanted.append((start.group() if start else "") + _NEGATED.sub(" ", kept))
    return "; ".join(each for each in wanted if each.strip(" .;!?")), "; ".join(refused)


def _clauses(text: str) -> list[str]:
    """The clauses of an answer; what follows a question in a word or two ("Coffee? Nah.") belongs to it."""
    clauses: list[str] = []
    for clause in _CLAUSE.split(text):
        if clauses and clauses[-1].endswith("?") and 0 < len(clause.split()) <= 2:
            clauses[-1] += f" {clause}"
        elif clause.strip():
            clauses.append(clause)
    return clauses


def _rejects(embedder: Embedder, clause: str) -> bool:
    if _REJECTED.search(clause):
        return True
    liking, refusal = (float(cosine(embedder, [clause], list(texts)).max()) for texts in (_FOR, _AGAINST))
    return refusal - liking > _APART


def meant(embedder: Embedder, answer: str, options: Sequence[str], reader: Reader | None = None) -> Meaning:
    """Which options an answer means.

    Args:
        embedder: compares meanings.
        answer: what the person said.
        options: what they could choose from.
        reader: how words and meaning are weighed; None takes what cross-validation chose.
    """
    reader = reader or Reader()
    text = plain(answer[:MOST_CHARACTERS])
    indifferent, depends = bool(_INDIFFERENT.search(text)), bool(_DEPENDS.search(text))
    wanted = parts(embedder, answer)[0]
    if not options or not wanted.strip():
        return Meaning((), (0.0,) * len(options), depends, indifferent)
    words, said = [content_words(option) for option in options], content_words(wanted)
    shares = _shares(words, said)
    near = cosine(embedder, [wanted], [plain(option) for option in options])[0]
    scores = tuple(float(share + reader.meaning * close) for share, close in zip(shares, near, strict=True))
    if indifferent and max(shares) < 0.5:
        return Meaning((), scores, depends, True)
    if _ALL.search(wanted):
        return Meaning(tuple(range(len(options))), scores, depends)
    order = sorted(range(len(options)), key=lambda index: -scores[index])
    named = [index for index in order if shares[index] >= 0.999]
    if len(named) > 1:
        named = _not_within(named, words)
    if not named and scores[order[0]] >= reader.least:
        named = order[:1]
    return Meaning(tuple(named), scores, depends)


def _not_within(named: list[int], words: list[list[str]]) -> list[int]:
    """Without those whose words are part of another's that is named too: glass, where it says glass mug."""
    return [one for one in named if not any(set(words[one]) < set(words[other]) for other in named)]


def _shares(words: list[list[str]], said: list[str]) -> list[float]:
    """How much of each option's own words was said; words that every option has count little."""
    count = len(words)
    weight = {
        word: math.log((count + 0.2) / sum(word in other for other in words)) for option in words for word in option
    }
    shares = []
    for option in words:
        total = sum(weight[word] for word in set(option))
        heard = sum(weight[word] for word in set(option) if _said(word, said))
        shares.append(heard / total if total else 0.0)
    return shares


def _said(word: str, said: Sequence[str]) -> bool:
    if word in said:
        return True
    if len(word) < 5 or not word.isalpha():
        return False
    return any(len(other) >= 5 and Levenshtein.normalized_similarity(word, other) >= 0.85 for other in said)
