"""Which rooms a building has, and how large, how narrow and how connected they may be.

A program, in the sense of architects, lists the kinds of rooms with their sizes and the doors between them. The layout
of a building is drawn from its program; see ``house_layout``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RoomProgram:
    """The kinds of rooms of a building and the rules for their arrangement.

    Attributes:
        areas: Least and greatest area of each kind but the corridor, square metres.
        least_sides: Least length of the shorter side of each kind, metres.
        day: Kinds at one end of a corridor; all other kinds stand along its sides.
        through: Kinds that may have more than one door.
        open: Kinds between which doors are wide openings.
        entrances: Kinds that may have the front door, the most suitable first.
        door_costs: Costs of doors between two kinds. Other pairs of kinds never share a door.
    """

    areas: Mapping[str, tuple[float, float]]
    least_sides: Mapping[str, float]
    day: tuple[str, ...]
    through: tuple[str, ...]
    open: tuple[str, ...]
    entrances: tuple[str, ...]
    door_costs: Mapping[frozenset[str], float]


def door_costs(pairs: Mapping[float, tuple[str, ...]]) -> dict[frozenset[str], float]:
    """Return the cost of each pair of kinds from lists of pairs, such as ``"corridor - bedroom"``, by cost."""
    return {frozenset(pair.split(" - ")): cost for cost, names in pairs.items() for pair in names}


HOUSE = RoomProgram(
    areas={
        "living room": (20, 27),
        "kitchen": (12, 16),
        "dining room": (12, 16),
        "bedroom": (12, 16),
        "childs room": (10.5, 13),
        "bathroom": (5.5, 8),
        "home office": (9, 12),
        "utility room": (5.5, 8),
        "pantry room": (4.5, 6),
        "lobby": (6, 9),
        "television room": (13, 17),
    },
    least_sides={
        "living room": 3.4, "kitchen": 2.5, "dining room": 2.8, "bedroom": 2.8, "childs room": 2.5, "bathroom": 1.9,
        "corridor": 1.3, "home office": 2.4, "utility room": 1.8, "pantry room": 1.6, "lobby": 1.9,
        "television room": 3.0,
    },
    day=("living room", "kitchen", "dining room", "television room", "pantry room", "lobby"),
    through=("corridor", "lobby", "living room", "dining room", "kitchen", "television room"),
    open=("living room", "dining room", "kitchen", "television room"),
    entrances=("lobby", "corridor", "living room", "dining room", "kitchen", "television room"),
    door_costs=door_costs(
        {
            0.5: ("kitchen - pantry room", "kitchen - dining room", "corridor - living room", "corridor - lobby"),
            1.0: (
                "corridor - bedroom", "corridor - childs room", "corridor - bathroom", "corridor - home office",
                "corridor - utility room", "living room - dining room", "living room - lobby", "living room - kitchen",
                "living room - television room", "kitchen - utility room", "lobby - bathroom", "lobby - utility room",
            ),
            2.0: (
                "corridor - kitchen", "corridor - television room", "corridor - dining room", "lobby - kitchen",
                "lobby - bedroom", "lobby - childs room", "lobby - home office", "living room - bedroom",
                "living room - home office", "living room - childs room", "corridor - pantry room",
                "lobby - dining room", "lobby - television room", "dining room - television room",
            ),
            3.5: (
                "living room - bathroom", "dining room - pantry room", "dining room - home office",
                "lobby - pantry room", "television room - home office", "dining room - utility room",
            ),
            6.0: (
                "kitchen - bathroom", "dining room - bathroom", "television room - bedroom",
                "television room - childs room", "television room - bathroom", "dining room - bedroom",
                "dining room - childs room", "kitchen - home office", "living room - utility room",
                "kitchen - television room", "living room - pantry room",
            ),
        }
    ),
)  # fmt: skip
"""The rooms of a family's house."""


def choose_house_rooms(count: int, rng: np.random.Generator) -> list[str]:
    """Draw the kinds of the rooms of a family's house, with the living room first.

    Args:
        count: Number of rooms, 3 to 8.
        rng: Random number generator.

    Raises:
        ValueError: If ``count`` is not 3 to 8.
    """
    if not 3 <= count <= 8:
        raise ValueError(f"a house has 3 to 8 rooms, not {count}")
    kinds = ["living room", "kitchen", "bathroom", "bedroom"][:count]
    if count >= 6 or (count == 5 and rng.uniform() < 0.6):
        kinds.append("corridor")
    wishes = {
        "childs room": 3.0, "dining room": 3.0, "bedroom": 2.0, "home office": 2.5, "bathroom": 1.0,
        "utility room": 1.5, "pantry room": 1.5, "television room": 1.0, "lobby": 0.0 if "corridor" in kinds else 1.5,
    }  # fmt: skip
    weights = np.array(list(wishes.values()))
    extra = rng.choice(len(wishes), size=count - len(kinds), replace=False, p=weights / weights.sum())
    return kinds + [list(wishes)[pick] for pick in sorted(extra)]
