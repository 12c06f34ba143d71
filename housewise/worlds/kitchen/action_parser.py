"""Parses the robot's actions in the text kitchen.

Source: ADAPT (arXiv 2504.04040), table 3. ``TEMPLATES`` lists the forms of all actions but ``ask``, whose
question may be any text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from housewise.language.words import normalize_letters
from housewise.worlds.kitchen.kitchen_data import KitchenVerbs

MAX_NAME_LETTERS = 21
"""Greatest number of letters and underscores in the name of a result."""
_RESULT = re.compile(rf"[a-z_]{{1,{MAX_NAME_LETTERS}}}(_?\d{{1,4}})?")
MAX_ACTION_CHARACTERS = 500
MAX_QUESTION_CHARACTERS = 1000


class ImpossibleAction(Exception):
    """An action fails and changes nothing. The message is the reason, which the robot observes."""


@dataclass(frozen=True)
class KitchenAction:
    """A parsed action.

    Attributes:
        name: Name of its template: ask, open, move_from, ...
        x: First entity of the template, as the robot named it; the question of ``ask``.
        y: Second entity.
        z: Third entity.
        result: Name of the result, for the actions that end in "to get ...".
        verb: Verb of the actions ``items`` and ``object``, which accept any verb that can be done to food.
    """

    name: str
    x: str = ""
    y: str = ""
    z: str = ""
    result: str = ""
    verb: str = ""


# The first matching line counts. X, Y and Z match anything, R the name of a result, V a verb.
TEMPLATES: tuple[tuple[str, str], ...] = (
    ("done", "declare done"),
    ("done", "task complete"),
    ("open", "open X"),
    ("close", "close X"),
    ("turn_on", "turn on X"),
    ("turn_off", "turn off X"),
    ("cook", "cook (?:all )?items in X to get R"),
    ("mix", "mix (?:all )?items in X to get R"),
    ("chop", "chop (?:the object )?X to get R"),
    ("items", "V (?:all )?items in X to get R"),
    ("object", "V the object X to get R"),
    ("heat", "heat X"),
    ("search", "search X"),
    ("look_for", "look for X"),
    ("look_for", "find X"),
    ("pour", "pour X from Y (?:into|to) Z"),
    ("move_from", "move X from Y to Z"),
    ("move", "move X to Y"),
    ("move", "(?:serve|place) (?:the object )?X (?:at|in|on|to) Y"),
)


def _compile_template(template: str) -> re.Pattern[str]:
    pattern = template
    for slot, group in (("X", "x"), ("Y", "y"), ("Z", "z"), ("R", "result"), ("V", "verb")):
        # A verb is one word of letters. The pattern is a replacement of re.sub, in which backslashes are doubled.
        anything = r"[^\\W\\d_]+" if slot == "V" else ".+?"
        pattern = re.sub(rf"\b{slot}\b", f"(?P<{group}>{anything})", pattern)
    return re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE)


_PATTERNS = tuple((name, _compile_template(template)) for name, template in TEMPLATES)
_ASK = re.compile(r"ask\s+(?P<x>.+)", re.IGNORECASE | re.DOTALL)
_FIRST_WORDS = frozenset(
    ("ask", "open", "close", "turn", "cook", "mix", "chop", "heat", "search", "look", "find", "pour", "move", "serve")
    + ("place", "declare", "task")
)


def parse_action(text: str, verbs: KitchenVerbs) -> KitchenAction:
    """Parse an action.

    Raises:
        ImpossibleAction: The text matches no template, contains several actions, or names a result in an invalid way.
    """
    line = text.strip().rstrip(".")
    asked = _ASK.fullmatch(line)
    if asked:
        question = asked["x"].strip().strip("\"'“”").strip()
        if not question or len(question) > MAX_QUESTION_CHARACTERS:
            raise ImpossibleAction(f"A question has between 1 and {MAX_QUESTION_CHARACTERS} characters.")
        return KitchenAction("ask", x=question)
    if len(line) > MAX_ACTION_CHARACTERS:
        raise ImpossibleAction(f"An action may have at most {MAX_ACTION_CHARACTERS} characters, not {len(line)}.")
    _refuse_several(line, verbs)
    for name, pattern in _PATTERNS:
        match = pattern.fullmatch(line)
        if match is None:
            continue
        slots = {slot: words.strip() for slot, words in match.groupdict().items()}
        if "verb" in slots:
            slots["verb"] = normalize_letters(slots["verb"])
            if slots["verb"] not in verbs.open and slots["verb"] not in verbs.cooking:
                raise ImpossibleAction(
                    f"Unknown action {slots['verb']!r}: it is none of the verbs that can be done to food."
                )
        if "result" in slots:
            slots["result"] = parse_result_name(slots["result"])
        return KitchenAction(name, **slots)
    raise ImpossibleAction(f"Unknown action {shorten(line)!r}: it is of none of the forms that the robot can do.")


def strip_article(id: str) -> str:
    """Remove the article from an id: ``the_oat_milk`` becomes ``oat_milk``."""
    return re.sub(r"^(the|a|an)_(?=.)", "", id)


def parse_result_name(words: str) -> str:
    """Return the name of a result as an id: lower case, underscores for spaces, no article.

    Raises:
        ImpossibleAction: The name has other characters, or more than ``MAX_NAME_LETTERS``.
    """
    name = strip_article(normalize_letters(re.sub(r"[\s-]+", "_", words.strip("\"'<>"))))
    if not _RESULT.fullmatch(name):
        raise ImpossibleAction(
            f"A result cannot be named {shorten(words)!r}: at most {MAX_NAME_LETTERS} letters and underscores, then a "
            "number."
        )
    return name


def _refuse_several(line: str, verbs: KitchenVerbs) -> None:
    """Raise ImpossibleAction for several actions, separated by commas, "then" or line breaks."""
    for part in re.split(r"[,;\n]|\bthen\b", line)[1:]:
        first = normalize_letters(part.split()[0]) if part.split() else ""
        if first in _FIRST_WORDS or first in verbs.open or first in verbs.cooking:
            raise ImpossibleAction("Several actions at once; say one action at a time.")


def shorten(words: str, limit: int = 60) -> str:
    """Return the beginning of a text."""
    return words if len(words) <= limit else words[: limit - 3] + "..."
