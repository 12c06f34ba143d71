"""Reads what a player types in the lab: an action, something to say, or a command to the game itself.

Free English is read as the scripted person reads it (``understanding``). Moves and commands have fixed forms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from housewise.people.lab.understanding import Instruction, understand
from housewise.people.lab.verb_spotting import HERE
from housewise.people.lab.vocabulary import load_vocabulary
from housewise.worlds.lab.actions import AMOUNTS, LabAction, Verb

GameCommand = Literal["look", "examine", "map", "hand", "task", "picture", "help", "quit", "courtesy"]

_COMMANDS: dict[str, GameCommand] = {
    **dict.fromkeys(("look", "l", "view", "what do i see"), "look"),
    **dict.fromkeys(("map", "rooms", "where am i"), "map"),
    **dict.fromkeys(("hand", "inventory", "i", "what do i hold"), "hand"),
    **dict.fromkeys(("task", "goal", "mission"), "task"),
    **dict.fromkeys(("picture", "photo", "screenshot"), "picture"),
    **dict.fromkeys(("help", "?", "h", "commands", "what can i say"), "help"),
    **dict.fromkeys(("quit", "exit", "q", "bye"), "quit"),
}
_SAY = re.compile(
    r"(?:(?:say|answer)\b(?: to (?:the )?assistant)?|(?:ask|tell) (?:the )?assistant)\b[:,]?\s*(?P<text>.+)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“'](?P<text>.+?)[\"”']?")
# Lines that are no orders: their first words are those of a conversation.
_TALK = re.compile(
    r"(?:(?:i|i'm|i'd|i've|my|we|yes|no|ok|okay|thanks|thank you|hello|hi|hey|sorry|where|what|which|who|why|how|is|are"
    r"|do|does|did|can|could|should|shall|will|would|may|there|ask|tell)\b.*|help me\b.*|.*\?)",
    re.IGNORECASE,
)
_GREETING = r"(?:ok|okay|oh|great|good|nice|cool|perfect|thanks|thank you|cheers|hello|hi|hey|sorry|got it)"
_COURTESY = re.compile(
    rf"{_GREETING}(?:[ ,.!]+(?:{_GREETING}|a lot|so much|very much|again|there|assistant|for your help))*[ .!]*",
    re.IGNORECASE,
)
_PICTURE = re.compile(
    r"(?:save (?:the |a )?)?(?:picture|photo|screenshot)(?: (?:to|as|in))?\s+(?P<file>.+)", re.IGNORECASE
)
_EXAMINE = re.compile(
    r"(?:look (?:at|in|into|inside|on|for)|examine|inspect|describe|check|x|find|search for|search|locate)\s+(?P<x>.+)"
)
_POLITE = re.compile(r"^(?:(?:please|now|then|and|so|let's|try to|go and) )+(?=\w)")
_AMOUNT = r"(?: by)?(?: (?P<n>\d+))?(?: ?(?:degrees?|°|met(?:er|re)s?|m|steps?))?"
_TURN = re.compile(
    r"(?:(?:turn|rotate|look|face|spin|go) )?(?:(?:by )?(?P<before>\d+)(?: ?(?:degrees?|°))? )?(?:to )?"
    rf"(?:the |your |my )?(?P<side>left|right){_AMOUNT}"
)
_PITCH = re.compile(rf"(?:look|gaze|tilt) (?P<side>up|down){_AMOUNT}")
_WALK = re.compile(
    r"(?:(?:go|walk|step|move|take a step) )?(?:straight )?(?P<side>forwards?|ahead|straight|onwards?|backwards?|back)"
    rf"{_AMOUNT}"
)
_AROUND = re.compile(r"(?:turn|rotate|spin|look) (?:all )?around")
_NUMBER = re.compile(r"(?:#|\bnumber |\bno\. ?|\b)(\d{1,3})\b")
_VERBS: dict[str, Verb] = {
    "left": "RotateLeft", "right": "RotateRight", "up": "LookUp", "down": "LookDown", "forward": "MoveForward",
    "ahead": "MoveForward", "straight": "MoveForward", "onward": "MoveForward", "back": "MoveBackward",
    "backward": "MoveBackward",
}  # fmt: skip


@dataclass(frozen=True)
class TypedLine:
    """What a line means.

    Attributes:
        actions: Actions that name no thing, in order.
        instruction: What is to be done with a thing. None if the line is about none.
        numbers: Numbers in the line, for things of the list of what is in view.
        command: Command to the game itself. None if it is an action.
        text: What follows a command; otherwise the line.
        is_partial: Whether the line asks for more than one action, of which only the first is read.
    """

    actions: tuple[LabAction, ...] = ()
    instruction: Instruction | None = None
    numbers: tuple[int, ...] = ()
    command: GameCommand | None = None
    text: str = ""
    is_partial: bool = False


def read_line(typed: str) -> TypedLine | None:
    """Return what a line means, or None if it is not understood."""
    line = " ".join(typed.split())
    plain = _POLITE.sub("", line.lower().rstrip(" .!"))
    if command := _COMMANDS.get(plain.rstrip("?") or plain):
        return TypedLine(command=command)
    if saved := _PICTURE.fullmatch(line):
        return TypedLine(command="picture", text=saved["file"].strip("\"'"))
    if (spoken := _QUOTED.fullmatch(line)) or (spoken := _SAY.fullmatch(line)):
        text = spoken["text"].strip('"“”')
        return TypedLine((LabAction("Speak", text),)) if text.strip() else None
    if _COURTESY.fullmatch(line):
        return TypedLine(command="courtesy")
    room = next((room for room, names in load_vocabulary().rooms.items() if plain.removeprefix("the ") in names), "")
    if moves := (LabAction("GotoRoom", room),) if room else _read_move(plain):
        return TypedLine(moves)
    numbers = tuple(int(each) for each in _NUMBER.findall(plain))
    if examined := _EXAMINE.fullmatch(plain.rstrip("?")):
        hints = understand(f"take the {examined['x']}").instructions
        return TypedLine(command="examine", instruction=hints[0] if hints else None, numbers=numbers, text=plain)
    if _TALK.fullmatch(line):
        return TypedLine((LabAction("Speak", line),))
    return _read_instruction(line, numbers)


def _read_move(plain: str) -> tuple[LabAction, ...]:
    """Return the actions of a line about moving or turning; none if it is about something else."""
    if _AROUND.fullmatch(plain):
        # Two turns of 45 degrees in one would skip what is between two views.
        return (LabAction("RotateRight", "45"),) if plain.startswith("look") else (LabAction("RotateRight", "90"),) * 2
    found = _TURN.fullmatch(plain) or _PITCH.fullmatch(plain) or _WALK.fullmatch(plain)
    if found is None:
        return ()
    verb = _VERBS[found["side"] if found["side"] in _VERBS else found["side"].rstrip("s")]
    amount = found["n"] or found.groupdict().get("before")
    return (LabAction(verb, amount or str(min(AMOUNTS[verb]))),)


def _read_instruction(line: str, numbers: tuple[int, ...]) -> TypedLine | None:
    found = [each for each in understand(line).instructions if each.verb is not None]
    if not found:
        return None
    first = found[0]
    if first.verb == "Speak":
        return TypedLine((LabAction("Speak", line),)) if " " in line else None
    if first.verb == "GotoRoom" and first.room not in ("", HERE):
        return TypedLine((LabAction("GotoRoom", first.room),), is_partial=len(found) > 1)
    return TypedLine(instruction=first, numbers=numbers, text=line, is_partial=len(found) > 1)
