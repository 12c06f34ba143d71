"""Effects of actions: each returns the state after it, a sentence about it, and names of what took place."""

from __future__ import annotations

from dataclasses import replace

from housewise.worlds.lab.kinds import CARTRIDGES, FURNITURE, KINDS
from housewise.worlds.lab.situation import FLIPPER, LEVER, LIQUIDS, PANEL, ActionSituation, has_flag, has_free_spot
from housewise.worlds.lab.state import Flag, LabState, Thing

Result = tuple[LabState, str, tuple[str, ...]]


def pick_up(s: ActionSituation) -> Result:
    """Take a thing into the hand."""
    state = s.state.with_thing(replace(s.thing, container=None, room="", spot=0))
    return replace(state, held=s.thing.id, near=state.near - {s.thing.id}), "", ()


def place(s: ActionSituation) -> Result:
    """Put the held thing on or into another, with what follows at once: infection, cleaning, floating, feeding."""
    state, held = put_down(s.state, s.thing), s.state[s.state.held or ""]
    if "infectable" in s.kind.properties:
        return _insert_disk(state, state[s.thing.id], held)
    if s.thing.kind == "portal_generator" and has_flag(s.thing, "on"):
        return feed(state, s.thing.id)
    if s.thing.kind == FLIPPER and has_flag(s.thing, "on"):
        return state.with_thing(state[held.id].with_flags("floating")), "It rises.", ()
    if (held.kind, s.thing.kind) == (PANEL, "laser_cannon"):
        return state, "The control panel clicks into place.", ("assembled",)
    if (held.kind, s.thing.kind) == (LEVER, "fuse_box"):
        return state, "The lever clicks into place.", ("assembled",)
    return state, "", ()


def put_down(state: LabState, holder: Thing) -> LabState:
    """Return the state after the held thing has been put on or into another."""
    spot = state.free_spot(holder.id)
    held = state[state.held or ""]
    return replace(state.with_thing(replace(held, container=holder.id, room=holder.room, spot=spot)), held=None)


def set_open(s: ActionSituation) -> Result:
    """Open a door."""
    return s.state.with_thing(s.thing.with_flags("open")), "", ()


def set_closed(s: ActionSituation) -> Result:
    """Close a door."""
    return s.state.with_thing(s.thing.with_flags(without=("open",))), "", ()


def set_broken(s: ActionSituation) -> Result:
    """Break a thing."""
    return s.state.with_thing(s.thing.with_flags("broken")), "It breaks.", ("broken",)


def pour(s: ActionSituation) -> Result:
    """Pour from the held cup."""
    held = s.state[s.state.held or ""]
    liquids = tuple(flag for flag in LIQUIDS if flag in held.flags)
    return s.state.with_thing(s.thing.with_flags(*liquids), held.with_flags(without=liquids)), "", ("poured",)


def throw(s: ActionSituation) -> Result:
    """Throw the held thing. It never misses, and what follows is what follows when it is put there."""
    if (s.state[s.state.held or ""].kind, s.thing.kind) == ("dart", "dart_board"):
        return put_down(s.state, s.thing), "The dart sticks in the board.", ("dart hit",)
    return place(s)


def print_thing(s: ActionSituation) -> Result:
    """Print the thing of the cartridge."""
    cartridge = next(each for each in s.load if each.kind in CARTRIDGES)
    kind = CARTRIDGES[cartridge.kind]
    state = add_thing(s.state, kind, s.thing)
    return state, f"A new {KINDS[kind].name} lies on the bed.", (f"printed {kind}",)


def add_thing(state: LabState, kind: str, holder: Thing) -> LabState:
    """Return the state with a new thing on or in another."""
    number = next(n for n in range(1, len(state.things) + 2) if f"{kind}_{n}" not in state.by_id)
    made = Thing(
        f"{kind}_{number}",
        kind,
        KINDS[kind].colors[0],
        room=holder.room,
        container=holder.id,
        spot=state.free_spot(holder.id),
    )
    return replace(state, things=tuple(sorted((*state.things, made), key=lambda thing: thing.id)))


def rewind(s: ActionSituation) -> Result:
    """Mend what is in the time machine, and turn a carrot back into what it was."""
    changed = []
    for thing in s.load:
        whole = thing.with_flags(without=("broken", "eaten"))
        changed.append(replace(whole, kind=thing.original, original=None, color=_color_of(whole, thing.original))
                       if thing.original else whole)  # fmt: skip
    return s.state.with_thing(*changed), "The time machine hums and stops.", ("rewound",)


def make_carrot(s: ActionSituation) -> Result:
    """Turn a thing into a carrot."""
    changed = [
        thing if thing.kind == "carrot" else replace(thing, kind="carrot", original=thing.kind, color="orange")
        for thing in s.load
    ]
    return s.state.with_thing(*changed), "What was in it is a carrot now.", ("carrot",)


def unmake(s: ActionSituation) -> Result:
    """Turn coffee into beans, which lie on furniture of the room."""
    state = s.state.with_thing(s.thing.with_flags(without=("coffee",)))
    on = free_furniture(state, s.thing.room)
    assert on is not None, "the rule requires it"
    return add_thing(state, "coffee_beans", on), "Coffee beans fall out.", ("beans",)


def free_furniture(state: LabState, room: str) -> Thing | None:
    """Return a piece of furniture of a room with a free spot, a counter first."""
    free = (
        each
        for kind in FURNITURE
        for each in state.things
        if (each.kind, each.room) == (kind, room) and has_free_spot(state, each)
    )
    return next(free, None)


def free_way(s: ActionSituation) -> Result:
    """Take the big box out of the way."""
    return (
        replace(s.state, blocked=frozenset(), things=tuple(x for x in s.state.things if x.kind != "crate")),
        "The arm lifts the box away.",
        ("way freed",),
    )


def paint(s: ActionSituation) -> Result:
    """Give a colour to what is on the color changer."""
    changed = [replace(thing, color=s.thing.color) for thing in s.load]
    return s.state.with_thing(*changed), f"It is {s.thing.color} now.", ("painted",)


def heat_shelf(s: ActionSituation) -> Result:
    """Fire the laser: what can be heated on the red shelf becomes hot, and a virus floppy breaks."""
    return _fire(s, "red_shelf", "heatable", "hot", "cold")


def cool_shelf(s: ActionSituation) -> Result:
    """Fire the freeze ray: what can be chilled on the blue shelf becomes cold."""
    return _fire(s, "blue_shelf", "chillable", "cold", "hot")


def _fire(s: ActionSituation, shelf: str, needed: str, now: Flag, before: Flag) -> Result:
    changed = [s.machine.with_flags("fired")]
    for thing in s.state.things:
        on = thing.container is not None and s.state[thing.container].kind == shelf
        if on and needed in KINDS[thing.kind].properties:
            hot = thing.with_flags(now, without=(before,))
            changed.append(hot.with_flags("broken") if (thing.kind, now) == ("virus_floppy", "hot") else hot)
    message = f"The {KINDS[s.machine.kind].name} fires at the {KINDS[shelf].name}."
    return s.state.with_thing(*changed), message, ("fired",)


def flip_gravity(s: ActionSituation) -> Result:
    """Switch the gravity flipper; what is on it floats while it is on."""
    on = not has_flag(s.machine, "on")
    if on:
        changed = [s.machine.with_flags("on"), *(each.with_flags("floating") for each in s.load)]
        return s.state.with_thing(*changed), "Things on the table with the blue grid rise.", ("gravity on",)
    changed = [s.machine.with_flags(without=("on",)), *(each.with_flags(without=("floating",)) for each in s.load)]
    return s.state.with_thing(*changed), "The humming stops.", ("gravity off",)


def flip_size(s: ActionSituation) -> Result:
    """Make what is on the embiggenator large, or normal again."""
    changed = [x.with_flags(without=("large",)) if has_flag(x, "large") else x.with_flags("large") for x in s.load]
    event = "enlarged" if has_flag(changed[0], "large") else "shrunk"
    return s.state.with_thing(*changed), "Its size changes.", (event,)


def switch_portal(s: ActionSituation) -> Result:
    """Switch the portal; food that is in it is eaten."""
    if has_flag(s.machine, "on"):
        return s.state.with_thing(s.machine.with_flags(without=("on",))), "The portal closes.", ("portal off",)
    state = s.state.with_thing(s.machine.with_flags("on"))
    if s.load:
        state, message, events = feed(state, s.machine.id)
        return state, f"The portal opens. {message}".strip(), ("portal on", *events)
    return state, "The portal opens.", ("portal on",)


def feed(state: LabState, portal: str) -> Result:
    """Let the dinosaur eat the food that is in the open portal."""
    food = [
        x for x in state.contents.get(portal, ()) if "eatable" in KINDS[x.kind].properties and "eaten" not in x.flags
    ]
    if not food:
        return state, "", ()
    eaten = [thing.with_flags("eaten") for thing in food]
    return state.with_thing(state[portal].with_flags("fed"), *eaten), "Something behind it eats the food.", ("fed",)


def flip_switch(s: ActionSituation) -> Result:
    """Switch a thing on or off."""
    on = has_flag(s.thing, "on")
    changed = s.thing.with_flags(without=("on",)) if on else s.thing.with_flags("on")
    return s.state.with_thing(changed), f"It goes {'off' if on else 'on'}.", ("switched",)


def flip_power(s: ActionSituation) -> Result:
    """Switch the power of the rooms of a fuse box."""
    powered = s.state.powered ^ {s.thing.room}
    on = s.thing.room in powered
    return (
        replace(s.state, powered=powered),
        f"The power goes {'on' if on else 'off'}.",
        (f"power {'on' if on else 'off'}",),
    )


def _insert_disk(state: LabState, computer: Thing, disk: Thing) -> Result:
    if not state.has_power(computer.room) or has_flag(disk, "broken"):
        return state, "The screen does not react.", ()
    if disk.kind == "virus_floppy":
        return state.with_thing(computer.with_flags("infected")), "The screen flickers.", ("infected",)
    if disk.kind == "antivirus_floppy" and has_flag(computer, "infected"):
        return state.with_thing(computer.with_flags(without=("infected",))), "The screen is clear again.", ("cleaned",)
    return state, "", ()


def _color_of(thing: Thing, kind: str) -> str:
    return KINDS[kind].colors[0] if thing.color == "orange" else thing.color
