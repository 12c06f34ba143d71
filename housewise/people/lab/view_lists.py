"""What a person sees, as a numbered list at the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from housewise.people.lab.views import SeenThing, UserView
from housewise.worlds.lab.texts import VISIBLE_FLAGS, Side, side_of

_SIDES: dict[Side, str] = {"front": "ahead", "left": "to the left", "right": "to the right"}


def arrange(things: Sequence[SeenThing]) -> tuple[SeenThing, ...]:
    """Return things from left to right, each followed by what lies on or in it. The place is the number, from 1."""
    return tuple(thing for thing, _ in _walk_things(things))


def describe_view(view: UserView) -> str:
    """Return where the person is, what they hold and what is in view, numbered as ``arrange`` orders it."""
    held = f"You hold this: {describe_thing(view.held)}." if view.held else "Your hand is empty."
    lines = [f"You are in the {view.room}, facing {view.facing}. {held}"]
    if not view.is_lit:
        lines.append("The lights are out.")
    lines.append("You see, from left to right:" if view.things else "You see nothing but walls here.")
    for number, (thing, depth) in enumerate(_walk_things(view.things), 1):
        where = "" if depth else f", {_place(thing)}"
        lines.append(f"{number:>3} {'   ' * depth}{describe_thing(thing)}{where}")
    return "\n".join(lines)


def describe_thing(thing: SeenThing) -> str:
    """Return the name of a thing with its colour, and how it looks."""
    look, states = thing.look.split(), list[str]()
    while look and look[-1] in VISIBLE_FLAGS:
        states.insert(0, look.pop())
    words = " ".join([thing.name, *look]).replace("-", " ").split()
    name = thing.name if not thing.color or thing.color in words else f"{thing.color} {thing.name}"
    return f"{name} ({details})" if (details := ", ".join(filter(None, [" ".join(look), *states]))) else name


def locate_thing(thing: SeenThing, view: UserView) -> str:
    """Return the description of a thing, and where it is, seen from the person."""
    return f"{describe_thing(thing)}, {_place(thing) if thing in view.things else 'out of view'}"


def _place(thing: SeenThing) -> str:
    return f"{thing.distance:.1f} m {_SIDES[side_of(thing.bearing)]}"


def _walk_things(things: Sequence[SeenThing], holder: str = "", depth: int = 0) -> Iterator[tuple[SeenThing, int]]:
    """Yield things with the number of things on or in which each lies."""
    for thing in sorted((each for each in things if each.holder == holder), key=lambda each: (each.bearing, each.id)):
        yield thing, depth
        yield from _walk_things(things, thing.id, depth + 1)
