"""A person in the lab who is played at the terminal."""

from __future__ import annotations

from pathlib import Path

from housewise.core.errors import UserError
from housewise.core.files import write_bytes
from housewise.core.formatting import plural
from housewise.people.lab.grounding import is_suitable, is_tool
from housewise.people.lab.typed_lines import TypedLine, read_line
from housewise.people.lab.typed_things import FROM_HAND, SeveralThings, ThingChooser, UnclearThing, choose_among
from housewise.people.lab.user_memory import UserMemory
from housewise.people.lab.view_lists import describe_thing, describe_view, locate_thing
from housewise.people.lab.views import SeenThing, UserTurn, UserView
from housewise.people.respondent import RespondentLeft
from housewise.people.terminal_prompt import InputEnded, Prompt
from housewise.worlds.lab.actions import AMOUNTS, ARGUMENTS, LabAction, Verb
from housewise.worlds.lab.history import OPENING
from housewise.worlds.lab.rules import DONE
from housewise.worlds.lab.state import ROOMS

_INTRODUCTION = """\
You are in a lab with strange devices. Your task: {goal}
You have {actions} actions; what you say counts as one. {guide}"""
_GUIDE = "An assistant knows the lab and sees what you do, but does not know your task, and hears only what you say."
_HINT = (
    "Type what you do, a line each. To tell the assistant your task, begin with say. help shows what you can type.\n"
)
_HELP = """\
say I want to break a bowl   to the assistant; a question needs no say
go to the warehouse          one action, however far; map lists the rooms
go to 3, go to the table     by number, name or look: go to the tall machine
turn left, turn right        by 45 degrees; also: turn left 90, walk forward
take the hammer, take 5      one thing at a time; you walk up to it yourself
put it on 2                  also: drop it, pour it into 2, throw it at 4
use 4, open the white box    also: toggle, press, pull, close, break, hit
look, look at 3              what you see; what is indented lies on the thing above
map, hand, task              what you saw where, what you hold, what to do
picture FILE.png             saves what you see
quit                         ends it
look, map, hand, task, picture, help and thanks take no action; all else takes one or two."""
_EXAMPLES = "go to the table; take 3; say where is the hammer; help"
_INDENT = "      "
_RESULTS: dict[Verb, str] = {
    "MoveForward": "You walk ahead.", "MoveBackward": "You step back.", "RotateLeft": "You turn left.",
    "RotateRight": "You turn right.", "LookUp": "You look up.", "LookDown": "You look down.",
    "GotoRoom": "You go to the {}.", "GotoObject": "You go to the {}.", "Pickup": "You take the {}.",
    "Place": "You put it on or into the {}.", "Open": "You open the {}.", "Close": "You close the {}.",
    "Toggle": "You use the {}.", "Break": "You hit the {}.", "Pour": "You pour it into the {}.",
    "Throw": "You throw it at the {}.", "Speak": "You have said it.",
}  # fmt: skip
_MOVES: tuple[Verb, ...] = (*AMOUNTS, "GotoRoom", "GotoObject")


def describe_result(verb: Verb, name: str, succeeded: bool, message: str) -> str:
    """Return what became of an action, as the player reads it.

    Args:
        verb: The action.
        name: Name of the thing or room that it was about.
        succeeded: Whether it succeeded.
        message: Its result or the reason of its failure.
    """
    result = _RESULTS[verb].format(name) if succeeded else "That fails:"
    return result if message == DONE.message else f"{result} {message}"


class TerminalUser:
    """A ``LabUser`` who reads at the terminal what a person may know, and types what they do.

    Args:
        prompt: Prints and reads.
        max_actions: Maximum number of actions of an attempt.
        is_guided: Whether there is an assistant.
        attempt: Number of the attempt, from 1.
    """

    name = "terminal"

    def __init__(self, prompt: Prompt, max_actions: int, is_guided: bool = True, attempt: int = 1) -> None:
        self._prompt, self._max_actions, self._is_guided, self._attempt = prompt, max_actions, is_guided, attempt
        self._memory = UserMemory()
        self._chooser = ThingChooser(self._memory)
        self._next_actions: list[LabAction] = []
        self._unclear: tuple[TypedLine, SeveralThings] | None = None
        self._description = ""

    def act(self, view: UserView) -> UserTurn:
        """See ``LabUser.act``.

        Raises:
            RespondentLeft: The player quits, or the input has ended.
        """
        self._memory.look(view)
        if view.history:
            self._print_last_turn(view)
        else:
            self._introduce(view)
        if self._next_actions and view.history[-1].outcome.succeeded:
            return UserTurn("", self._next_actions.pop(0))
        self._next_actions = []
        self._print_view(view)
        while not self._next_actions:
            try:
                self._next_actions = self._read_actions(view)
            except UnclearThing as problem:
                self._prompt.say(str(problem), _INDENT)
        return UserTurn("", self._next_actions.pop(0))

    def _print_view(self, view: UserView) -> None:
        """Print what is in view, if the person has moved or if it has changed."""
        description = describe_view(view)
        has_moved = bool(view.history) and view.history[-1].action.verb in _MOVES
        if has_moved or description != self._description:
            self._prompt.say(description, _INDENT)
        self._description = description

    def _introduce(self, view: UserView) -> None:
        if self._attempt > 1:
            self._prompt.say(f"That failed. Attempt {self._attempt}: the lab is as it was in the beginning.")
        guide = _GUIDE if self._is_guided else "Nobody helps you."
        self._prompt.say(_INTRODUCTION.format(goal=view.goal, actions=self._max_actions, guide=guide))
        if self._is_guided:
            self._prompt.say(f"Assistant: {OPENING}")
        self._prompt.say(_HINT)

    def _print_last_turn(self, view: UserView) -> None:
        last = view.history[-1]
        verb, argument = last.action.verb, last.action.argument
        name = self._memory.things[argument].name if argument in self._memory.things else argument
        result = describe_result(verb, name, last.outcome.succeeded, last.outcome.message)
        self._prompt.say(f"[{len(view.history)} of {self._max_actions}] {result}", _INDENT)
        if last.speech:
            self._prompt.say(f"Assistant: {last.speech}", _INDENT)
        elif verb == "Speak":
            self._prompt.say("(The assistant says nothing.)" if self._is_guided else "(Nobody answers.)")

    def _read_actions(self, view: UserView) -> list[LabAction]:
        """Return the actions of a typed line; none if it takes no action.

        Raises:
            UnclearThing: It is not clear which thing is meant.
            RespondentLeft: The player quits, or the input has ended.
        """
        try:
            typed = self._prompt.read()
        except InputEnded:
            raise RespondentLeft(
                "nobody acts at this terminal (its input has ended); run the same command again, or choose "
                "person=bob in another folder"
            ) from None
        if self._unclear is not None:
            (unclear, several), self._unclear = self._unclear, None
            is_answer = typed.lower() in ("left", "right") or read_line(typed) is None
            chosen = choose_among(typed, several.numbered) if is_answer else None
            if chosen is not None:
                self._chooser.target = chosen.id
                return self._act_on(chosen, unclear, view)
        if not typed:
            self._prompt.say(f"Type what you do or say, for example: {_EXAMPLES}")
            return []
        line = read_line(typed)
        if line is None:
            self._prompt.say(
                f"I do not understand that. To tell the assistant, begin with say. For example: {_EXAMPLES}"
            )
            return []
        return self._follow(line, view)

    def _follow(self, line: TypedLine, view: UserView) -> list[LabAction]:
        """Return the actions that a line asks for, or answer its command."""
        if line.command is not None and line.command != "examine":
            self._answer(line, view)
            return []
        if line.is_partial:
            self._prompt.say("One thing at a time: only the first is done.")
        if line.actions:
            return self._check_moves(line.actions, view)
        verb = line.instruction.verb if line.instruction and not line.command else None
        room = line.instruction.room if line.instruction else ""
        if room in ROOMS and room != view.room:
            raise UnclearThing(f"First go there: go to the {room}")
        if verb in FROM_HAND and view.held is None:
            raise UnclearThing("Your hand is empty. First take something, as in: take 3")
        if verb == "Pickup" and view.held is not None:
            raise UnclearThing(f"You hold this: {describe_thing(view.held)}. First put it down, as in: put it on 2")
        try:
            thing = self._chooser.choose(line, verb, view)
        except SeveralThings as several:
            self._unclear = line, several
            raise
        return self._act_on(thing, line, view)

    def _check_moves(self, actions: tuple[LabAction, ...], view: UserView) -> list[LabAction]:
        """Return actions that name no thing, unless one sees beforehand that they fail."""
        for action in actions:
            allowed = AMOUNTS.get(action.verb, ())
            if allowed and action.argument not in map(str, allowed):
                unit = ARGUMENTS[action.verb]
                raise UnclearThing(f"That can be done by {' or '.join(map(str, allowed))} {unit}.")
            if action == LabAction("GotoRoom", view.room):
                raise UnclearThing(f"You are in the {view.room} already.")
        return list(actions)

    def _act_on(self, thing: SeenThing, line: TypedLine, view: UserView) -> list[LabAction]:
        """Return an action on a thing, after the way to it if it is not near; only describe it if it is examined."""
        if line.command == "examine":
            on = [describe_thing(each) for each in view.things if each.holder == thing.id]
            holds = f" You see on or in it: {', '.join(on)}." if on else ""
            self._prompt.say(f"{locate_thing(thing, view)}.{holds}", _INDENT)
            return []
        assert line.instruction is not None
        verb = line.instruction.verb or "GotoObject"
        if verb in _MOVES:
            verb = "GotoObject"  # "turn left at the table"
        if verb == "Toggle" and view.held is not None and is_tool(view.held) and not is_suitable(thing, "Toggle"):
            verb = "Break"  # "hit the mug with it"
        act, approach = LabAction(verb, thing.id), LabAction("GotoObject", thing.id)
        # Nobody walks up to what floats without being asked to.
        if view.is_at(thing) or verb in ("GotoObject", "Throw") or "floating" in thing.look.split():
            return [act]
        return [approach, act]

    def _answer(self, line: TypedLine, view: UserView) -> None:
        """Answer a command that takes no action."""
        if line.command == "quit":
            raise RespondentLeft(
                f"you left the lab after {plural(len(view.history), 'action')}; run the same command again to begin "
                "anew"
            )
        if line.command == "picture":
            self._save_picture(line.text, view)
        elif line.command == "help":
            self._prompt.say(_HELP, " " * 29)
        elif line.command == "map":
            self._prompt.say("\n".join(self._describe_room(room, view) for room in ROOMS), _INDENT)
        elif line.command == "task":
            self._prompt.say(view.goal)
        elif line.command == "courtesy":
            self._prompt.say("You need not say that. To say it all the same, which takes an action, begin with say.")
        elif line.command == "hand":
            self._prompt.say(f"You hold this: {describe_thing(view.held)}." if view.held else "Your hand is empty.")
        else:
            self._prompt.say(describe_view(view), _INDENT)

    def _describe_room(self, room: str, view: UserView) -> str:
        """Return what the person has seen in a room."""
        things = [self._memory.things[id] for id, where in self._memory.rooms.items() if where == room]
        here = " (you are here)" if room == view.room else ""
        return f"{room}{here}: {', '.join(map(describe_thing, things)) or 'not seen yet'}"

    def _save_picture(self, file: str, view: UserView) -> None:
        path = Path(file)
        if view.picture is None or path.suffix.lower() != ".png":
            self._prompt.say("Name a file that ends in .png, as in: picture lab.png")
            return
        try:
            write_bytes(path, view.picture)
        except UserError as problem:
            self._prompt.say(str(problem))
            return
        self._prompt.say(f"Saved: {path}")
