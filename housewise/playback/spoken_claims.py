"""What an utterance of an assistant in the lab claims: things, where they are, how they look, and their states.

Utterances are read by keywords, as a person in the lab reads them. What is not understood claims nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from housewise.people.lab.understanding import Instruction, understand
from housewise.people.lab.vocabulary import load_vocabulary
from housewise.worlds.lab.history import clip_speech, name_pattern
from housewise.worlds.lab.kinds import KINDS, Kind
from housewise.worlds.lab.state import ROOMS, Flag, LabState, Thing

_SENTENCE = re.compile(r"[^.!?;]+[.!?;]*")
_SUPPOSED = re.compile(
    r"\b(if|when|whenever|once|until|unless|after|before|while|make sure|ensure|should|must|needs?|ha(?:s|ve) to|can|"
    r"could|will|would|to be|check|whether)\b|\?",
    re.IGNORECASE,
)
_STATE = re.compile(
    r"^(?P<thing>.*?)\b(?:is|are)\s+(?P<no>not\s+)?(?:now\s+|already\s+|still\s+|currently\s+|too\s+)?"
    r"(?P<state>open|closed|shut|infected|clean|broken|large|big|floating|turned on|turned off|on|off)\s*"
    r"(?:[,.!;]|now\b|$)",
    re.IGNORECASE,
)
_FLAGS: dict[str, tuple[Flag, bool]] = {
    "open": ("open", True), "closed": ("open", False), "shut": ("open", False), "infected": ("infected", True),
    "clean": ("infected", False), "broken": ("broken", True), "large": ("large", True), "big": ("large", True),
    "floating": ("floating", True), "on": ("on", True), "turned on": ("on", True), "off": ("on", False),
    "turned off": ("on", False),
}  # fmt: skip
_POWER = re.compile(
    r"^\W*(?:there(?:'s| is)|we have|you have)\s+(?P<no>no\s+)?power in the (?P<room>[a-z' ]+?)\s*(?:[,.!;]|$)",
    re.IGNORECASE,
)
# A description is of another kind if it has so much more of that kind's words, as a share, and at least so many.
_CLEARER, _LEAST_WORDS = 0.25, 3


@dataclass(frozen=True)
class SpokenAdvice:
    """An instruction or a hint that names a kind of thing.

    Attributes:
        instruction: The instruction as it is understood.
        kind: Key of the kind that it names.
    """

    instruction: Instruction
    kind: str


def spoken_advice(speech: str) -> list[SpokenAdvice]:
    """Return the instructions and hints of an utterance that clearly name one kind of thing."""
    said = named_in(speech)
    found = []
    for each in understand(speech).instructions:
        words = set(each.words)
        kinds = [kind for kind in said if _names()[kind] <= words]
        # The words of "carrot maker" are those of "carrot", too.
        largest = [kind for kind in kinds if not any(_names()[kind] < _names()[other] for other in kinds)]
        # An order to pick up what nobody can is more likely misunderstood than given.
        if len(largest) == 1 and not (each.verb == "Pickup" and "pickupable" not in KINDS[largest[0]].properties):
            found.append(SpokenAdvice(each, largest[0]))
    return found


def named_in(text: str) -> frozenset[str]:
    """Return the kinds that an utterance names by their whole names."""
    pattern, kinds = _name_pattern()
    return frozenset(kinds[found.lower()] for found in pattern.findall(clip_speech(text).replace("’", "'")))


def wrong_look(advice: SpokenAdvice) -> Kind | None:
    """Return the kind whose look an advice describes, if it is another than the one that it names."""
    # "A machine under a cone" has the cone among the words of its place.
    words = {*advice.instruction.context, *advice.instruction.place_words}
    own = _coverage(advice.kind, words) if advice.kind in _looks() else None
    if own is None:
        return None
    best = max(_looks(), key=lambda key: _coverage(key, words))
    is_clear = _coverage(best, words) - own >= _CLEARER and len(_looks()[best] & words) >= _LEAST_WORDS
    return KINDS[best] if is_clear else None


def false_states(speech: str, state: LabState) -> Iterator[str]:
    """Yield each statement about a state of a named thing, or about power, that does not hold."""
    for sentence in _SENTENCE.findall(clip_speech(speech)):
        # "Can" in "soda can" supposes nothing.
        if _SUPPOSED.search(_name_pattern()[0].sub("", sentence)):
            continue
        if (said := _POWER.search(sentence)) and (room := said["room"].lower().removeprefix("the ")) in ROOMS:
            if state.has_power(room) == bool(said["no"]):
                yield sentence.strip()
        elif said := _STATE.search(sentence):
            flag, holds = _FLAGS[said["state"].lower()]
            holds = holds != bool(said["no"])
            things = things_of(state, named_in(said["thing"]))
            if things and all((flag in thing.flags) != holds for thing in things):
                yield sentence.strip()


def things_of(state: LabState, kinds: Iterable[str]) -> list[Thing]:
    """Return the things of some kinds. A carrot is a thing of the kind that it was, too."""
    wanted = set(kinds)
    return [thing for thing in state.things if thing.kind in wanted or thing.original in wanted]


@lru_cache(maxsize=1)
def _names() -> dict[str, frozenset[str]]:
    return {key: frozenset(load_vocabulary().text_content(kind.name)) for key, kind in KINDS.items()}


@lru_cache(maxsize=1)
def _name_pattern() -> tuple[re.Pattern[str], dict[str, str]]:
    """Return a pattern of all names, and the kind of each name."""
    kinds = {kind.name.lower(): key for key, kind in KINDS.items()}
    return name_pattern(kinds, with_plurals=True), kinds


@lru_cache(maxsize=1)
def _looks() -> dict[str, frozenset[str]]:
    """Return the words of the looks of uncommon kinds."""
    content = load_vocabulary().text_content
    return {key: frozenset(content(kind.look)) for key, kind in KINDS.items() if kind.look}


def _coverage(kind: str, words: set[str]) -> float:
    look = _looks()[kind]
    return len(look & words) / len(look)
