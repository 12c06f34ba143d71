"""What the robot can say in the text kitchen, and how it is understood.

Source: ADAPT (arXiv 2504.04040), table 3. Every template is one line of ``TEMPLATES``.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from housewise.worlds.kitchen.kitchen_data import KitchenVerbs

MAX_NAME_LETTERS = 21  # letters and underscores in the name of a result
_RESULT = re.compile(rf"[a-z_]{{1,{MAX_NAME_LETTERS}}}(_?\d{{1,4}})?")
MAX_ACTION_CHARACTERS = 500  # characters of an action
MAX_QUESTION_CHARACTERS = 1000


class ImpossibleAction(Exception):
    """An action fails; the message is the reason that the robot observes, and nothing changes."""


@dataclass(frozen=True)
class KitchenAction:
    """An action that was understood.

    Attributes:
        name: which of the templates' actions: ask, open, move_from, ...
        x, y, z: the entities named, in the template's order, not yet looked up; for ask ``x`` is the question.
        result: the name of what comes of it, for the actions that end in "to get ...".
        verb: the verb of an open-set action.
    """

    name: str
    x: str = ""
    y: str = ""
    z: str = ""
    result: str = ""
    verb: str = ""


# Earlier lines win. "X", "Y" and "Z" take anything; R is a result's name, V an open verb.
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


def _compiled(template: str) -> re.Pattern[str]:
    pattern = template
    for slot, group in (("X", "x"), ("Y", "y"), ("Z", "z"), ("R", "result"), ("V", "verb")):
        anything = r"[^\\W\\d_]+" if slot == "V" else ".+?"
        pattern = re.sub(rf"\b{slot}\b", f"(?P<{group}>{anything})", pattern)
    return re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE)


_PATTERNS = tuple((name, _compiled(template)) for name, template in TEMPLATES)
_ASK = re.compile(r"ask\s+(?P<x>.+)", re.IGNORECASE | re.DOTALL)
_FIRST_WORDS = frozenset(
    ("ask", "open", "close", "turn", "cook", "mix", "chop", "heat", "search", "look", "find", "pour", "move", "serve")
    + ("place", "declare", "task")
)


def parse_action(text: str, verbs: KitchenVerbs) -> KitchenAction:
    """The action that a line of text stands for.

    Raises:
        Impossible: it fits no template, holds several actions, or its result's name cannot be one.
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
            slots["verb"] = normalize_verb(slots["verb"])
            if slots["verb"] not in verbs.open and slots["verb"] not in verbs.cooking:
                raise ImpossibleAction(f"Unknown action {slots['verb']!r}: it is none of the verbs that can be done to food.")
        if "result" in slots:
            slots["result"] = parse_result_name(slots["result"])
        return KitchenAction(name, **slots)
    raise ImpossibleAction(f"Unknown action {_short(line)!r}: it is of none of the forms that the robot can do.")


def normalize_verb(word: str) -> str:
    """A verb in lower case without accents: ``Sauté`` becomes ``saute``."""
    letters = unicodedata.normalize("NFKD", word.lower())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def strip_article(id: str) -> str:
    """``the_oat_milk`` becomes ``oat_milk``."""
    return re.sub(r"^(the|a|an)_(?=.)", "", id)


def parse_result_name(words: str) -> str:
    """The name of a result as an id: lower case, underscores for spaces, without an article, as things are named.

    Raises:
        Impossible: it has other characters, or more than 21 letters.
    """
    name = strip_article(normalize_verb(re.sub(r"[\s-]+", "_", words.strip("\"'<>"))))
    if not _RESULT.fullmatch(name):
        raise ImpossibleAction(
            f"A result cannot be named {_short(words)!r}: at most {MAX_NAME_LETTERS} letters and underscores, then a number."
        )
    return name


def _refuse_several(line: str, verbs: KitchenVerbs) -> None:
    """A comma between two actions, or two actions on two lines."""
    for part in re.split(r"[,;\n]|\bthen\b", line)[1:]:
        first = normalize_verb(part.split()[0]) if part.split() else ""
        if first in _FIRST_WORDS or first in verbs.open or first in verbs.cooking:
            raise ImpossibleAction("Several actions at once; say one action at a time.")


def _short(words: str, limit: int = 60) -> str:
    return words if len(words) <= limit else words[: limit - 3] + "..."
