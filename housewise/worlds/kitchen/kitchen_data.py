"""Reads the fixed data of the text kitchen from YAML: house, objects, groups, tasks and verbs.

The files are in ``housekeep_configs/kitchen/``. Each begins with a comment that explains it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError
from housewise.core.validation import StrictModel, read_model
from housewise.core.yaml_files import read_yaml
from housewise.language.words import occurs_in_verb
from housewise.worlds.kitchen.state import Entity, Place, Relation

KITCHEN_FOLDER = CONFIGS / "kitchen"
_NUMBER = re.compile(r"_\d+$")


class KitchenThing(StrictModel):
    """A thing in ``house.yaml`` or ``objects.yaml``. A plain text is short for its description."""

    description: str = Field(alias="is")
    affords: frozenset[str] = frozenset()
    holds: str | None = None
    kind: str | None = None
    relation: Relation = "in"
    tags: frozenset[str] = frozenset()
    always: bool = False

    @model_validator(mode="before")
    @classmethod
    def _expand_text(cls, content: Any) -> Any:
        return {"is": content} if isinstance(content, str) else content

    def entity(self, id: str) -> Entity:
        """Return the thing as an entity of a state."""
        return Entity(id, self.kind or _NUMBER.sub("", id), self.description, self.affords, self.holds)


class KitchenLayout(StrictModel):
    """Rooms and things with their places.

    Attributes:
        rooms: Descriptions by id; empty for a layout that adds things to another.
        presence: Probability (0 to 1) that a thing is in a scene, unless it is marked with ``always``.
        things: Things by the id of their holder, then by their own.
    """

    rooms: dict[str, str] = Field(default_factory=dict)
    presence: float = Field(default=1.0, ge=0, le=1)
    things: dict[str, dict[str, KitchenThing]] = Field(default_factory=dict)

    @cached_property
    def things_by_id(self) -> Mapping[str, KitchenThing]:
        """All things, without their holders."""
        return {id: thing for inside in self.things.values() for id, thing in inside.items()}

    def entities(self) -> list[Entity]:
        """Return rooms and things as entities of a state."""
        rooms = [Entity(id, id, text, frozenset({"room"})) for id, text in self.rooms.items()]
        return rooms + [thing.entity(id) for id, thing in self.things_by_id.items()]

    def places(self) -> dict[str, Place]:
        """Return the place of each thing."""
        return {
            id: Place(holder, thing.relation) for holder, inside in self.things.items() for id, thing in inside.items()
        }


class Dish(StrictModel):
    """A dish that a task may ask for.

    Attributes:
        of: Group of its main ingredient.
        made: The condition under which it counts as made.
        published: The condition of the authors' published functions.
    """

    of: str
    made: str
    published: str


class KitchenTask(StrictModel):
    """A task: the robot's instruction and the dishes that it asks for."""

    text: str
    dishes: tuple[str, ...]


class KitchenTasks(StrictModel):
    """All dishes, tasks by number, and named sets of tasks."""

    dishes: dict[str, Dish]
    tasks: dict[int, KitchenTask]
    sets: dict[str, tuple[int, ...]]

    def find_tasks(self, name: str) -> tuple[int, ...] | None:
        """Return the tasks of a set, or those that ask for a dish, or None for an unknown name."""
        if name in self.sets:
            return self.sets[name]
        if name in self.dishes:
            return tuple(number for number, task in self.tasks.items() if name in task.dishes)
        return None


_TEMPLATE_VERBS = frozenset({"cook", "mix", "chop"})
"""Verbs with an action template of their own."""


class KitchenVerbs(StrictModel):
    """Verbs for preparing food.

    Attributes:
        open: Verbs that can be used in open-set actions.
        cooking: Verbs that cook food and need an appliance.
        warming: Verbs that cook food if it is on an appliance.
    """

    open: tuple[str, ...]
    cooking: frozenset[str]
    warming: frozenset[str]

    def matching_verbs(self, word: str) -> list[str]:
        """Return the verbs that a word of a condition matches; see ``people.kitchen.conditions``."""
        return sorted(
            verb
            for verb in {*self.open, *self.cooking, *self.warming, *_TEMPLATE_VERBS}
            if occurs_in_verb([word], verb)
        )


# Compared by identity, so that what is found out about a kitchen can be kept by it.
@dataclass(frozen=True, eq=False)
class KitchenData:
    """All fixed data of the text kitchen.

    Attributes:
        house: Rooms, furniture and appliances.
        furniture: Places of furniture and appliances.
        objects: The objects that a scene may contain.
        groups: The ids of each group, with nested groups resolved.
        tasks: Dishes and tasks.
        verbs: Verbs for preparing food.
        kinds: The kind of each id. Things of one kind count once where kinds are counted.
    """

    house: KitchenLayout
    furniture: Mapping[str, Place]
    objects: KitchenLayout
    groups: Mapping[str, frozenset[str]]
    tasks: KitchenTasks
    verbs: KitchenVerbs
    kinds: Mapping[str, str]

    @cached_property
    def _entities(self) -> list[Entity]:
        return self.house.entities() + self.objects.entities()

    @cached_property
    def foods(self) -> frozenset[str]:
        """Ids of things that can become part of a dish: food and packets of food."""
        return frozenset(thing.id for thing in self._entities if thing.can("edible") or thing.contents is not None)

    @cached_property
    def usable(self) -> frozenset[str]:
        """Ids of things that can be used: what can be moved, cooked on or filled with food."""
        able = ("movable", "cooks", "container")
        fixed = self.furniture.keys() | self.house.rooms.keys()
        return self.foods.union(
            thing.id for thing in self._entities if thing.id not in fixed or any(map(thing.can, able))
        )

    def find_ids(self, name: str) -> frozenset[str] | None:
        """Return the ids of a group, of a thing, or of a room with its furniture, or None for an unknown name."""
        if name in self.groups:
            return self.groups[name]
        if name in self.house.rooms:
            # Food on a table is also in its room.
            return frozenset({name, *(id for id, place in self.furniture.items() if place.holder == name)})
        return frozenset({name}) if name in self.ids else None

    @property
    def ids(self) -> frozenset[str]:
        """All ids that a scene can contain."""
        return frozenset(self.kinds)


@lru_cache(maxsize=4)
def load_kitchen(folder: Path = KITCHEN_FOLDER) -> KitchenData:
    """Read the five files of a kitchen.

    Raises:
        DataError: A file is missing or invalid.
    """
    house = read_model(folder / "house.yaml", KitchenLayout)
    objects = read_model(folder / "objects.yaml", KitchenLayout)
    entities = house.entities() + objects.entities()
    known = {entity.id for entity in entities}
    for layout, name in ((house, "house.yaml"), (objects, "objects.yaml")):
        for holder in layout.things:
            if holder not in known:
                raise DataError(f"{folder / name}: things are in {holder!r}, which is listed nowhere")
    return KitchenData(
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
    """Return the ids of each group, with nested groups resolved.

    Args:
        groups: Lists of ids and names of groups, by name, as read from a file.
        ids: All known things.
        where: Name of the file, for messages.
        known: Further groups that may be listed, already resolved.

    Raises:
        DataError: A listed name is neither a thing nor a group, or groups list each other in a circle.
    """
    if not isinstance(groups, dict) or not all(isinstance(listed, list) for listed in groups.values()):
        raise DataError(f"{where}: groups have to be lists of things by the name of the group")
    members = {str(name): list(map(str, listed)) for name, listed in groups.items()}
    try:
        nested = {name: members.keys() & listed for name, listed in members.items()}
        order = list(TopologicalSorter(nested).static_order())
    except CycleError as error:
        cycle = error.args[1][::-1]
        raise DataError(f"{where}: the group {cycle[0]!r} lists itself ({' -> '.join(cycle)})") from error
    found = {id: frozenset({id}) for id in ids} | dict(known or {})
    for name in order:
        for listed in members[name]:
            if listed not in found:
                raise DataError(f"{where}: the group {name!r} lists {listed!r}, which is neither a thing nor a group")
        found[name] = frozenset().union(*(found[listed] for listed in members[name]))
    return {name: found[name] for name in members}
