"""Reads plans out of a model's words. Replies are untrusted: nothing in them is executed, everything may be wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass

from housewise.agent.personalize.step_phrasing import LONGEST_LINE, canonical_steps
from housewise.agent.personalize.step_splitter import split_into_steps
from housewise.worlds.house.actions import ActionKind, HighLevelAction
from housewise.worlds.house.vocabulary import Vocabulary

NOT_AN_ACTION = "not an action: use go to, look at, pick up, or place ... on ..."
"""What is wrong with a line that begins with no verb of an action."""

_LONGEST_REPLY = 20_000
# Not "the mission is complete only when": what follows has to begin a new clause.
_COMPLETE = re.compile(
    r"\b(?:mission|task|plan)\s+(?:is\s+)?(?:now\s+)?(?:complete|completed|accomplished)\b(?=\W*$|\s*[^\w\s])",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|when|whenever|once|until|till|unless)\b", re.IGNORECASE)
# Runs of what leads up to the end of a plan, or else something that is said.
_SAID_BEFORE_END = re.compile(
    r"[\s,;.:]+|\b(?:and|then|so|now|the|step\s*\d+)\b|(?P<said>\w+|.)", re.IGNORECASE | re.DOTALL
)
_FROM = re.compile(r"\s+(?:from|off)\s+.+$")


@dataclass(frozen=True)
class ParsedStep:
    """One line of a plan.

    Attributes:
        raw: as written.
        action: what it means, None when that cannot be told.
        problem: why not, in words.
    """

    raw: str
    action: HighLevelAction | None
    problem: str = ""


@dataclass(frozen=True)
class ParsedPlan:
    """What a reply says.

    Attributes:
        steps: in order.
        complete: whether the model says that nothing is left to do after them.
    """

    steps: tuple[ParsedStep, ...]
    complete: bool = False


def parse_plan(reply: str, vocabulary: Vocabulary, most: int | None = None) -> ParsedPlan:
    """Read a reply line by line.

    Args:
        reply: any text.
        vocabulary: the names that may be meant.
        most: how many steps are kept; all by default.
    """
    steps: list[ParsedStep] = []
    for line in split_into_steps(reply[:_LONGEST_REPLY]):
        end = _COMPLETE.search(line)
        if end and _CONDITION.search(line[: end.start()]):
            end = None
        step = parse_step(_before_end(line[: end.start()][:LONGEST_LINE]) if end else line, vocabulary)
        if end is None or step.action is not None:
            if len(steps) == most:
                break
            steps.append(step)
        if end:
            return ParsedPlan(tuple(steps), complete=True)
    return ParsedPlan(tuple(steps))


def parse_step(line: str, vocabulary: Vocabulary) -> ParsedStep:
    """Read one step, for example ``"step 3: Pick up the mug."``."""
    raw = line.strip()[:LONGEST_LINE]
    step = ParsedStep(raw, None, NOT_AN_ACTION)
    for form in canonical_steps(raw):
        step = _resolve(raw, form, vocabulary)
        if step.action is not None:
            break
    return step


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


def _before_end(line: str) -> str:
    """A line without the words that lead from what it says to the end of the plan: ", and then the"."""
    return line[: max((part.end() for part in _SAID_BEFORE_END.finditer(line) if part["said"]), default=0)]
