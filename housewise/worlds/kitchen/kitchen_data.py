"""The text kitchen as data: its house, its objects, groups of them, tasks and verbs, read from YAML and checked.

The files are in ``housekeep_configs/kitchen/``; each begins with a comment that explains it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from housewise.core.errors import DataError
from housewise.core.yaml_files import read_yaml
from housewise.language.words import occurs_in_verb
from housewise.worlds.kitchen.state import Entity, Place, Relation

KITCHEN_FOLDER = Path(str(resources.files("housewise.housekeep_configs"))) / "kitchen"
_NUMBER = re.compile(r"_\d+$")
_Model = TypeVar("_Model", bound=BaseModel)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class KitchenThing(_Strict):
    """One line of ``house.yaml`` or ``objects.yaml``; a bare text is its description."""

    description: str = Field(alias="is")
    affords: frozenset[str] = frozenset()
    holds: str | None = None
    kind: str | None = None
    relation: Relation = "in"
    tags: frozenset[str] = frozenset()
    always: bool = False

    def entity(self, id: str) -> Entity:
        return Entity(id, self.kind or _NUMBER.sub("", id), self.description, self.affords, self.holds)


class KitchenLayout(_Strict):
    """Rooms, and things by what they are in or on.

    Attributes:
        rooms: descriptions by id; empty where a layout only adds to another.
        presence: the probability with which a thing that is not ``always`` there is.
        things: by holder, then by id.
    """

    rooms: dict[str, str] = {}
    presence: float = Field(default=1.0, ge=0, le=1)
    things: dict[str, dict[str, KitchenThing]] = {}

    @field_validator("things", mode="before")
    @classmethod
    def _bare_texts(cls, things: Any) -> Any:
        if not isinstance(things, dict):
            return things
        return {
            holder: {id: {"is": thing} if isinstance(thing, str) else thing for id, thing in inside.items()}
            if isinstance(inside, dict)
            else inside
            for holder, inside in things.items()
        }

    def entities(self) -> list[Entity]:
        rooms = [Entity(id, id, text, frozenset({"room"})) for id, text in self.rooms.items()]
        return rooms + [thing.entity(id) for inside in self.things.values() for id, thing in inside.items()]

    def places(self) -> dict[str, Place]:
        return {
            id: Place(holder, thing.relation) for holder, inside in self.things.items() for id, thing in inside.items()
        }


class Dish(_Strict):
    """Something that a task may ask for: made of things of one group, and made when the condition holds.

    Attributes:
        published: when the authors' published functions take it for made.
    """

    of: str
    made: str
    published: str


class KitchenTask(_Strict):
    text: str
    dishes: tuple[str, ...]


class KitchenTasks(_Strict):
    dishes: dict[str, Dish]
    tasks: dict[int, KitchenTask]
    sets: dict[str, tuple[int, ...]]

    def find_tasks(self, name: str) -> tuple[int, ...] | None:
        """The tasks of a set, or those that ask for a dish; None when there is neither of that name."""
        if name in self.sets:
            return self.sets[name]
        if name in self.dishes:
            return tuple(number for number, task in self.tasks.items() if name in task.dishes)
        return None


_OWN_ACTIONS = frozenset({"cook", "mix", "chop"})  # verbs that are actions of their own


class KitchenVerbs(_Strict):
    open: tuple[str, ...]
    cooking: frozenset[str]
    warming: frozenset[str]

    def matching_verbs(self, word: str) -> list[str]:
        """Verbs that a word of people's files holds for; see people.language."""
        return sorted(
            verb for verb in {*self.open, *self.cooking, *self.warming, *_OWN_ACTIONS} if occurs_in_verb([word], verb)
        )


@dataclass(frozen=True)
class Kitchen:
    """Everything that is fixed about the text kitchen.

    Attributes:
        house: rooms, furniture and appliances.
        furniture: where each of these is, rooms left out.
        objects: what may be there besides.
        groups: the ids of each group, nested groups resolved.
        kinds: the kind of each id; two things of one kind count as one where kinds are counted.
    """

    house: KitchenLayout
    furniture: Mapping[str, Place]
    objects: KitchenLayout
    groups: Mapping[str, frozenset[str]]
    tasks: KitchenTasks
    verbs: KitchenVerbs
    kinds: Mapping[str, str]

    @cached_property
    def foods(self) -> frozenset[str]:
        """Things that can become part of a dish: food, and packets of food."""
        things = [*self.house.entities(), *self.objects.entities()]
        return frozenset(thing.id for thing in things if thing.can("edible") or thing.contents is not None)

    @cached_property
    def usable(self) -> frozenset[str]:
        """Things that can be used at all: what can be moved or cooked on, or has food put into it."""
        things = [*self.house.entities(), *self.objects.entities()]
        able = ("movable", "cooks", "container")
        fixed = self.furniture.keys() | self.house.rooms.keys()
        loose = frozenset(thing.id for thing in things if thing.id not in fixed or any(map(thing.can, able)))
        return loose | self.foods

    def find_ids(self, name: str) -> frozenset[str] | None:
        """The ids of a group, a thing, or a room and the furniture in it; None for a name of nothing."""
        if name in self.groups:
            return self.groups[name]
        if name in self.house.rooms:
            # What stands there stands in the room.
            return frozenset({name, *(id for id, place in self.furniture.items() if place.holder == name)})
        return frozenset({name}) if name in self.ids else None

    @property
    def ids(self) -> frozenset[str]:
        """Every id that a scene can have."""
        return frozenset(self.kinds)


@lru_cache(maxsize=4)
def load_kitchen(folder: Path = KITCHEN_FOLDER) -> Kitchen:
    """Read the kitchen's five files.

    Raises:
        DataError: a file is missing, is no YAML, or does not say what it should.
    """
    house = read_model(folder / "house.yaml", KitchenLayout)
    objects = read_model(folder / "objects.yaml", KitchenLayout)
    entities = house.entities() + objects.entities()
    known = {entity.id for entity in entities}
    for layout, name in ((house, "house.yaml"), (objects, "objects.yaml")):
        for holder in layout.things:
            if holder not in known:
                raise DataError(f"{folder / name}: things are in {holder!r}, which is listed nowhere")
    return Kitchen(
        house=house,
        furniture=house.places(),
        objects=objects,
        groups=resolve_groups(read_yaml(folder / "groups.yaml"), known, str(folder / "groups.yaml")),
        tasks=read_model(folder / "tasks.yaml", KitchenTasks),
        verbs=read_model(folder / "verbs.yaml", KitchenVerbs),
        kinds={entity.id: entity.kind for entity in entities},
    )


def resolve_groups(
    groups: Any, ids: Iterable[str], where: str, known: Mapping[str, frozenset[str]] | None = None
) -> dict[str, frozenset[str]]:
    """The ids of each group, with the groups that it lists written out.

    Args:
        groups: by name a list of ids and names of groups, as read from a file.
        ids: the things that exist.
        where: the file, for messages.
        known: groups resolved before, which may be listed too.

    Raises:
        DataError: something listed is neither a thing nor a group, or groups list each other in a circle.
    """
    if not isinstance(groups, dict) or not all(isinstance(listed, list) for listed in groups.values()):
        raise DataError(f"{where}: groups have to be lists of things by the name of the group")
    things = frozenset(ids)
    resolved: dict[str, frozenset[str]] = {}

    def resolve(name: str, above: tuple[str, ...]) -> frozenset[str]:
        if name in above:
            raise DataError(f"{where}: the group {name!r} lists itself ({' -> '.join([*above, name])})")
        if name not in resolved:
            found: set[str] = set()
            for listed in groups[name]:
                found |= member(str(listed), name, (*above, name))
            resolved[name] = frozenset(found)
        return resolved[name]

    def member(listed: str, name: str, above: tuple[str, ...]) -> frozenset[str]:
        if listed in groups:
            return resolve(listed, above)
        if known and listed in known:
            return known[listed]
        if listed in things:
            return frozenset({listed})
        raise DataError(f"{where}: the group {name!r} lists {listed!r}, which is neither a thing nor a group")

    try:
        for name in groups:
            resolve(str(name), ())
    except RecursionError:
        raise DataError(f"{where}: groups list each other a thousand deep; list things instead") from None
    return resolved


def read_model(file: Path, model: type[_Model]) -> _Model:
    """A YAML file as a pydantic model.

    Raises:
        DataError: naming the file, the field and what is wrong with it.
    """
    return validate_model(read_yaml(file), model, str(file))


def validate_model(content: Any, model: type[_Model], where: str) -> _Model:
    """Something read as a pydantic model.

    Raises:
        DataError: naming ``where``, the field and what is wrong with it.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "the file"
        message = first["msg"].removeprefix("Value error, ")
        raise DataError(f"{where}: {field}: {message}") from error
