"""Find the options that a free-text answer means, from shared words, MiniLM embeddings and the polarity of its clauses.

An addition of this project. In the paper a large language model reads answers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from housewise.agent.clipr.local_steps.clause_polarity import IT, load_polarity_model
from housewise.language.embedder import Embedder, cosine
from housewise.language.words import content_words, normalize_letters

MAX_ANSWER_CHARACTERS = 2000
"""Longer answers are truncated."""

_WORD = re.compile(r"[^\W\d_]+")
_REPEATED = re.compile(rf"\b{IT}\b(?: (?:(?:the|a|an|of|in|on|any) )*{IT}\b)+")
_SENTENCE = re.compile(r"(?<=[.;:!?])\s+")
_CLAUSE = re.compile(
    r"(?<=,)\s+|(?<!anything)\s+(?=(?:but|so|though|whereas|while|as for|because|rather than|instead of|over)\b"
    r"|and (?:i|i'?(?:d|m|ll|ve)|you(?:'d|'ll)?|we|he|she|they|my|please|keep|leave|put|take|strike|cross|let'?s"
    r"|don'?t|never|no|not|nothing|nobody|whatever you|as for|definitely|certainly|absolutely)\b)"
)
_TOPIC = re.compile(r"(?:(?:and|but|so) )?(?:as for|regarding|concerning|when it comes to|as far as|speaking of)\b")
_VERDICT = re.compile(
    r"(?:yes|yeah|yep|no|nah|nope|never|always|ever|please|really)(?: (?:please|thanks|thank you))?[.!,]*"
)
_AGAINST = re.compile(
    r"(?:(?:and|but|or|just|please|so|then|absolutely|certainly|definitely) )*"
    r"(?:rather than|instead of|over|not|no|never|without|except|(?:anything|everything) (?:but|except))\b"
    r"(?! (?:only|just|mind|matter|doubt|question|problem|worries)\b)"
)
"""Matches the beginning of a clause that names something refused or less preferred."""
_NEXT = re.compile(
    r"(?:(?:and|or|but|only) )*(?:then|next|after (?:that|this|those)|afterwards|followed by"
    r"|failing (?:that|this|those)|otherwise|or else|second(?:ly)?|third(?:ly)?|in (?:second|third) place"
    r"|if (?:that|this|it|they|those)(?:'s| is|'re| are) (?:not there|gone|out|taken|full|missing|used up))\b[,:]?\s*"
)
"""Matches the beginning of a clause that names the next preference, for example "failing that, the drawer"."""
_LISTED = 0.5
"""Score of a clause that continues a list of preferences."""
_CERTAIN = 9.0
_REFUSES = re.compile(
    r"\b(?:nah|nope|no (?:way|thanks?|thank you)|(?:isn'?t|not) (?:really )?(?:for|my)\b|pass|yuck|awful|forget"
    r"|(?:worst|least|last) (?:of all|favou?rite|choice|place)|do(?:ing)? without|can (?:stay|wait|go)|hate|dislike"
    r"|rather not|spare|skip|avoid|keep away|steer clear|leave out|can'?t stand)\b"
)
"""Matches clauses that name something unwanted, whatever else they say."""
_SWITCH, _FIRST = 0.2, 0.5
"""Costs that are compared with clause scores from -1 to 1.

_SWITCH is the cost of a change of polarity within a sentence, _FIRST of an answer that begins with a refusal.
"""
_ALL = re.compile(r"\b(?:both|all of (?:them|these|it)|every one|each of them|everything)\b")


@dataclass(frozen=True)
class MeaningWeights:
    """Weights of word overlap and meaning.

    Attributes:
        meaning: Weight of the cosine between answer and option, relative to the share of the option's words in the
            answer.
        least: Score below which no option is meant.
    """

    meaning: float = 0.25
    least: float = 0.7


def expresses_no_wish(embedder: Embedder, answer: str) -> bool:
    """Return whether an answer expresses no wish: the person does not mind, does not know or changes the subject."""
    return load_polarity_model(embedder).expresses_no_wish(normalize_letters(answer[:MAX_ANSWER_CHARACTERS]))


def split_wanted_refused(embedder: Embedder, answer: str, named: str = "") -> tuple[str, str]:
    """Split an answer into what it wants and what it refuses.

    "an apple, not both. As for pears, no" gives "an apple" and "both; pears". Each clause is scored by its polarity; a
    clause without polarity, such as the next item of a list, continues the clause before it. The most likely sequence
    is found by the Viterbi algorithm.

    Args:
        embedder: Sentence embeddings of clauses; see load_polarity_model.
        answer: Answer in the person's words.
        named: Words of the question's options. They do not influence the polarity of a clause.
    """
    clauses = _split_clauses(normalize_letters(answer[:MAX_ANSWER_CHARACTERS]))
    if not clauses:
        return "", ""
    known = set(content_words(named))
    listed = [not begins and _NEXT.match(clause) is not None for clause, begins in clauses]
    clauses = [(_NEXT.sub("", clause, count=1) or clause, begins) for clause, begins in clauses]
    scores = load_polarity_model(embedder)([_mask_known_words(clause, known) for clause, _ in clauses])
    scores = np.where(listed, np.maximum(scores, _LISTED), scores)
    scores = np.where([bool(_REFUSES.search(clause)) for clause, _ in clauses], -1.0, scores)
    scores = np.where([bool(_AGAINST.match(clause)) for clause, _ in clauses], -_CERTAIN, scores)
    wants = _most_likely_polarities(scores, [begins for _, begins in clauses])
    said: dict[bool, list[str]] = {True: [], False: []}
    for place, ((clause, begins), wanted) in enumerate(zip(clauses, wants, strict=True)):
        if place and not begins and wants[place - 1] == wanted:
            said[wanted][-1] += f" {clause}"
        else:
            said[wanted].append(clause)
    return "; ".join(said[True]), "; ".join(said[False])


def _split_clauses(text: str) -> list[tuple[str, bool]]:
    """Return the clauses of an answer and whether each begins a sentence. Topics and questions join the next clause."""
    sentences: list[str] = []
    for sentence in _SENTENCE.split(text):
        if sentences and sentences[-1].endswith("?") and len(sentence.split()) <= 2:
            sentences[-1] += f" {sentence}"
        else:
            sentences.append(sentence)
    found: list[tuple[str, bool]] = []
    for sentence in sentences:
        begins = True
        for clause in _CLAUSE.split(sentence):
            if not begins and (_TOPIC.match(found[-1][0]) or _VERDICT.fullmatch(clause)):
                found[-1] = f"{found[-1][0]} {clause}", found[-1][1]
            elif clause.strip(" .,;:!?"):
                found.append((clause, begins))
                begins = False
    return found


def _mask_known_words(clause: str, known: set[str]) -> str:
    """Replace known words of a clause by "it"."""
    masked = _WORD.sub(lambda word: IT if set(content_words(word.group())) <= known else word.group(), clause)
    return _REPEATED.sub(IT, masked)


def _most_likely_polarities(scores: NDArray[np.float64], begins: Sequence[bool]) -> list[bool]:
    """Return whether each clause wants what it names.

    The result is the sequence with the highest score minus switching costs (Viterbi algorithm).
    """
    total, way = np.array([-scores[0], scores[0] + 2 * _FIRST]), []
    for score, new in zip(scores[1:], begins[1:], strict=True):
        moves = total[:, None] - (0.0 if new else _SWITCH) * (1 - np.eye(2))
        way.append(moves.argmax(axis=0))
        total = moves.max(axis=0) + np.array([-score, score])
    last = int(total.argmax())
    course = [last]
    for step in reversed(way):
        course.append(int(step[course[-1]]))
    return [bool(each) for each in reversed(course)]


def find_meant_options(
    embedder: Embedder, answer: str, options: Sequence[str], reader: MeaningWeights | None = None
) -> tuple[int, ...]:
    """Return the indices of the options that an answer means, best first.

    No option is returned if none is wanted or the answer does not say.

    Args:
        embedder: Sentence embeddings.
        answer: Answer in the person's words.
        options: Options to choose from.
        reader: Weights. Defaults to those chosen by cross-validation.
    """
    reader = reader or MeaningWeights()
    wanted = split_wanted_refused(embedder, answer, " ".join(options))[0]
    if not options or not wanted.strip():
        return ()
    words, said = [content_words(option) for option in options], content_words(wanted)
    shares = _mentioned_shares(words, said)
    near = cosine(embedder, [wanted], [normalize_letters(option) for option in options])[0]
    scores = [float(share + reader.meaning * close) for share, close in zip(shares, near, strict=True)]
    if _ALL.search(wanted):
        return tuple(range(len(options)))
    if max(shares) < 0.5 and expresses_no_wish(embedder, answer):
        return ()
    order = sorted(range(len(options)), key=lambda index: -scores[index])
    named = [index for index in order if shares[index] >= 0.999]
    if len(named) > 1:
        named = _drop_contained_options(named, words)
    if not named and scores[order[0]] >= reader.least:
        named = order[:1]
    return tuple(named)


def _drop_contained_options(named: list[int], words: Sequence[Sequence[str]]) -> list[int]:
    """Drop options whose words are part of another mentioned option: "glass" if the answer says "glass mug"."""
    return [one for one in named if not any(set(words[one]) < set(words[other]) for other in named)]


def _mentioned_shares(words: Sequence[Sequence[str]], said: Sequence[str]) -> list[float]:
    """Return the share of each option's words that were said. Words that all options share have little weight."""
    count = len(words)
    weight = {
        word: math.log((count + 0.2) / sum(word in other for other in words)) for option in words for word in option
    }
    shares = []
    for option in words:
        total = sum(weight[word] for word in set(option))
        heard = sum(weight[word] for word in set(option) if _is_mentioned(word, said))
        shares.append(heard / total if total else 0.0)
    return shares


def _is_mentioned(word: str, said: Sequence[str]) -> bool:
    if word in said:
        return True
    if len(word) < 5 or not word.isalpha():
        return False
    return any(len(other) >= 5 and Levenshtein.normalized_similarity(word, other) >= 0.85 for other in said)
