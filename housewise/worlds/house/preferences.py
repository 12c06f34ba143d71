"""Placement preferences of people: the kinds of rooms and receptacles where each category of object belongs.

The preferences of a person are a YAML file. For groups of objects, or for single categories, it lists the wanted kinds
of receptacles in each kind of room. ``housekeep_configs/people/_base.yaml`` has the defaults.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from pydantic import Field

from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError, suggest_names
from housewise.core.files import find_paths
from housewise.core.text_files import is_file
from housewise.core.validation import StrictModel, read_model

Places = dict[str, list[str]]
"""Wanted kinds of receptacles by kind of room, which may be ``"any room"``."""

ANY_ROOM = "any room"

ROOM_KINDS = (
    "bathroom", "bedroom", "childs room", "corridor", "dining room", "home office", "kitchen", "living room", "lobby",
    "pantry room", "television room", "utility room",
)  # fmt: skip

RECEPTACLE_KINDS = (
    "basket", "bathtub", "bed", "bottom cabinet", "carpet", "chair", "chest", "coffee machine", "coffee table",
    "console table", "cooktop", "counter", "dishwasher", "dryer", "fridge", "heater", "microwave", "office chair",
    "oven", "piano", "shelf", "shredder", "sink", "sofa", "sofa chair", "stool", "stove", "table", "toilet",
    "top cabinet", "washer",
)  # fmt: skip

_PEOPLE = CONFIGS / "people"
_BASE, _STRANGERS = "_base.yaml", "opinionated"

_REMEDY = "write it as the file that `housewise copy person ada` makes"


class Preferences(Protocol):
    """The placement preferences of a person or of a group of people.

    Attributes:
        name: Name of the person or of the group, for example ``"ada"`` or ``"majority"``.
    """

    name: str

    def wants(self, category: str, room: str, receptacle: str) -> bool:
        """Whether an object is wanted on a receptacle.

        Args:
            category: Category of the object, with underscores, for example ``"tea_towel"``.
            room: Kind of the room, for example ``"living room"``.
            receptacle: Kind of the receptacle, for example ``"coffee table"``.
        """
        ...


class PreferenceGroup(StrictModel):
    """Categories that belong together, and where they are wanted by default.

    Attributes:
        things: Categories of objects.
        wanted: Default receptacles of these categories.
    """

    things: list[str] = Field(min_length=1)
    wanted: Places = Field(min_length=1)


class PreferencesFile(StrictModel):
    """The fields of a person's file.

    Attributes:
        name: Name of the person in commands and results.
        about: A sentence about the person.
        wants: Wanted receptacles of groups and categories. The entry of a category overrides that of its group.
        groups: Additional groups.
    """

    name: str = Field(min_length=1)
    about: str = ""
    wants: dict[str, Places] = Field(default_factory=dict)
    groups: dict[str, PreferenceGroup] = Field(default_factory=dict)


class DefaultPreferencesFile(StrictModel):
    """The fields of ``_base.yaml``, which has the groups and their defaults."""

    groups: dict[str, PreferenceGroup]


class HousePreferences:
    """The placement preferences of one person; implements Preferences.

    Args:
        name: Name of the person.
        about: A sentence about the person.
        places: Wanted receptacles of each category.
    """

    def __init__(self, name: str, about: str, places: Mapping[str, Places]) -> None:
        self.name = name
        self.about = about
        self._places = places

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories for which this person has preferences."""
        return tuple(self._places)

    def places_for(self, category: str) -> Places:
        """Return the wanted receptacles of a category; empty if the person has no preference."""
        return self._places.get(category, {})

    def wants(self, category: str, room: str, receptacle: str) -> bool:
        """See Preferences.wants. An unknown category is wanted nowhere."""
        places = self.places_for(category)
        return receptacle in places.get(room, ()) or receptacle in places.get(ANY_ROOM, ())


class MajorityPreferences:
    """The placements that more than half of some people want; implements Preferences.

    Args:
        people: Preferences of the people, with equal weight.

    Raises:
        ValueError: If there are no people.
    """

    name = "majority"

    def __init__(self, people: Iterable[Preferences]) -> None:
        self._people = tuple(people)
        if not self._people:
            raise ValueError("a majority needs at least one person")
        # Every generated episode asks about the same places.
        self._wanted: dict[tuple[str, str, str], bool] = {}

    def wants(self, category: str, room: str, receptacle: str) -> bool:
        """See Preferences.wants."""
        place = category, room, receptacle
        if (wanted := self._wanted.get(place)) is None:
            wanted = 2 * sum(person.wants(*place) for person in self._people) > len(self._people)
            self._wanted[place] = wanted
        return wanted


def bundled_people() -> list[str]:
    """Return the names of the bundled people who form the majority, in alphabetical order."""
    return [file.stem for file in find_paths(_PEOPLE, "*.yaml") if not file.name.startswith("_")]


def held_out_people() -> list[str]:
    """Return the names of the bundled people who are held out: they are not part of the majority."""
    return [file.stem for file in find_paths(_PEOPLE / _STRANGERS, "*.yaml")]


def load_preferences(name_or_path: str | Path) -> HousePreferences:
    """Load the preferences of a bundled person or of a YAML file.

    Args:
        name_or_path: Name of a bundled person, or path of a YAML file with the fields of ``PreferencesFile``.

    Raises:
        DataError: If the person does not exist, or a file is invalid. The message names the file, the field and the
            remedy.
    """
    name = str(name_or_path)
    if name in bundled_people():
        return _read_preferences(_PEOPLE / f"{name}.yaml")
    if name in held_out_people():
        return _read_preferences(_PEOPLE / _STRANGERS / f"{name}.yaml")
    path = Path(name_or_path)
    if is_file(path):
        return _read_preferences(path)
    known = ["majority", *bundled_people(), *held_out_people()]
    raise DataError(f"no person {name!r}; {suggest_names(name, known)}, or give the path of a YAML file")


@lru_cache(maxsize=1)
def default_groups() -> Mapping[str, PreferenceGroup]:
    """Return the groups of ``_base.yaml`` with their default receptacles."""
    return read_model(_PEOPLE / _BASE, DefaultPreferencesFile).groups


def _read_preferences(file: Path) -> HousePreferences:
    person = read_model(file, PreferencesFile, _REMEDY)
    groups = {**default_groups(), **person.groups}
    _check_groups(file, person.groups, groups)
    things = {thing for group in groups.values() for thing in group.things}
    for key, places in person.wants.items():
        if key not in groups and key not in things:
            raise _unknown_word_error(file, "wants", "group or category", key, [*groups, *sorted(things)])
        _check_places(file, f"wants.{key}", places)
    wants = person.wants
    resolved = {
        thing: wants.get(thing, wants.get(name, group.wanted))
        for name, group in groups.items()
        for thing in group.things
    }
    return HousePreferences(person.name, person.about, resolved)


def _check_groups(file: Path, own: Mapping[str, PreferenceGroup], groups: Mapping[str, PreferenceGroup]) -> None:
    homes: dict[str, str] = {}
    for name, group in groups.items():
        for thing in group.things:
            if thing in homes or thing in groups:
                where = f"also in groups.{homes[thing]}" if thing in homes else "also the name of a group"
                raise DataError(f"{file}: groups.{name}.things: {thing!r} is {where}; keep one of the two")
            homes[thing] = name
    for name, group in own.items():
        _check_places(file, f"groups.{name}.wanted", group.wanted)


def _check_places(file: Path, field: str, places: Places) -> None:
    for room, kinds in places.items():
        if room not in (*ROOM_KINDS, ANY_ROOM):
            raise _unknown_word_error(file, field, "room", room, [*ROOM_KINDS, ANY_ROOM])
        for kind in kinds:
            if kind not in RECEPTACLE_KINDS:
                raise _unknown_word_error(file, f"{field}.{room}", "receptacle", kind, RECEPTACLE_KINDS)


def _unknown_word_error(file: Path, field: str, what: str, word: str, known: Sequence[str]) -> DataError:
    close = difflib.get_close_matches(word.replace("_", " "), known, n=1) or difflib.get_close_matches(word, known, n=1)
    if close:
        remedy = f"did you mean {close[0]!r}?"
    elif len(known) <= len(RECEPTACLE_KINDS):
        remedy = f"use one of: {', '.join(known)}"
    else:
        remedy = "use a name from _base.yaml, or add a group with it under groups"
    return DataError(f"{file}: {field}: unknown {what} {word!r}; {remedy}")
