"""Puts the next step of a plan into words: what to do, with which thing, where it is and how it looks."""

from __future__ import annotations

import random
from dataclasses import dataclass

from housewise.agent.basis.descriptions import DescriptionOf, shuffled_kinds
from housewise.agent.basis.oracle_phrases import Act, OraclePhrases
from housewise.worlds.lab.actions import Verb
from housewise.worlds.lab.goals import Goal
from housewise.worlds.lab.history import thing_name
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.planner import Wish, next_step
from housewise.worlds.lab.state import LabState, Thing
from housewise.worlds.lab.surroundings import Glimpse, Surroundings
from housewise.worlds.lab.texts import Side, name_with_color, preposition_of, side_of

_MAX_WALKS = 5
"""Maximum number of walking steps before an action on a thing."""
_SIDES: dict[Side, str] = {"front": "in front of you", "left": "on your left", "right": "on your right"}


@dataclass(frozen=True)
class Advice:
    """What the person should do next.

    Attributes:
        verb: What to do.
        thing: Id of the thing to do it with.
        room: Room of the thing.
        wishes: See LabPlanStep.wishes.
    """

    verb: Verb
    thing: str
    room: str
    wishes: tuple[Wish, ...] = ()

    @property
    def reason(self) -> str:
        """Why, as a clause; empty if it is obvious."""
        return self.wishes[-1].reason if self.wishes else ""


def next_advice(state: LabState, goal: Goal, surroundings: Surroundings) -> Advice | None:
    """Return the next action on a thing towards a goal, after any walking. None if there is no plan.

    Args:
        state: State of the lab.
        goal: What the person wants.
        surroundings: Its space.
    """
    for _ in range(_MAX_WALKS):
        step = next_step(state, goal, surroundings)
        if step is None:
            return None
        verb, argument = step.action.verb, step.action.argument
        if verb == "GotoRoom":
            moved: LabState | None = surroundings.go_to_room(state, argument)
        elif verb == "GotoObject":
            moved = surroundings.go_to_thing(state, argument)
        else:
            return Advice(verb, argument, state[argument].room, step.wishes)
        if moved is None:
            return None
        state = moved
    return None


class Advisor:
    """Words for advice.

    Args:
        phrases: Sentences.
        shuffle_seed: Seed of a permutation of the looks of uncommon things, as a control. None for the true looks.
        describe: Returns the description of a kind of thing. None takes ``phrases.look_of``.
    """

    def __init__(
        self, phrases: OraclePhrases, shuffle_seed: int | None = None, describe: DescriptionOf | None = None
    ) -> None:
        self._phrases, self._describe = phrases, describe or phrases.look_of
        self._shown = {} if shuffle_seed is None else shuffled_kinds(shuffle_seed)

    def look(self, thing: Thing) -> str:
        """Return how an uncommon thing looks: colour, category and parts. Empty for a common one."""
        shown = self._shown.get(thing.kind, thing.kind)
        kind = KINDS[shown]
        if not (kind.look and kind.fuzzy):
            return ""
        color = thing.color if shown == thing.kind else kind.colors[0] if kind.colors else ""
        look = self._describe(shown)
        category = "" if kind.fuzzy in look.split() else f"{kind.fuzzy}: "
        return " ".join(filter(None, ("" if color in look.split() else color, f"{category}{look}")))

    def say(self, advice: Advice, state: LabState, surroundings: Surroundings, generator: random.Random) -> str:
        """Return an advice in words.

        Args:
            advice: What to do.
            state: State of the lab.
            surroundings: Its space.
            generator: Draws sentences.
        """
        thing, phrases = state[advice.thing], self._phrases
        slots = self.slots(advice, state)
        parts = {}
        if advice.reason:
            parts["obstacle"] = phrases.draw("obstacle", generator, **slots)
        if thing.room != state.room:
            parts["away"] = phrases.draw("away", generator, **slots)
        act: Act = advice.verb  # type: ignore[assignment]
        parts["act"] = phrases.draw_act(act, generator, **slots)
        if slots["look"]:
            parts["look"] = phrases.draw("look", generator, **slots)
        glimpse = find_glimpse(state, surroundings, thing.id)
        if glimpse is not None:
            parts["place"] = phrases.draw("side", generator, **slots, side=side_words(glimpse))
        elif slots["place"]:
            parts["place"] = phrases.draw("place", generator, **slots)
        return phrases.arrange(generator, **parts)

    def slots(self, advice: Advice, state: LabState) -> dict[str, str]:
        """Return the words for the things of an advice."""
        thing = state[advice.thing]
        held = "" if state.held is None else thing_name(state[state.held], "full")
        return {
            "thing": name_with_color(thing) if KINDS[thing.kind].is_common else thing_name(thing, "full"),
            "held": held or "it",
            "room": thing.room,
            "place": self._place(state, thing),
            "look": self.look(thing),
            "reason": advice.reason.rstrip("."),
        }

    def _place(self, state: LabState, thing: Thing) -> str:
        """Return where a thing is, such as ``"on the green table"``; empty if it is on nothing in another room."""
        if thing.container is None or thing.container not in state.by_id:
            return "in this room" if thing.room == state.room else ""
        holder = state[thing.container]
        look = self.look(holder)
        name = f"{thing_name(holder, 'full')}, the {look}" if look else name_with_color(holder)
        return f"{preposition_of(holder)} the {name}"


def find_glimpse(state: LabState, surroundings: Surroundings, id: str) -> Glimpse | None:
    """Return the view of a thing. None if it is out of view."""
    return next((each for each in surroundings.glimpses(state) if each.id == id), None)


def side_words(glimpse: Glimpse) -> str:
    """Return where a thing in view is, in words."""
    return _SIDES[side_of(glimpse.bearing)]
