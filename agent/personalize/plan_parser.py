"""The plan parser: reads high-level actions from a model's reply (LLM-Personalize, section 3.2.2).

The prompt asks for a line per step, such as "step 1: pick up mug 1", and for "mission complete" at the end, as the
authors' recorded prompts do. Names that are clear although they are not whole are understood, and rooms can be looked
at. Replies in other forms are read with the form ``ANY`` of ``plan_normalizer``, an addition of this project.

Replies are untrusted: nothing in them is executed, and anything in them may be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.name_resolution import Vocabulary

NOT_AN_ACTION = "not an action: use go to, look at, pick up, or place ... on ..."
"""Problem of a line that does not start with the verb of an action."""

LONGEST_LINE = 300
"""Number of characters of a line that are read."""
_LONGEST_REPLY = 20_000
# Not "the mission is complete only when": punctuation has to follow.
_COMPLETE = re.compile(
    r"\b(?:mission|task|plan)\s+(?:is\s+)?(?:now\s+)?(?:complete|completed|accomplished)\b(?=\W*$|\s*[^\w\s])",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|when|whenever|once|until|till|unless)\b", re.IGNORECASE)
# Words that lead up to the end of a plan, or else (said) any other text.
_SAID_BEFORE_END = re.compile(
    r"[\s,;.:]+|\b(?:and|then|so|now|the|step\s*\d+)\b|(?P<said>\w+|.)", re.IGNORECASE | re.DOTALL
)
_NUMBER = re.compile(r"(?:step\s*)?\d{1,3}\s*[:.)]\s*", re.IGNORECASE)
_FROM = re.compile(r"\s+(?:from|off)\s+.+$")


@dataclass(frozen=True)
class ParsedStep:
    """One line of a plan.

    Attributes:
        raw: The line as written.
        action: The action, or None if the line cannot be resolved to one.
        problem: The reason why it cannot, in words.
    """

    raw: str
    action: HighLevelAction | None
    problem: str = ""


@dataclass(frozen=True)
class ParsedPlan:
    """The plan in a reply.

    Attributes:
        steps: Steps in order.
        complete: Whether the model says that the task is complete after them.
    """

    steps: tuple[ParsedStep, ...]
    complete: bool = False


@dataclass(frozen=True)
class PlanForm:
    """How plans are written.

    Attributes:
        split: Splits a reply into lines with at most one step.
        read: Returns the possible readings of a line in the words of the prompt, without its number.
        counts_other_lines: Whether lines that are no actions are among the first steps that are taken of a plan.
    """

    split: Callable[[str], Iterable[str]]
    read: Callable[[str], Iterable[str]]
    counts_other_lines: bool = False


def parse_plan(reply: str, vocabulary: Vocabulary, most: int | None = None, form: PlanForm | None = None) -> ParsedPlan:
    """Parse a reply line by line.

    Args:
        reply: Any text.
        vocabulary: Names of rooms, receptacles and objects.
        most: Maximum number of actions, the first ones, also those with unknown names. All by default.
        form: How the plan is written. Defaults to ``PLAIN``.
    """
    steps, count = list[ParsedStep](), 0
    form = form or PLAIN
    for line in form.split(reply[:_LONGEST_REPLY]):
        end = _COMPLETE.search(line)
        if end and _CONDITION.search(line[: end.start()]):
            end = None
        words = _text_before_end(line[: end.start()][:LONGEST_LINE]) if end else line
        step = parse_step(words, vocabulary, form)
        if end is None or step.action is not None:
            if count == most:
                break
            steps.append(step)
            count += form.counts_other_lines or step.problem != NOT_AN_ACTION
        if end:
            return ParsedPlan(tuple(steps), complete=True)
    return ParsedPlan(tuple(steps))


def parse_step(line: str, vocabulary: Vocabulary, form: PlanForm | None = None) -> ParsedStep:
    """Parse one step, for example ``"step 3: Pick up the mug."``.

    Args:
        line: The step as written.
        vocabulary: Names of rooms, receptacles and objects.
        form: How the plan is written. Defaults to ``PLAIN``.
    """
    raw = line.strip()[:LONGEST_LINE]
    step = ParsedStep(raw, None, NOT_AN_ACTION)
    for words in (form or PLAIN).read(raw):
        step = _resolve(raw, words, vocabulary)
        if step.action is not None:
            break
    return step


def _split_lines(reply: str) -> Iterable[str]:
    return filter(str.strip, reply.splitlines())


def _read_plain(line: str) -> tuple[str, ...]:
    """Return a step without its number if it is one of the four actions as the prompt words them."""
    number = _NUMBER.match(line)
    words = line[number.end() if number else 0 :].strip(" .").lower()
    return (words,) if words.startswith(tuple(f"{kind.value} " for kind in ActionKind)) else ()


PLAIN = PlanForm(_split_lines, _read_plain)
"""The form that the prompt asks for."""


def _resolve(raw: str, words: str, vocabulary: Vocabulary) -> ParsedStep:
    kind = next(kind for kind in ActionKind if words.startswith(kind.value))
    said = words.removeprefix(kind.value)
    if kind == ActionKind.PICK_UP:
        target = vocabulary.resolve(_FROM.sub("", said), vocabulary.objects)
    elif kind == ActionKind.PLACE:
        thing, _, where = said.partition(" on ")
        target = vocabulary.resolve(thing, vocabulary.objects)
        place = vocabulary.resolve(where, vocabulary.receptacles)
        if target.name and place.name:
            return ParsedStep(raw, HighLevelAction(kind, target.name, place.name))
        return ParsedStep(raw, None, target.problem or place.problem)
    else:
        target = vocabulary.resolve(said)
    if target.name is None:
        return ParsedStep(raw, None, target.problem)
    return ParsedStep(raw, HighLevelAction(kind, target.name))


def _text_before_end(line: str) -> str:
    """Return a line without the words that lead to the end of the plan, such as ", and then the"."""
    return line[: max((part.end() for part in _SAID_BEFORE_END.finditer(line) if part["said"]), default=0)]
