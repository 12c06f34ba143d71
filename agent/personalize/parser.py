"""Reads plans out of a model's words. Replies are untrusted: nothing in them is executed, everything may be wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass

from housewise.worlds.house.actions import ActionKind, HighLevelAction
from housewise.worlds.house.vocabulary import Vocabulary

NOT_AN_ACTION = "not an action: use go to, look at, pick up, or place ... on ..."
"""What is wrong with a line that begins with no verb of an action."""

_LONGEST_REPLY = 20_000
_LONGEST_LINE = 300
_MARKS = str.maketrans("", "", '*`"“”')
_STEP = re.compile(r"\bstep\s*\d+\s*[:.)\-–—]*\s*", re.IGNORECASE)
_BULLET = re.compile(
    r"^[\s>#\-+•–—]*(?:[(\[]?\d{1,3}\s*[.):\]]\s*)?(?:action\s*:|and then|then|next|finally)?[\s,:]*", re.IGNORECASE
)
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
# For words with single spaces between them: these patterns try every way to share a run of spaces out.
_VERBS = (
    (
        ActionKind.GO_TO,
        re.compile(r"^(?:go|walk|move|navigate|drive|head|return)\s*(?:back\s+)?(?:in)?to\s+(?P<target>.+)$"),
    ),
    (ActionKind.LOOK_AT, re.compile(r"^(?:look\s+(?:at|for)|inspect|examine|face)\s+(?P<target>.+)$")),
    (ActionKind.PICK_UP, re.compile(r"^(?:pick\s*up|grab|take|grasp|get)\s+(?P<target>.+)$")),
    (ActionKind.PICK_UP, re.compile(r"^pick\s+(?P<target>.+?)(?:\s+up)?$")),
    (
        ActionKind.PLACE,
        re.compile(r"^(?:place|put(?:\s+down)?|set(?:\s+down)?|drop|leave|store)\s+(?P<target>.+?)\s+(?:back\s+)?(?:on\s+top\s+of|onto|on|into|inside|in|at)\s+(?P<place>.+)$"),
    ),
)  # fmt: skip
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
    for line in _lines(reply[:_LONGEST_REPLY]):
        end = _COMPLETE.search(line)
        if end and _CONDITION.search(line[: end.start()]):
            end = None
        step = parse_step(_before_end(line[: end.start()][:_LONGEST_LINE]) if end else line, vocabulary)
        if end is None or step.action is not None:
            if len(steps) == most:
                break
            steps.append(step)
        if end:
            return ParsedPlan(tuple(steps), complete=True)
    return ParsedPlan(tuple(steps))


def parse_step(line: str, vocabulary: Vocabulary) -> ParsedStep:
    """Read one step, for example ``"step 3: Pick up the mug."``."""
    raw = line.strip()[:_LONGEST_LINE]
    words = " ".join(unnumbered(raw).strip(".!;,' ").lower().split())
    for kind, pattern in _VERBS:
        match = pattern.match(words)
        if match:
            return _resolve(raw, kind, match.groupdict(), vocabulary)
    return ParsedStep(raw, None, NOT_AN_ACTION)


def unnumbered(line: str) -> str:
    """What a line of a plan says, without its number and other marks."""
    return _BULLET.sub("", _STEP.sub("", line.translate(_MARKS))).strip()


def _resolve(raw: str, kind: ActionKind, said: dict[str, str], vocabulary: Vocabulary) -> ParsedStep:
    if kind == ActionKind.PICK_UP:
        target = vocabulary.resolve(_FROM.sub("", said["target"]), vocabulary.objects)
    elif kind == ActionKind.PLACE:
        target = vocabulary.resolve(said["target"], vocabulary.objects)
        place = vocabulary.resolve(said["place"], vocabulary.receptacles)
        if target.name and place.name:
            return ParsedStep(raw, HighLevelAction(kind, target.name, place.name))
        return ParsedStep(raw, None, target.problem or place.problem)
    else:
        target = vocabulary.resolve(said["target"])
    if target.name is None:
        return ParsedStep(raw, None, target.problem)
    return ParsedStep(raw, HighLevelAction(kind, target.name))


def _before_end(line: str) -> str:
    """A line without the words that lead from what it says to the end of the plan: ", and then the"."""
    return line[: max((part.end() for part in _SAID_BEFORE_END.finditer(line) if part["said"]), default=0)]


def _lines(reply: str) -> list[str]:
    """Lines, with several steps on one line taken apart."""
    broken = re.sub(r"(?<=\S)\s+(?=step\s*\d+\s*[:.)])", "\n", reply, flags=re.IGNORECASE)
    return [line for line in broken.splitlines() if line.strip(" \t-*`>#")]
