"""What people want: for any category of object, the places where it belongs.

A person's taste is a YAML file that anybody can edit. It names groups of things, or single categories, and
the kinds of receptacle in each kind of room where they are welcome; whatever it leaves out is as in
``housekeep_configs/people/_base.yaml``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from housewise.core.errors import DataError, suggest_names
from housewise.core.files import find_paths
from housewise.core.text_files import is_file
from housewise.core.yaml_files import read_yaml

Places = dict[str, list[str]]
"""Kinds of receptacle by kind of room; the room may be ``"any room"``."""

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

_BASE, _STRANGERS = "_base.yaml", "opinionated"

_File = TypeVar("_File", bound=BaseModel)


class Preferences(Protocol):
    """One person's, or a household's, idea of order.

    Attributes:
        name: of the person or the group, for example ``"majority"`` or ``"ada"``.
    """

    name: str

    def wants(self, category: str, room: str, receptacle: str) -> bool:
        """Whether this person is content to find such an object there.

        Args:
            category: of the object, with underscores, for example ``"tea_towel"``.
            room: kind of the room, as spoken, for example ``"living room"``.
            receptacle: kind of the receptacle, as spoken, for example ``"coffee table"``.
        """
        ...


class Group(BaseModel):
    """Things that belong together, and where they are welcome unless a person says otherwise."""

    model_config = ConfigDict(extra="forbid")

    things: list[str] = Field(min_length=1)
    wanted: Places = Field(min_length=1)


class PersonFile(BaseModel):
    """What a person's file may hold.

    Attributes:
        name: as the person is called in commands and results.
        about: a sentence about the person.
        wants: places by group or category; a category's own entry counts more than its group's.
        groups: groups that the common file lacks.
    """

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1)
    about: str = ""
    wants: dict[str, Places] = Field(default_factory=dict)
    groups: dict[str, Group] = Field(default_factory=dict)


class BaseFile(BaseModel):
    """What the common file may hold."""

    model_config = ConfigDict(extra="forbid")

    groups: dict[str, Group]


class Person:
    """One person's idea of order; see Preferences.

    Args:
        name: of the person.
        about: a sentence about the person.
        places: where each category is wanted.
    """

    def __init__(self, name: str, about: str, places: Mapping[str, Places]) -> None:
        self.name = name
        self.about = about
        self._places = places

    @property
    def categories(self) -> tuple[str, ...]:
        """Every category of object that this person has a wish for."""
        return tuple(self._places)

    def places(self, category: str) -> Places:
        """Where such an object is wanted; empty when the person has no wish for it."""
        return self._places.get(category, {})

    def wants(self, category: str, room: str, receptacle: str) -> bool:
        """See Preferences.wants; a category that the person's file does not know is wanted nowhere."""
        places = self.places(category)
        return receptacle in places.get(room, ()) or receptacle in places.get(ANY_ROOM, ())


class Majority:
    """What more than half of some people want; see Preferences.

    Args:
        people: whose wishes count, each as much as any other.
    """

    name = "majority"

    def __init__(self, people: Sequence[Preferences]) -> None:
        self._people = tuple(people)

    def wants(self, category: str, room: str, receptacle: str) -> bool:
        """See Preferences.wants."""
        return 2 * sum(person.wants(category, room, receptacle) for person in self._people) > len(self._people)


def majority(people: Iterable[Preferences]) -> Preferences:
    """Combine people: an object belongs where more than half of them want it.

    Raises:
        ValueError: when there is nobody.
    """
    everyone = list(people)
    if not everyone:
        raise ValueError("a majority needs at least one person")
    return Majority(everyone)


def people() -> list[str]:
    """Names of the people that come with the package, in alphabetical order."""
    return [file.stem for file in find_paths(_folder(), "*.yaml") if not file.name.startswith("_")]


def strangers() -> list[str]:
    """Names of people who come along as well, and for whom nothing else was made: no majority has them in it."""
    return [file.stem for file in find_paths(_folder() / _STRANGERS, "*.yaml")]


def load_person(name_or_path: str | Path) -> Person:
    """Read what a person wants.

    Args:
        name_or_path: one of people() or strangers(), or the path of a YAML file of the same form.

    Raises:
        DataError: when there is no such person, or a file is wrong; it names the file, the field and the remedy.
    """
    name = str(name_or_path)
    if name in people():
        return _read_person(_folder() / f"{name}.yaml")
    if name in strangers():
        return _read_person(_folder() / _STRANGERS / f"{name}.yaml")
    path = Path(name_or_path)
    if is_file(path):
        return _read_person(path)
    known = ["majority", *people(), *strangers()]
    raise DataError(f"no person {name!r}; {suggest_names(name, known)}, or give the path of a YAML file")


@lru_cache(maxsize=1)
def base_groups() -> Mapping[str, Group]:
    """What most people would agree on, by group."""
    return _parse(_folder() / _BASE, BaseFile).groups


def _folder() -> Path:
    return Path(str(resources.files("housewise.housekeep_configs"))) / "people"


def _read_person(file: Path) -> Person:
    person = _parse(file, PersonFile)
    groups = {**base_groups(), **person.groups}
    _check_groups(file, person.groups, groups)
    things = {thing for group in groups.values() for thing in group.things}
    for key, places in person.wants.items():
        if key not in groups and key not in things:
            raise _unknown(file, "wants", "group or category", key, [*groups, *sorted(things)])
        _check_places(file, f"wants.{key}", places)
    return Person(person.name, person.about, _resolved(groups, person.wants))


def _resolved(groups: Mapping[str, Group], wants: Mapping[str, Places]) -> dict[str, Places]:
    """The places of each category: its own wish, else its group's, else what is usual."""
    return {
        thing: wants.get(thing, wants.get(name, group.wanted))
        for name, group in groups.items()
        for thing in group.things
    }


def _check_groups(file: Path, own: Mapping[str, Group], groups: Mapping[str, Group]) -> None:
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
            raise _unknown(file, field, "room", room, [*ROOM_KINDS, ANY_ROOM])
        for kind in kinds:
            if kind not in RECEPTACLE_KINDS:
                raise _unknown(file, f"{field}.{room}", "receptacle", kind, RECEPTACLE_KINDS)


def _unknown(file: Path, field: str, what: str, word: str, known: Sequence[str]) -> DataError:
    close = difflib.get_close_matches(word.replace("_", " "), known, n=1) or difflib.get_close_matches(word, known, n=1)
    if close:
        remedy = f"did you mean {close[0]!r}?"
    elif len(known) <= len(RECEPTACLE_KINDS):
        remedy = f"use one of: {', '.join(known)}"
    else:
        remedy = "use a name from _base.yaml, or add a group with it under groups"
    return DataError(f"{file}: {field}: unknown {what} {word!r}; {remedy}")


def _parse(file: Path, model: type[_File]) -> _File:
    content = read_yaml(file, "check indentation and colons, and save it as UTF-8")
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise DataError(f"{file}: {_first_problem(error, model)}") from error


def _first_problem(error: ValidationError, model: type[BaseModel]) -> str:
    problem = error.errors()[0]
    field = ".".join(str(part) for part in problem["loc"]) or "the whole file"
    fields = ", ".join((Group if field.startswith("groups.") else model).model_fields)
    remedies = {
        "missing": "add it",
        "extra_forbidden": f"take it out, or use one of: {fields}",
        "model_type": f"write the fields {fields} as 'field: value' lines",
        "dict_type": "write it as 'kind of room: [kinds of receptacle]' lines",
        "list_type": "write it as a list in square brackets",
        "string_type": "write it as text, in quotes where YAML reads it as a number or as yes or no",
    }
    return f"{field}: {problem['msg'].lower()}; {remedies.get(problem['type'], 'correct it')}"
