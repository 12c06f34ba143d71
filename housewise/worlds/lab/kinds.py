"""Kinds of things and devices in the lab, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Property = Literal[
    "pickupable", "openable", "breakable", "receptacle", "toggleable", "powerable", "dirtyable", "heatable", "eatable",
    "chillable", "fillable", "cookable", "decor", "infectable",
]  # fmt: skip
"""The 14 properties of Alexa Arena. No task needs dirtyable and cookable, and no rule is about them; which kinds have
them is our choice."""


@dataclass(frozen=True)
class Kind:
    """A kind of thing.

    Attributes:
        key: Its key, such as ``"laser_monitor"``; ids begin with it.
        name: What people who know it say, such as ``"laser monitor"``.
        fuzzy: What people who do not know it say, such as ``"computer"``; None for common things.
        properties: What can be done with it.
        size: (width, height, depth), metres.
        colors: Colours that it may have; the first is the usual one.
        look: How it looks, in words that describe one without naming it; empty for common things.
        spots: Number of things that fit on or in it.
        accepts: Keys of the kinds that can be placed on or in it; empty for all.
        monitor: Key of the monitor that runs it; empty if it is run by itself.
        room: Room in which it stands; empty for things that may lie anywhere.
    """

    key: str
    name: str
    fuzzy: str | None
    properties: frozenset[Property]
    size: tuple[float, float, float]
    colors: tuple[str, ...]
    look: str = ""
    spots: int = 0
    accepts: tuple[str, ...] = ()
    monitor: str = ""
    room: str = ""

    @property
    def is_common(self) -> bool:
        """Whether everybody knows it."""
        return self.fuzzy is None


_LETTERS: dict[str, Property] = {
    "p": "pickupable", "o": "openable", "b": "breakable", "r": "receptacle", "t": "toggleable", "w": "powerable",
    "h": "heatable", "e": "eatable", "c": "chillable", "f": "fillable", "n": "decor", "i": "infectable",
    "d": "dirtyable", "k": "cookable",
}  # fmt: skip


def _common(key: str, letters: str, size: tuple[float, float, float], colors: str, spots: int = 0, name: str = "",
            room: str = "") -> Kind:  # fmt: skip
    properties = frozenset(_LETTERS[letter] for letter in letters)
    return Kind(
        key, name or key.replace("_", " "), None, properties, size, tuple(colors.split()), spots=spots, room=room
    )


def _device(key: str, name: str, fuzzy: str, letters: str, size: tuple[float, float, float], color: str, look: str,
            room: str = "", spots: int = 0, accepts: str = "", monitor: str = "") -> Kind:  # fmt: skip
    properties = frozenset(_LETTERS[letter] for letter in letters)
    return Kind(key, name, fuzzy, properties, size, (color,), look, spots, tuple(accepts.split()), monitor, room)


CARTRIDGES = {
    "figure_cartridge": "action_figure", "hammer_cartridge": "hammer", "lever_cartridge": "lever",
    "mug_cartridge": "printed_mug",
}  # fmt: skip
"""What is printed from each kind of cartridge."""
CARTRIDGE_OF = {made: cartridge for cartridge, made in CARTRIDGES.items()}
"""The kind of cartridge that each thing is printed from."""

_SCREEN = (0.42, 0.46, 0.2)
_DISK = (0.14, 0.14, 0.03)
_DISKS = "virus_floppy antivirus_floppy broken_antivirus_floppy"

_KINDS = (
    # Devices. M in the paper: run by their monitors only.
    _device("printer", "3D printer", "machine", "rtw", (0.6, 0.55, 0.5), "gray",
            "gray frame with a square light-blue bed, and a black tower beside it", "robotics lab", 2,
            " ".join(CARTRIDGES)),
    _device("laser_cannon", "laser cannon", "machine", "rw", (0.8, 1.2, 1.2), "gray",
            "big gray base with an orange nozzle and a power cable", "robotics lab", 2, "control_panel laser_tip",
            "laser_monitor"),
    _device("laser_monitor", "laser monitor", "computer", "rtwi", _SCREEN, "red", "red screen with a label on top",
            "robotics lab", 1, _DISKS),
    _device("freeze_ray", "freeze ray", "machine", "w", (0.7, 1.2, 1.1), "white",
            "big white base with a light-blue nozzle", "robotics lab", monitor="freeze_ray_monitor"),
    _device("freeze_ray_monitor", "freeze ray monitor", "computer", "rtwi", _SCREEN, "blue",
            "blue screen with a label on top", "robotics lab", 1, _DISKS),
    _device("robotic_arm", "robotic arm", "machine", "tw", (0.7, 1.3, 0.7), "yellow", "jointed arm on a round foot",
            "robotics lab"),
    _device("time_machine", "time machine", "machine", "rotw", (0.6, 0.6, 0.5), "red",
            "square with a red frame, and a silver controller on top", "break room", 1),
    _device("coffee_unmaker", "coffee unmaker", "machine", "tw", (0.35, 0.5, 0.35), "brown",
            "brown coffee machine with a silver funnel on top", "break room"),
    _device("gravity_flipper", "gravity flipper", "machine", "rw", (1.5, 0.6, 1.5), "black",
            "large table with eight sides and a glowing blue grid", "quantum lab", 3,
            monitor="gravity_flipper_monitor"),
    _device("gravity_flipper_monitor", "gravity flipper monitor", "computer", "rtwi", _SCREEN, "green",
            "screen with a green base and a label on top", "quantum lab", 1,
            _DISKS),
    _device("carrot_maker", "carrot maker", "machine", "rtw", (1.0, 2.4, 0.8), "gray",
            "tall gray panels with vents up to the ceiling, and a sign with a crossed-out carrot", "quantum lab", 1),
    _device("embiggenator", "embiggenator", "machine", "rw", (1.1, 2.4, 1.1), "gray",
            "round gray base under a cone that hangs from the ceiling", "quantum lab", 1,
            monitor="embiggenator_monitor"),
    _device("embiggenator_monitor", "embiggenator monitor", "computer", "rtwi", _SCREEN, "pink",
            "pink screen with a label on top", "quantum lab", 1, _DISKS),
    _device("portal_generator", "portal generator", "machine", "rw", (1.1, 2.0, 0.7), "purple",
            "dark gate with purple lamps on both posts", "quantum lab", 1, monitor="portal_generator_monitor"),
    _device("portal_generator_monitor", "portal generator monitor", "computer", "rtwi", _SCREEN, "black",
            "black screen with a label on top", "quantum lab", 1, _DISKS),
    _device("color_changer", "color changer", "machine", "rw", (0.7, 1.1, 0.6), "silver",
            "silver booth with three buttons in red, green and blue", "quantum lab", 4),
    *(
        Kind(f"{color}_button", f"{color} button", None, frozenset({"toggleable", "powerable"}), (0.1, 0.08, 0.02),
             (color,), room="quantum lab")
        for color in ("red", "green", "blue")
    ),
    _device("fuse_box", "fuse box", "box", "ro", (0.4, 0.5, 0.2), "white",
            "white metal on the wall with a yellow lightning sign", spots=1, accepts="lever"),
    _common("reception_computer", "rtwi", _SCREEN, "gray", 1, "reception computer", "reception"),
    _common("dart_board", "rn", (0.45, 0.45, 0.05), "black", 3, room="warehouse"),
    _common("red_shelf", "r", (0.8, 0.05, 0.3), "red", 3, "red wall shelf", "robotics lab"),
    _common("blue_shelf", "r", (0.8, 0.05, 0.3), "blue", 3, "blue wall shelf", "robotics lab"),
    _common("crate", "n", (0.9, 1.0, 0.9), "brown", name="big box", room="robotics lab"),
    # Furniture.
    _common("counter", "r", (1.6, 0.9, 0.6), "white", 8, "counter top", "break room"),
    _common("table", "r", (1.2, 0.75, 0.8), "brown white green", 6),
    _common("desk", "r", (1.4, 0.75, 0.7), "brown white gray", 6),
    _common("shelf", "r", (1.0, 1.2, 0.35), "brown white gray", 6),
    # Parts of devices.
    _device("control_panel", "laser control panel", "part", "p", (0.24, 0.2, 0.1), "silver",
            "small silver board with dials"),
    _device("laser_tip", "laser tip", "part", "ph", (0.12, 0.18, 0.12), "orange", "orange cone with a ring"),
    _device("lever", "lever", "part", "pt", (0.06, 0.26, 0.06), "red", "red handle with a ball at its end"),
    _device("virus_floppy", "virus floppy", "disk", "pbh", _DISK, "red", "red disk with an exclamation mark"),
    _device("antivirus_floppy", "antivirus floppy", "disk", "pb", _DISK, "green", "green disk with a plus"),
    _device("broken_antivirus_floppy", "broken antivirus floppy", "disk", "p", _DISK, "green",
            "green disk with a crack and a plus"),
    *(
        _device(key, f"{name} cartridge", "cartridge", "p", (0.14, 0.12, 0.1), color, f"{color} block for printing")
        for key, name, color in (
            ("figure_cartridge", "figure", "white"), ("hammer_cartridge", "hammer", "black"),
            ("lever_cartridge", "lever", "red"), ("mug_cartridge", "mug", "yellow"),
        )
    ),
    # Common things.
    _common("apple", "pehck", (0.1, 0.1, 0.1), "red"),
    _common("banana", "pe", (0.2, 0.08, 0.08), "yellow"),
    _common("banana_bunch", "pe", (0.26, 0.14, 0.2), "yellow", name="bunch of bananas"),
    _common("bowl", "pbhcfd", (0.18, 0.1, 0.18), "blue"),
    _common("boss_mug", "pbhcfd", (0.1, 0.12, 0.1), "gray", name="boss's coffee mug"),
    _common("yellow_mug", "pbhcfd", (0.1, 0.12, 0.1), "yellow", name="yellow coffee mug"),
    _common("coffee_pot", "phcfd", (0.18, 0.22, 0.16), "black"),
    _common("plate", "pbd", (0.24, 0.03, 0.24), "white", name="food plate"),
    _common("cake", "pehck", (0.26, 0.16, 0.26), "brown"),
    _common("candy_bar", "peh", (0.16, 0.03, 0.06), "brown"),
    _common("soda_can", "phc", (0.08, 0.14, 0.08), "red"),
    _common("open_soda_can", "phc", (0.08, 0.14, 0.08), "red"),
    _common("crushed_soda_can", "p", (0.1, 0.08, 0.1), "red"),
    _common("donut", "peh", (0.12, 0.05, 0.12), "pink"),
    _common("pie_slice", "pehck", (0.16, 0.08, 0.12), "orange", name="slice of pie"),
    _common("jam_jar", "pe", (0.1, 0.14, 0.1), "red", name="jar of jam"),
    _common("peanut_butter_jar", "pe", (0.1, 0.14, 0.1), "brown", name="jar of peanut butter"),
    _common("dart", "p", (0.05, 0.05, 0.18), "red"),
    _common("hammer", "p", (0.12, 0.32, 0.06), "brown"),
    _common("new_fan", "ptw", (0.3, 0.4, 0.2), "white", name="desk fan"),
    _common("broken_fan", "p", (0.3, 0.4, 0.2), "gray", name="broken desk fan"),
    _common("broken_radio", "p", (0.3, 0.18, 0.12), "brown", name="broken radio"),
    _common("broken_screen", "p", (0.4, 0.36, 0.12), "black", name="broken computer screen"),
    # Results of machines.
    _common("carrot", "pe", (0.08, 0.24, 0.08), "orange"),
    _common("action_figure", "pn", (0.1, 0.22, 0.08), "blue"),
    _common("printed_mug", "pbhfd", (0.1, 0.12, 0.1), "white"),
    _common("coffee_beans", "p", (0.14, 0.06, 0.14), "brown"),
    # Clutter.
    _common("book", "pn", (0.16, 0.04, 0.22), "blue red green"),
    _common("record", "pbn", (0.3, 0.01, 0.3), "black"),
    _common("trophy", "pbn", (0.14, 0.3, 0.14), "yellow"),
    _common("stapler", "pn", (0.06, 0.07, 0.16), "black red"),
    _common("orange", "pe", (0.1, 0.1, 0.1), "orange"),
)  # fmt: skip

KINDS: dict[str, Kind] = {kind.key: kind for kind in _KINDS}
"""All kinds by key."""

FURNITURE = ("counter", "table", "desk", "shelf")
"""Kinds on which anything can be put down."""
COMPUTERS = tuple(kind.key for kind in _KINDS if "infectable" in kind.properties)
