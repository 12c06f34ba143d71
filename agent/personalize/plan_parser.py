"""The plan parser: reads steps from a model's reply.

A prompt asks for a line per step, such as "step 1: pick up the mug". Other forms are rewritten to this one
(``step_splitter``, ``step_phrasing``), unless a configuration turns that off, as that of the paper does.

Replies are untrusted: nothing in them is executed, and anything in them may be wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from housewise.agent.personalize.step_phrasing import LONGEST_LINE, canonical_steps
from housewise.agent.personalize.step_splitter import split_into_steps
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.name_resolution import Vocabulary

NOT_AN_ACTION = "not an action: use go to, look at, pick up, or place ... on ..."
"""Problem of a line that does not start with the verb of an action."""

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


def parse_plan(reply: str, vocabulary: Vocabulary, most: int | None = None, normalize: bool = True) -> ParsedPlan:
    """Parse a reply line by line.

    Args:
        reply: Any text.
        vocabulary: Names of rooms, receptacles and objects.
        most: Maximum number of steps. All steps by default.
        normalize: Whether forms of plans other than a line per step are understood.
    """
    steps: list[ParsedStep] = []
    text = reply[:_LONGEST_REPLY]
    for line in split_into_steps(text) if normalize else filter(str.strip, text.splitlines()):
        end = _COMPLETE.search(line)
        if end and _CONDITION.search(line[: end.start()]):
            end = None
        words = _text_before_end(line[: end.start()][:LONGEST_LINE]) if end else line
        step = parse_step(words, vocabulary, normalize)
        if end is None or step.action is not None:
            if len(steps) == most:
                break
            steps.append(step)
        if end:
            return ParsedPlan(tuple(steps), complete=True)
    return ParsedPlan(tuple(steps))


def parse_step(line: str, vocabulary: Vocabulary, normalize: bool = True) -> ParsedStep:
    """Parse one step, for example ``"step 3: Pick up the mug."``.

    Args:
        line: The step as written.
        vocabulary: Names of rooms, receptacles and objects.
        normalize: Whether phrasings other than the four actions of the prompt are understood.
    """
    raw = line.strip()[:LONGEST_LINE]
    step = ParsedStep(raw, None, NOT_AN_ACTION)
    for form in canonical_steps(raw) if normalize else _plain_steps(raw):
        step = _resolve(raw, form, vocabulary)
        if step.action is not None:
            break
    return step


def _plain_steps(raw: str) -> tuple[str, ...]:
    """Return the step without its number if it is one of the four actions as the prompt words them."""
    words = _NUMBER.sub("", raw, count=1).strip(" .").lower()
    return (words,) if words.startswith(tuple(f"{kind.value} " for kind in ActionKind)) else ()


def _resolve(raw: str, form: str, vocabulary: Vocabulary) -> ParsedStep:
    kind = next(kind for kind in ActionKind if form.startswith(kind.value))
    said = form.removeprefix(kind.value)
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
