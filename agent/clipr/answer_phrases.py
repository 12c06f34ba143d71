"""Phrases of a conversation: commands, yes and no, option numbers, "don't care", "we don't have that", conditions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from housewise.language.words import one_line

Command = Literal["help", "back", "skip", "quit"]

_COMMANDS: dict[str, Command] = {
    **dict.fromkeys(("help", "?", "h", "commands", "what can i say"), "help"),
    **dict.fromkeys(("back", "go back", "undo", "previous"), "back"),
    **dict.fromkeys(("", "skip", "pass", "next", "later"), "skip"),
    **dict.fromkeys(("quit", "exit", "q", "stop", "bye"), "quit"),
}
_INDIFFERENT = re.compile(
    r"\b(?:no (?:real |strong |particular )?preference|whatever|wherever|any|anything|anywhere|everywhere|either|both"
    r"|all of (?:them|these)|up to you|you (?:choose|decide|pick)|surprise me|it (?:all )?depends"
    r"|not (?:fussy|picky|sure|important)|no idea|all the same|no difference|no rule"
    r"|(?:do(?:n'?t| not)|does(?:n'?t| not)) (?:really |much )?(?:mind|care|know|matter))\b"
)
_MISSING = re.compile(
    r"(?:\bdo(?:n'?t| not) (?:have|own)|\bdo(?:n'?t| not) (?:keep|use|drink|eat) (?:that|it|them|any|those|these|such)"
    r"|\bhave(?:n'?t| not| none| no)|\bown (?:none|no)|\bthere (?:is|are) (?:none|no)"
    r"|\bnone (?:here|at home|in the house))\b[^,.;]*"
)
_REFUSING = (
    r"(?:(?:i|we)(?:'m| am| are|'re)? )?(?:not (?:a )?(?:big |great |real )?fans? of|allergic to"
    r"|(?:never|do(?:n'?t| not)|can(?:no|')?t|can not) (?:really |much )?(?:like|want|enjoy|eat|drink))"
)
_ONLY = re.compile(rf"\b{_REFUSING} anything (?:but|except)\b")
_NOTHING = re.compile(
    rf"\b(?:nothing(?! but)|(?:any|every)(?:where|thing) (?:but|except)|neither(?=.* nor )|{_REFUSING})\b"
)
_NONE = re.compile(r"\b(?:neither|none|nothing|no thank(?:s| you))\b")
_YES = re.compile(
    r"(?:yes|y|yep|yeah|yup|sure|ok|okay|correct|exactly|right|true|fine|perfect"
    r"|(?:that|it)(?:'s| is) (?:right|it|correct|fine))(?=$|[\s,.;!:])"
)
_NO = re.compile(
    r"(?:no|n|nope|nah|wrong|not (?:right|quite|really|exactly|that|correct)"
    r"|(?:that|it)(?:'s| is) (?:wrong|not (?:right|it|correct)))(?=$|[\s,.;!:])"
)
_SAID_AGAIN = re.compile(
    r"\b(?:please|thanks|thank you|sorry|of course|wrong|correct|exactly|right|not (?:that|quite|really|right|it)"
    r"|(?:that|it)(?:'s| is)|i (?:think|do|did)(?: so)?|i didn'?t (?:mean|say) that)\b"
)
"""Words after "yes" or "no" that add nothing to them."""
_ADDING = re.compile(r"(?:and|but|also|plus|only|though|except|just|with|without|not|never)\b")
_SWAP = re.compile(r"\bother way (?:a?round|about)\b|\bvice versa\b|\bthe (?:opposite|reverse)\b")
_CONDITION = re.compile(
    r"\b(?:when(?:ever)?|if|unless|until|sometimes|except (?:when|if|on|in|for)|only (?:when|if|after|before)"
    r"|(?:on|at) (?:week\w+|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|holidays|christmas|birthdays)"
    r"|in (?:the )?(?:spring|summer|autumn|winter))\b[^,.;!]*"
)
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_VALUES = {word: place for words in (_NUMBERS, _ORDINALS) for place, word in enumerate(words, 1)}
_NOUNS = frozenset(("one", "ones", "option", "choice", "number", "answer"))
_BESIDE_NUMBERS = """and or then not never no but please the i i'd want take like prefer rather than over only just it
    it's is maybe also definitely instead of say my either both"""
_BESIDE = frozenset(_BESIDE_NUMBERS.split())
"""Words that may stand between numbers in an answer that consists of option numbers."""
_FIRST_FEW = re.compile(r"\bfirst (two|three|four|five)\b")
_WORD = re.compile(r"[\w'-]+|[^\w\s]")
_MAX_DIGITS = 6


class NoSuchOption(Exception):
    """An answer names an option number that does not exist. The message says which numbers do."""


@dataclass(frozen=True)
class Confirmation:
    """The answer to "Is that right?".

    Attributes:
        agrees: Whether the person agrees. None if the answer is neither yes nor no.
        rest: What the person says besides yes or no; "" for nothing.
        adds: Whether ``rest`` adds to what was understood, as in "yes, but never hot".
    """

    agrees: bool | None
    rest: str = ""
    adds: bool = False


def parse_command(said: str) -> Command | None:
    """Return the command that an answer consists of, or None. An empty answer is the command "skip"."""
    return _COMMANDS.get(normalize_line(said).strip(" .!/:\"'`"))


def is_indifferent(said: str) -> bool:
    """Return whether an answer says that any option will do."""
    return bool(_INDIFFERENT.search(normalize_line(said)))


def remove_absent_things(said: str) -> str | None:
    """Remove the parts that say that something does not exist in the home. None if there are no such parts."""
    words = normalize_line(said)
    return _MISSING.sub(" ", words) if _MISSING.search(words) else None


def normalize_negation(said: str) -> str:
    """Replace phrases such as "nothing hot", "I don't like it hot" and "anywhere but there" by "never"."""
    return _NOTHING.sub("never", _ONLY.sub("only", normalize_line(said))).replace(" nor ", " or ")


def is_rejection(said: str) -> bool:
    """Return whether an answer rejects all options, as in "none of these"."""
    return bool(_NONE.search(normalize_line(said)))


def is_reversal(said: str) -> bool:
    """Return whether an answer says that the opposite is true, as in "the other way round"."""
    return bool(_SWAP.search(normalize_line(said)))


def parse_confirmation(said: str) -> Confirmation:
    """Parse whether somebody agrees with what was understood, and what else they say."""
    words = normalize_line(said)
    for pattern, agrees in ((_YES, True), (_NO, False)):
        if found := pattern.match(words):
            rest = words[found.end() :].strip(" ,.;:!-")
            if not _SAID_AGAIN.sub("", rest).strip(" ,.;:!-"):
                return Confirmation(agrees)
            return Confirmation(agrees, rest, agrees and _ADDING.match(rest) is not None)
    return Confirmation(None, said)


def split_conditions(said: str) -> tuple[str, tuple[str, ...]]:
    """Split off the clauses that restrict when an answer holds.

    Returns:
        The answer without these clauses, and the clauses.
    """
    words = normalize_line(said)
    clauses = tuple(found.group().strip() for found in _CONDITION.finditer(words))
    return _CONDITION.sub(" ", words) if clauses else said, clauses


def replace_option_numbers(said: str, options: Sequence[str]) -> str:
    """Replace option numbers, as in "the first one, not 3" or "number two", by the options.

    Raises:
        NoSuchOption: The answer names a number that no option has.
    """
    listed = _FIRST_FEW.sub(lambda found: " and ".join(map(str, range(1, _VALUES[found[1]] + 1))), normalize_line(said))
    words = _WORD.findall(listed)
    if not options or not any(_is_number(word) for word in words):
        return said
    alone = all(_is_number(word) or word in _BESIDE | _NOUNS or not word[0].isalnum() for word in words)
    found: list[str] = []
    for place, word in enumerate(words):
        before, after = (words[at] if 0 <= at < len(words) else "" for at in (place - 1, place + 1))
        if word in _NOUNS and (before in _ORDINALS or before in ("last", "the", "this", "that")):
            continue
        if word in _NOUNS - set(_NUMBERS) and _is_number(after):
            continue
        ordinal = word in _ORDINALS or word == "last"
        named = before in _NOUNS or (ordinal and (after in _NOUNS or (before == "the" and not after.isalpha())))
        found.append(_option_at(word, options) if _is_number(word) and (alone or named) else word)
    return " ".join(found) if found != words else said


def normalize_line(text: str) -> str:
    """Return a text on one line, in lower case and with straight apostrophes."""
    return one_line(text).lower().replace("’", "'")


def phrase_pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches any of the phrases as whole words, longest first, also in the plural.

    Group 1 of a match is the phrase.
    """
    longest = sorted(map(re.escape, phrases), key=len, reverse=True)
    return re.compile(rf"(?<![\w'-])({'|'.join(longest)})(?:e?s)?(?![\w'-])")


def _is_number(word: str) -> bool:
    return word.isdecimal() or word in _VALUES or word == "last"


def _option_at(word: str, options: Sequence[str]) -> str:
    number = len(options) if word == "last" else _VALUES.get(word) or int(word[:_MAX_DIGITS])
    if not 1 <= number <= len(options):
        raise NoSuchOption(f"There is no {word[:_MAX_DIGITS]}; the options are 1 to {len(options)}.")
    return options[number - 1]
