"""A lab with one thing of every kind, for tests."""

from dataclasses import replace

from housewise.worlds.lab.actions import ActionOutcome, LabAction
from housewise.worlds.lab.history import LabTurn, record_turn
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.state import LabState, Thing
from housewise.worlds.lab.surroundings import OpenSpace

SPACE = OpenSpace()
HERE, ELSEWHERE = "quantum lab", "reception"


def one_of_each() -> LabState:
    """All uncommon kinds and an apple are in the quantum lab, where the person stands; the rest is in the reception."""
    things = [
        Thing(
            f"{key}_1",
            key,
            kind.colors[0] if kind.colors else "",
            room=HERE if kind.fuzzy or key == "apple" else ELSEWHERE,
        )
        for key, kind in KINDS.items()
    ]
    return LabState(tuple(sorted(things, key=lambda thing: thing.id)), room=HERE)


def turn(
    state: LabState, action: LabAction, succeeded: bool = True, message: str = "", speech: str | None = None
) -> LabTurn:
    """A turn that was played."""
    outcome = ActionOutcome("ActionSuccessful" if succeeded else "InvalidCommand", message)
    return replace(record_turn(state, SPACE, action, outcome), speech=speech)
