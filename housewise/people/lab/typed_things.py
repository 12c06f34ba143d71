"""Finds the thing that a player means: by its number in the list of what is in view, by name, or by how it looks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from housewise.people.lab.grounding import (
    find_matches,
    is_common,
    is_described,
    is_furniture,
    is_suitable,
    plain_words,
    possible_matches,
    thing_words,
)
from housewise.people.lab.typed_lines import TypedLine
from housewise.people.lab.understanding import Instruction, understand
from housewise.people.lab.user_memory import UserMemory
from housewise.people.lab.view_lists import arrange, describe_thing, locate_thing
from housewise.people.lab.views import SeenThing, UserView
from housewise.people.lab.vocabulary import load_vocabulary
from housewise.worlds.lab.actions import Verb
from housewise.worlds.lab.texts import NEAR_METRES

FROM_HAND: tuple[Verb, ...] = ("Place", "Pour", "Throw")
"""Actions with the thing in the hand, aimed at another one."""
_SEARCH_HINT = "Turn, go up to furniture, go elsewhere, or ask how it looks."
_PRONOUN = re.compile(r"\b(?:it|them|that|this|there)\b", re.IGNORECASE)


class UnclearThing(Exception):
    """It is not clear which thing is meant. The message says why and what to do."""


class SeveralThings(UnclearThing):
    """Several things may be meant.

    Attributes:
        numbered: The things by their numbers, in order.
    """

    def __init__(self, numbered: Mapping[int, SeenThing], view: UserView) -> None:
        listed = (f"\n{number:>3} {locate_thing(thing, view)}" for number, thing in numbered.items())
        super().__init__(f"Which one?{''.join(listed)}")
        self.numbered = numbered


@dataclass
class ThingChooser:
    """Finds what is meant in what a person sees, or remembers of the room.

    Attributes:
        memory: What they remember.
        target: Id of the thing that was meant last, which "it" means.
    """

    memory: UserMemory
    target: str = ""

    def choose(self, line: TypedLine, verb: Verb | None, view: UserView) -> SeenThing:
        """Return the thing at which an action is aimed.

        Args:
            line: The line, with an instruction.
            verb: The action, or None to only look.
            view: What the person sees.

        Raises:
            UnclearThing: None fits, or several fit.
        """
        step = line.instruction or Instruction(verb)
        if verb in FROM_HAND and view.held is not None:
            _check_hand(line, step, view)
            step = replace(step, words=_without_name(step.words, view.held))
        if line.numbers and not (step.words and verb in FROM_HAND and len(line.numbers) == 1):
            found = _find_by_number(line.numbers[-1 if verb in FROM_HAND else 0], view)
        elif not (step.words or step.context):
            found = self._find_last(line, verb, view)
        else:
            found = self._find_by_description(step, verb, view)
        self.target = found.id
        return found

    def _find_last(self, line: TypedLine, verb: Verb | None, view: UserView) -> SeenThing:
        """Return the thing that was meant last, or furniture to put something down on."""
        last = [each for each in view.things if each.id == self.target]
        if verb == "Place":
            near = [each for each in last if each.distance <= NEAR_METRES and is_suitable(each, "Place")]
            if near or (near := [each for each in view.things if is_furniture(each)]):
                return near[0]
            raise UnclearThing("You see no furniture to put it down on. Turn, or go to a table or a shelf.")
        if last and _PRONOUN.search(line.text):
            return last[0]
        raise UnclearThing("Which thing? Name it, or give its number in the list, as in: go to 2")

    def _find_by_description(self, step: Instruction, verb: Verb | None, view: UserView) -> SeenThing:
        """Return the thing that a description means. An uncommon name means what the assistant described by it."""
        is_known = not {*step.words} - plain_words()
        described = None if is_known else _find_described(step, view)
        step = described or step
        for known in (view.things, self.memory.elsewhere_in_room(view)):
            matches = find_matches(step, known, {}, verb) or find_matches(step, known, {})
            if matches:
                things = _on_side(possible_matches(matches, step.side), step.side)
                return self._only(things, view, is_known or described is not None or is_common(things[0].name))
        elsewhere = self.memory.find_elsewhere(replace(step, verb=None), view.room) if is_known or described else None
        hint = f"You saw this{self._remembered_place(elsewhere)}." if elsewhere else _SEARCH_HINT
        raise UnclearThing(f"You see nothing here that fits that. {hint}")

    def _remembered_place(self, thing: SeenThing) -> str:
        """Return where a thing of another room was seen."""
        holder = self.memory.things.get(thing.holder)
        on = f", on or in this: {describe_thing(holder)}" if holder else ""
        return f" in the {self.memory.rooms[thing.id]}: {describe_thing(thing)}{on}"

    def _only(self, things: Sequence[SeenThing], view: UserView, is_sure: bool) -> SeenThing:
        """Return the thing that was meant last, if it is among some, or the nearest if all look alike.

        Args:
            things: What fits the description.
            view: What the person sees.
            is_sure: Whether the person knows what is called so.

        Raises:
            SeveralThings: The person has to choose.
        """
        if last := [each for each in things if each.id == self.target]:
            return last[0]
        if is_sure and len({describe_thing(each) for each in things}) == 1:
            return min(things, key=lambda each: each.distance)
        listed = dict(enumerate(arrange(view.things), 1))
        in_view = {number: thing for number, thing in listed.items() if thing in things}
        raise SeveralThings(in_view or dict(enumerate(things, 1)), view)


def _find_described(step: Instruction, view: UserView) -> Instruction | None:
    """Return what the assistant said last about the look of a thing of the same name. None if it did not."""
    named = {*step.words}
    for turn in reversed(view.history):
        for advice in understand(turn.speech or "").instructions:
            is_shorter = bool(advice.words) and named <= {*advice.words} and advice.words[-1] in named
            is_same = bool(advice.words) and ({*advice.words} <= named or is_shorter)
            if is_same and is_described(advice):
                return replace(advice, side="")
    return None


def choose_among(typed: str, numbered: Mapping[int, SeenThing]) -> SeenThing | None:
    """Return the one of several things that an answer means by number, side or words. None if it means no one."""
    if number := re.fullmatch(r"\D{0,12}(\d{1,3})\D{0,3}", typed):
        return numbered.get(int(number[1]))
    said = understand(f"take the {typed}").instructions
    if not said or not (said[0].words or said[0].side):
        return None
    things = list(numbered.values())
    if said[0].words:
        matches = find_matches(said[0], things, {})
        things = possible_matches(matches, said[0].side) if matches else []
    chosen = _on_side(things, said[0].side) if things else []
    return chosen[0] if len(chosen) == 1 else None


def _find_by_number(number: int, view: UserView) -> SeenThing:
    listed = arrange(view.things)
    if not 1 <= number <= len(listed):
        raise UnclearThing(f"There is no {number} in the list of what you see; look shows it.")
    return listed[number - 1]


def _check_hand(line: TypedLine, step: Instruction, view: UserView) -> None:
    """Check that the thing that shall be put, poured or thrown is the one in the hand."""
    assert view.held is not None
    named = Instruction("Pickup", words=step.place_words)
    other = len(line.numbers) > 1 and _find_by_number(line.numbers[0], view).id != view.held.id
    if step.place_words and not find_matches(named, [view.held], {}):
        other = other or bool(find_matches(named, view.things, {}))
    if other:
        raise UnclearThing(f"What you hold is this: {describe_thing(view.held)}. First put it down.")


def _without_name(words: Sequence[str], held: SeenThing) -> tuple[str, ...]:
    """Return words without those for the thing in the hand, if they name it."""
    if not {*load_vocabulary().text_content(held.name)} & {*words}:
        return tuple(words)
    return tuple(word for word in words if word not in thing_words(held))


def _on_side(things: Sequence[SeenThing], side: str) -> list[SeenThing]:
    """Return the one of some things that is meant by left, right or front; all without a side."""
    if not side:
        return list(things)
    keys = {"left": lambda each: each.bearing, "right": lambda each: -each.bearing}
    return [min(things, key=keys.get(side, lambda each: abs(each.bearing)))]
