"""The 70 variants of the paper (list 8): a task, its parameter, and what stands in its way.

Where the paper is silent, the third entry tells which thing the precondition is about: the tool of tasks that need one
(as in figure 15, where the hammer is enlarged), otherwise the thing that the task is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from housewise.worlds.lab.goals import Goal
from housewise.worlds.lab.kinds import KINDS

Precondition = Literal[
    "simple", "power", "landing", "deembiggen", "disinfect_computer", "remove_blocker", "transform_carrot",
    "assemble_laser", "print", "assemble_fusebox",
]  # fmt: skip
PRECONDITIONS: tuple[Precondition, ...] = get_args(Precondition)


@dataclass(frozen=True)
class Variant:
    """A variant.

    Attributes:
        goal: What the person wants.
        precondition: What stands in the way.
        needed: Kind of the thing that the precondition is about; empty for rooms.
        mission: The goal as the person reads it.
    """

    goal: Goal
    precondition: Precondition
    needed: str
    mission: str

    @property
    def name(self) -> str:
        """Name, such as ``"make_carrot__banana__simple"``."""
        about = "+".join(filter(None, (self.goal.kind, self.goal.color, self.goal.room.replace(" ", "-")))) or "none"
        return f"{self.goal.task}__{about}__{self.precondition}"


_MISSIONS = {
    "assemble_fusebox": "Put the lever back into the fuse box of the {room}.",
    "assemble_laser": "Assemble the laser cannon with its control panel.",
    "break": "Break the {kind}.",
    "change_color": "Make the {kind} {color}.",
    "dart": "Throw a dart at the dart board.",
    "deembiggen": "Shrink the {kind} to its normal size.",
    "disinfect_computer": "Remove the virus from the {kind}.",
    "embiggen": "Make the {kind} larger.",
    "feed_dino": "Feed the dinosaur with the {kind}.",
    "fire_freezeray": "Fire the freeze ray.",
    "fire_freezeray_to_cool": "Cool the {kind} with the freeze ray.",
    "fire_laser": "Fire the laser.",
    "fire_laser_to_heat": "Heat the {kind} with the laser.",
    "infect_computer": "Infect the {kind} with a virus.",
    "landing": "Bring the floating {kind} down.",
    "make_carrot": "Turn the {kind} into a carrot.",
    "power": "Restore the power in the {room}.",
    "print": "Print a {kind} with the 3D printer.",
    "remove_blocker": "Take away the box that blocks the way in the robotics lab.",
    "repair_broken": "Repair the broken {kind}.",
    "transform_carrot": "Turn the carrot back into the {kind}.",
    "unmake_coffee": "Turn the coffee in the {kind} back into beans.",
}

# task: parameter (kind+colour, or @room) : preconditions, each with the kind that it is about after a slash.
_LINES = """
assemble_fusebox @break room: simple
assemble_laser control_panel: simple
break bowl: simple transform_carrot/hammer
break boss_mug: landing/hammer print/hammer
break plate: deembiggen/hammer
change_color apple+green: simple
change_color yellow_mug+blue: power/@quantum lab
change_color yellow_mug+red: deembiggen/yellow_mug
change_color new_fan+blue: landing/new_fan
dart dart: deembiggen/dart landing/dart simple transform_carrot/dart
deembiggen dart: power/@quantum lab
deembiggen new_fan: simple
disinfect_computer gravity_flipper_monitor: simple
embiggen banana_bunch: disinfect_computer/embiggenator_monitor
embiggen broken_screen: landing/broken_screen
embiggen broken_fan: simple
embiggen broken_radio: power/@quantum lab
feed_dino apple: simple
feed_dino candy_bar: power/@quantum lab
feed_dino jam_jar: deembiggen/jam_jar
feed_dino pie_slice: landing/pie_slice
fire_freezeray: disinfect_computer/freeze_ray_monitor power/@robotics lab remove_blocker simple
fire_freezeray_to_cool cake: power/@robotics lab remove_blocker
fire_freezeray_to_cool soda_can: disinfect_computer/freeze_ray_monitor
fire_freezeray_to_cool coffee_pot: simple
fire_laser: assemble_laser disinfect_computer/laser_monitor power/@robotics lab remove_blocker simple
fire_laser_to_heat bowl: remove_blocker
fire_laser_to_heat open_soda_can: power/@robotics lab
fire_laser_to_heat boss_mug: assemble_laser
fire_laser_to_heat yellow_mug: simple
fire_laser_to_heat virus_floppy: disinfect_computer/laser_monitor
infect_computer reception_computer: landing/virus_floppy simple
infect_computer freeze_ray_monitor: transform_carrot/virus_floppy
infect_computer gravity_flipper_monitor: power/@quantum lab
infect_computer portal_generator_monitor: deembiggen/virus_floppy
landing laser_tip: simple
make_carrot banana: simple
make_carrot crushed_soda_can: landing/crushed_soda_can
make_carrot peanut_butter_jar: deembiggen/peanut_butter_jar
make_carrot figure_cartridge: power/@quantum lab
power @break room: assemble_fusebox/@break room
power @manager's office: simple
print action_figure: power/@robotics lab simple
print hammer: deembiggen/hammer_cartridge landing/hammer_cartridge
print lever: transform_carrot/lever_cartridge
print printed_mug: remove_blocker
remove_blocker @robotics lab: power/@robotics lab simple
repair_broken boss_mug: simple
repair_broken yellow_mug: power/@break room
transform_carrot donut: simple
transform_carrot broken_antivirus_floppy: power/@break room
unmake_coffee boss_mug: power/@break room
unmake_coffee yellow_mug: simple
"""


def _parse() -> Iterator[Variant]:
    for line in _LINES.strip().splitlines():
        head, _, preconditions = line.partition(": ")
        task, _, parameter = head.partition(" ")
        room = parameter[1:] if parameter.startswith("@") else ""
        kind, _, color = ("", "", "") if room else parameter.partition("+")
        goal = Goal(task, kind, color, room)
        name = "" if not kind else "mug" if kind == "printed_mug" else KINDS[kind].name
        mission = _MISSIONS[task].format(kind=name or "none", color=color, room=room)
        # Names of rooms have spaces too.
        for entry in re.split(rf" (?={'|'.join(PRECONDITIONS)})", preconditions):
            precondition, _, needed = entry.partition("/")
            yield Variant(goal, precondition, needed, mission)  # type: ignore[arg-type]


VARIANTS: tuple[Variant, ...] = tuple(_parse())
"""All variants, in the order of the paper."""
BY_NAME: dict[str, Variant] = {variant.name: variant for variant in VARIANTS}
