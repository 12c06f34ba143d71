"""Parse lines that a player types in the text kitchen ("take the milk", "fry the egg in the pan") into actions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from housewise.language.words import verb_forms
from housewise.worlds.kitchen.action_parser import MAX_NAME_LETTERS, ImpossibleAction, parse_action
from housewise.worlds.kitchen.dishes import is_food
from housewise.worlds.kitchen.kitchen_data import KitchenVerbs
from housewise.worlds.kitchen.name_resolution import to_id
from housewise.worlds.kitchen.state import State
from housewise.worlds.kitchen.thing_names import NotUnderstoodLine, ThingNames

Word = Literal["look", "help", "made", "wishes", "hand", "undo", "quit"]

_ON = r"(?:in|into|inside|on|onto|on to|to|at|over|upon|back in|back on)"
_COMMAND_WORDS: dict[str, Word] = {
    **dict.fromkeys(("look", "l", "look around", "where am i", "rooms"), "look"),
    **dict.fromkeys(("made", "what have i made"), "made"),
    "wishes": "wishes",
    **dict.fromkeys(("hand", "inventory", "i", "what do i hold"), "hand"),
}
_CONVERSATION_COMMANDS: dict[str, Word] = {"help": "help", "back": "undo", "quit": "quit"}
"""Meaning of the commands that all conversations share."""
_POLITE = re.compile(
    r"^(?:(?:please|now|then|and|ok|okay|robot|can you|could you|i want to|i|let's|go and|try to) )+(?=\w)"
)
_DONE = re.compile(r"(?:i'?m |we are |i am )?(?:done|finished|finish|ready|declare done|task complete|serve breakfast)")
_ASK = re.compile(r"(?:ask|say|tell)\s+(?P<q>.+)", re.IGNORECASE)
_QUESTION = re.compile(r"(?:do|does|would|should|what|which|how|where|when|is|are|can|may|who)\b.*\?$", re.IGNORECASE)
_FIND = re.compile(r"(?:find|look for|search for|where(?:'s| is| are))\s+(?P<x>.+)")
_LOOK = re.compile(
    r"(?:look|search|check|examine|x|inspect|see|read)(?: (?:in|inside|into|at|on|through|under|behind))?\s+(?P<x>.+)"
)
_OPEN = re.compile(r"open\s+(?P<x>.+)")
_CLOSE = re.compile(r"(?:close|shut)\s+(?P<x>.+)")
_TURN = re.compile(r"(?:turn|switch) (?:(?P<how>on|off)\s+(?P<x>.+)|(?P<y>.+)\s+(?P<later>on|off))")
_PUT_DOWN = re.compile(r"(?:put down|drop|set down)\s+(?P<x>.+)|put\s+(?P<y>.+)\s+down")
_POUR = re.compile(
    rf"(?:pour|add|sprinkle|drizzle|spread|tip)\s+(?P<x>.+?)(?:\s+(?:from|out of)\s+(?P<y>.+?))?\s+{_ON}\s+(?P<z>.+)"
)
_PUT = re.compile(rf"(?:put|place|set|move|bring|carry|serve|take|lay)\s+(?P<x>.+?)\s+{_ON}\s+(?P<y>.+)")
_TAKE = re.compile(
    r"(?:take|get|grab|fetch|pick up|hold|bring|pick)(?: me)?\s+(?P<x>.+?)(?: up)?(?:\s+(?:from|out of|off)\s+.+)?"
)
_HEAT = re.compile(r"(?:heat|warm)(?: up)?\s+(?P<x>.+)")
_RESULT = r"(?:\s+to (?:get|make)\s+(?P<r>.+))?"
_ALL_IN = re.compile(rf"\w+\s+(?:everything|it all|all|(?:all |the )?items|all of it)\s+in\s+(?P<x>.+?){_RESULT}")
_MAKE_IN = re.compile(rf"\w+\s+(?P<x>.+?)\s+(?:in|on|into|onto)\s+(?P<y>.+?){_RESULT}")
_MAKE = re.compile(rf"\w+\s+(?P<x>.+?){_RESULT}")
_HINTS = {
    **dict.fromkeys(("put", "place", "move", "bring", "serve", "set"), "put the pan on the stove; put it on the table"),
    **dict.fromkeys(("pour", "add"), "pour the milk into the bowl; add salt to the pan"),
    **dict.fromkeys(("take", "get", "open", "close", "turn"), "take the milk; open the fridge; turn on the stove"),
    **dict.fromkeys(("ask", "say", "tell"), "ask how you like your eggs; ask where you like to eat"),
    **dict.fromkeys(
        ("go", "walk", "enter"), "look in the dresser; put it on the dining table (every room is in reach)"
    ),
}
_EXAMPLES = "look in the fridge; take the milk; put the pan on the stove"


@dataclass(frozen=True)
class TypedCommand:
    """What a player wants to do.

    Attributes:
        actions: Actions of the robot, in order.
        word: A command to the game itself, or None.
        takes: Id of the thing to take into the hand, or an empty text.
        shows: Id of the thing whose contents are to be shown, or an empty text.
    """

    actions: tuple[str, ...] = ()
    word: Word | None = None
    takes: str = ""
    shows: str = ""


def parse_line(
    typed: str,
    names: ThingNames,
    state: State,
    verbs: KitchenVerbs,
    person: str,
    parse_conversation_command: Callable[[str], str | None],
) -> TypedCommand:
    """Parse a line that a player typed.

    Args:
        typed: The line.
        names: Resolves names of things to ids.
        state: Current state of the kitchen.
        verbs: Verbs that can be done to food.
        person: Name of the person who answers questions.
        parse_conversation_command: Returns the command that a text is in any conversation, such as ``help``, or None.

    Raises:
        NotUnderstoodLine: The line, or a name in it, is not understood.
    """
    line = " ".join(typed.split()).strip(" .!")
    if _is_action(line, state, verbs):
        return TypedCommand((line,))
    line = re.sub(r"[ ,]+please$", "", line, flags=re.IGNORECASE)
    plain = _POLITE.sub("", line.lower())
    command = parse_conversation_command(plain)
    if word := _COMMAND_WORDS.get(plain) or (_CONVERSATION_COMMANDS.get(command) if command else None):
        return TypedCommand(word=word)
    if _DONE.fullmatch(plain):
        return TypedCommand(("Declare Done",))
    if (asked := _ASK.fullmatch(line)) and (question := _strip_addressee(asked["q"], person)):
        return TypedCommand((f'Ask "{question}"',))
    if _QUESTION.fullmatch(line) and not _FIND.fullmatch(plain):
        return TypedCommand((f'Ask "{line}"',))
    return (
        _parse_looking(plain, names) or _parse_moving(plain, names, state) or _parse_cooking(plain, names, state, verbs)
    )


def _parse_looking(line: str, names: ThingNames) -> TypedCommand | None:
    """Parse lines that find, open, close, switch or look into things."""
    if found := _FIND.fullmatch(line):
        words = re.sub(r"^(?:the|a|an|some|my) ", "", found["x"].strip(" ?"))
        return TypedCommand((f"Look for {words}",))
    if found := _LOOK.fullmatch(line):
        id = names.find(found["x"])
        return TypedCommand((f"Search {id}",), shows=id)
    if found := _OPEN.fullmatch(line):
        id = names.find(found["x"])
        return TypedCommand((f"Open {id}", f"Search {id}"), shows=id)
    if found := _CLOSE.fullmatch(line):
        return TypedCommand((f"Close {names.find(found['x'])}",))
    if found := _TURN.fullmatch(line):
        return TypedCommand((f"Turn {found['how'] or found['later']} {names.find(found['x'] or found['y'])}",))
    return None


def _parse_moving(line: str, names: ThingNames, state: State) -> TypedCommand | None:
    """Parse lines that take, put or pour things."""
    if found := _PUT_DOWN.fullmatch(line):
        return TypedCommand((f"Move {names.find(found['x'] or found['y'])} to counter_0",))
    if found := _POUR.fullmatch(line):
        source = names.find(found["y"] or found["x"])
        target = names.find(found["z"])
        return TypedCommand((_pour_action(source, found["x"] if found["y"] else "", target, names, state),))
    if found := _PUT.fullmatch(line):
        thing = names.find(found["x"])
        target = names.find(found["y"])
        names.mention(thing)
        return TypedCommand((f"Move {thing} to {target}",))
    if found := _TAKE.fullmatch(line):
        thing = names.find(found["x"])
        return TypedCommand(takes=thing)
    return None


def _parse_cooking(line: str, names: ThingNames, state: State, verbs: KitchenVerbs) -> TypedCommand:
    """Parse lines that do something to food.

    Raises:
        NotUnderstoodLine: The line is not understood.
    """
    if found := _HEAT.fullmatch(line):
        return TypedCommand((f"Heat {names.find(found['x'])}",))
    verb = line.split()[0] if line else ""
    if verb in _HINTS:
        raise NotUnderstoodLine(f"{verb.capitalize()} what, or where? For example: {_HINTS[verb]}")
    if verb not in {*verbs.open, *verbs.cooking, "mix", "chop", "cook"}:
        raise NotUnderstoodLine(f'I do not know how to "{verb}". Try for example: {_EXAMPLES}; help')
    if found := _ALL_IN.fullmatch(line):
        return TypedCommand((_combine_action(verb, names.find(found["x"]), found["r"]),))
    if found := _MAKE_IN.fullmatch(line):
        thing = names.find(found["x"])
        holder = names.find(found["y"])
        if not state[holder].can("container"):
            return TypedCommand((f"Move {thing} to {holder}", _cook_action(verb, thing, found["r"], state)))
        there = state.holder(thing) == holder
        first = () if there else (_pour_action(thing, "", holder, names, state),)
        return TypedCommand(
            (*first, _combine_action(verb, holder, found["r"] or f"{_past_participle(verb)} {state[thing].kind}"))
        )
    if found := _MAKE.fullmatch(line):
        thing = names.find(found["x"])
        if is_food(state, thing) or not state[thing].can("container"):
            return TypedCommand((_cook_action(verb, thing, found["r"], state),))
        return TypedCommand((_combine_action(verb, thing, found["r"]),))
    raise NotUnderstoodLine(f"{verb.capitalize()} what? For example: {verb} the bread; {verb} everything in the bowl")


def _pour_action(source: str, what: str, target: str, names: ThingNames, state: State) -> str:
    """Return the action that pours the contents of a container, or moves a thing that has none."""
    contents = state[source].contents
    if what:
        inside = next((id for id in state.inside(source) if id == to_id(what)), None)
        return f"Pour {inside or contents or names.find(what)} from {source} into {target}"
    return f"Pour {contents} from {source} into {target}" if contents else f"Move {source} to {target}"


def _combine_action(verb: str, holder: str, result: str | None) -> str:
    return f"{verb.capitalize()} items in {holder} to get {_result_id(result or f'{_past_participle(verb)} food')}"


def _cook_action(verb: str, thing: str, result: str | None, state: State) -> str:
    what = thing if verb == "chop" else f"the object {thing}"
    return f"{verb.capitalize()} {what} to get {_result_id(result or f'{_past_participle(verb)} {state[thing].kind}')}"


def _past_participle(verb: str) -> str:
    """Return the participle that names food after a verb was done to it."""
    return {"cut": "cut", "beat": "beaten", "grind": "ground"}.get(verb, verb_forms(verb)[1])


def _result_id(result: str) -> str:
    return to_id(result)[:MAX_NAME_LETTERS].strip("_") or "food"


def _strip_addressee(words: str, person: str) -> str:
    """Return a question without the name of the person at its beginning."""
    return re.sub(rf"^(?:{re.escape(person)}|her|him|them)\b[ ,:]*", "", words, flags=re.IGNORECASE).strip(" \"'“”")


def _is_action(line: str, state: State, verbs: KitchenVerbs) -> bool:
    """Whether a line is an action in the syntax of the world, with ids that exist."""
    try:
        action = parse_action(line, verbs)
    except ImpossibleAction:
        return False
    if action.name in ("open", "search", "look_for", "ask"):
        return False
    named = [to_id(words) for words in (action.x, action.y, action.z) if words]
    if action.name in ("move_from", "pour"):
        return all(id in state for id in named[1:])
    return action.name == "done" or (bool(named) and all(id in state for id in named))
