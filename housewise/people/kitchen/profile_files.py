"""People of the kitchen as data: who they are and what they want of a breakfast, read from YAML and checked.

A file describes one person, or several in a list under ``people``::

    name: ada
    about: A line on who this is.
    groups:                        # optional: further groups of things, as in housekeep_configs/kitchen/groups.yaml
      fizzy: [water_bottle_0]
    preferences:
      - id: "1"                    # unique for the person
        text: I like whole milk in my coffee.
        paraphrase: Whole milk, a good splash. # optional: how it is said where answers are to be in other words
        category: addition         # variation, addition, exclusion, order, tool, place or preparation
        tasks: coffee              # numbers of tasks, names of dishes or of sets of tasks, or a list of them
        dishes: [coffee]           # optional: violated when the task asks for one of these and it was not made
        if: available(milk_whole)  # optional: not applicable unless this holds
        wants: together(milk_whole, coffee)

Tasks, dishes and sets are those of ``housekeep_configs/kitchen/tasks.yaml``; ``people.language`` says what ``if`` and
``wants`` can say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator

from housewise.core.errors import DataError
from housewise.core.files import find_paths
from housewise.core.text_files import is_file
from housewise.core.yaml_files import read_yaml
from housewise.language.words import one_line
from housewise.people.kitchen.conditions import Condition, ConditionError, GroupLookup, parse_condition
from housewise.people.kitchen.contradictions import find_contradiction
from housewise.worlds.kitchen.kitchen_data import Kitchen, load_kitchen, resolve_groups, validate_model

Category = Literal["variation", "addition", "exclusion", "order", "tool", "place", "preparation"]
ADAPT_PROFILES = Path(str(resources.files("housewise.housekeep_configs"))) / "people" / "adapt"  # the sixteen of ADAPT
MAX_FILE_BYTES = 1_000_000  # bytes of a people file
MAX_PREFERENCES = 200  # of a person: each two of them are looked at for contradictions


@dataclass(frozen=True)
class PublishedDecision:
    """How the authors' published function decides, where that is not what the text says.

    Attributes:
        tasks: those that it concerns.
        condition: None where it is applicable whenever the task concerns it.
        wish: what satisfies.
    """

    tasks: tuple[int, ...]
    condition: Condition | None
    wish: Condition
    if_text: str
    wants_text: str


@dataclass(frozen=True)
class KitchenPreference:
    """One wish of a person.

    Attributes:
        tasks: the numbers of the tasks that it concerns.
        dishes: the dishes that it is about.
        condition: applicable only where this holds; None for always.
        paraphrase: the text in other words, which no robot is trained with; empty where there is none.
        wish: what satisfies it.
        if_text, wants_text: the two as written.
        published: how the published function decides where it differs; None where it decides alike.
    """

    id: str
    text: str
    category: Category
    tasks: tuple[int, ...]
    dishes: tuple[str, ...]
    condition: Condition | None
    wish: Condition
    if_text: str
    wants_text: str
    published: PublishedDecision | None = None
    paraphrase: str = ""


@dataclass(frozen=True)
class KitchenProfile:
    """Somebody for whom breakfast is made."""

    name: str
    about: str
    preferences: tuple[KitchenPreference, ...]
    published_undone_weight: int = 1  # how often the published functions count what was not made


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)


class _PublishedLine(_Strict):
    tasks: Any = None
    if_: str | None = Field(default=None, alias="if")
    always: bool = False
    wants: str | None = None


class _Line(_Strict):
    id: str = Field(min_length=1, max_length=40)
    text: str = Field(min_length=1, max_length=500)
    paraphrase: str = Field(default="", max_length=500)
    category: str
    tasks: Any
    dishes: tuple[str, ...] = ()
    if_: str | None = Field(default=None, alias="if")
    wants: str
    published: _PublishedLine | None = None

    @field_validator("category")
    @classmethod
    def _known_category(cls, category: str) -> str:
        if category not in get_args(Category):
            raise ValueError(f"unknown category {category!r}; use one of {', '.join(get_args(Category))}")
        return category


class _PersonFile(_Strict):
    name: str = Field(min_length=1, max_length=80)
    about: str = ""
    published_undone_weight: int = Field(default=1, ge=1, le=10)
    groups: dict[str, list[str]] = {}
    preferences: tuple[_Line, ...] = Field(min_length=1, max_length=MAX_PREFERENCES)


def load_profiles(path: str | Path, kitchen: Kitchen | None = None) -> list[KitchenProfile]:
    """The people of a file, or of all YAML files of a folder, in the order of their names.

    Raises:
        DataError: a line naming the file, the person and preference, the field and the remedy.
    """
    kitchen = kitchen or load_kitchen()
    path = Path(path)
    if not (is_file(path) or path.is_dir()):
        raise DataError(f"{path}: there is no such file or folder of people")
    people = [person for file in find_profile_files(path) for person in _read(file, kitchen)]
    if not people:
        raise DataError(f"{path}: no people are described there (files end in .yaml)")
    names = [person.name for person in people]
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{path}: two people are named {name!r}; give each a name of their own")
    return people


def find_profile_files(path: str | Path) -> list[Path]:
    """The files that people are read from."""
    path = Path(path)
    return find_paths(path, "*.yaml") + find_paths(path, "*.yml") if path.is_dir() else [path]


def check_paraphrases(person: KitchenProfile) -> None:
    """See whether a person can say all that they want in other words.

    Raises:
        DataError: naming the first preference without a paraphrase.
    """
    for wish in person.preferences:
        if not wish.paraphrase:
            raise DataError(
                f"{person.name}, preference {wish.id}: has no paraphrase to answer with; add the key paraphrase"
            )


def _read(file: Path, kitchen: Kitchen) -> list[KitchenProfile]:
    if file.stat().st_size > MAX_FILE_BYTES:
        raise DataError(f"{file}: has more than {MAX_FILE_BYTES} bytes; no people file is that large")
    content = read_yaml(file)
    if isinstance(content, dict) and "people" in content:
        listed = content["people"]
        if not isinstance(listed, list) or len(content) > 1:
            raise DataError(f"{file}: people has to be a list of people, and all that the file says")
        return [parse_profile(one, kitchen, f"{file}: people.{index}") for index, one in enumerate(listed)]
    return [parse_profile(content, kitchen, str(file))]


def parse_profile(content: Any, kitchen: Kitchen, where: str) -> KitchenProfile:
    """One person, as read from a file.

    Args:
        where: the file, for messages.

    Raises:
        DataError: as ``load_people``.
    """
    read = validate_model(content, _PersonFile, where)
    where = f"{where}: {read.name}"
    groups = _groups(read, kitchen, where)

    def lookup(name: str) -> frozenset[str] | None:
        return groups.get(name) or kitchen.find_ids(name)

    preferences = tuple(
        _preference(line, lookup, kitchen, f"{where}, preference {line.id}") for line in read.preferences
    )
    ids = [preference.id for preference in preferences]
    for id in ids:
        if ids.count(id) > 1:
            raise DataError(f"{where}: two preferences have the id {id!r}; give each its own")
    person = KitchenProfile(read.name, read.about, preferences, read.published_undone_weight)
    found = find_contradiction(person.preferences, kitchen)
    if found is not None:
        raise DataError(f"{where}: {found}")
    return person


def _groups(read: _PersonFile, kitchen: Kitchen, where: str) -> Mapping[str, frozenset[str]]:
    for name in read.groups:
        if name in kitchen.groups or name in kitchen.ids:
            raise DataError(f"{where}: the kitchen has a group or thing {name!r} already; choose another name")
        if not name.isidentifier():
            raise DataError(f"{where}: a group cannot be named {name!r}; use letters and underscores")
    own = resolve_groups(read.groups, kitchen.ids, where, kitchen.groups)
    for name, ids in own.items():
        if not ids:
            raise DataError(f"{where}: the group {name!r} is empty; list things, or leave it out")
    return own


def _preference(line: _Line, lookup: GroupLookup, kitchen: Kitchen, where: str) -> KitchenPreference:
    for dish in line.dishes:
        if dish not in kitchen.tasks.dishes:
            raise DataError(f"{where}: unknown dish {dish!r}; use {', '.join(kitchen.tasks.dishes)}")

    def condition(text: str, field: str) -> Condition:
        try:
            return parse_condition(text, lookup)
        except ConditionError as error:
            raise DataError(f"{where}: {field}: {error}") from error

    tasks = _tasks(line.tasks, kitchen, where)
    if_ = condition(line.if_, "if") if line.if_ else None
    wish = condition(line.wants, "wants")
    published = None
    if line.published is not None:
        said = line.published
        published = PublishedDecision(
            tasks=_tasks(said.tasks, kitchen, where) if said.tasks is not None else tasks,
            condition=None if said.always else condition(said.if_, "published.if") if said.if_ else if_,
            wish=condition(said.wants, "published.wants") if said.wants else wish,
            if_text="" if said.always else said.if_ or line.if_ or "",
            wants_text=said.wants or line.wants,
        )
    return KitchenPreference(
        id=line.id,
        text=one_line(line.text),
        category=line.category,  # type: ignore[arg-type]  # checked by the validator
        tasks=tasks,
        dishes=line.dishes,
        condition=if_,
        wish=wish,
        if_text=line.if_ or "",
        wants_text=line.wants,
        published=published,
        paraphrase=one_line(line.paraphrase),
    )


def _tasks(said: Any, kitchen: Kitchen, where: str) -> tuple[int, ...]:
    numbers: set[int] = set()
    for one in said if isinstance(said, list) else [said]:
        named = kitchen.tasks.find_tasks(one) if isinstance(one, str) else None
        if named is not None:
            numbers.update(named)
        elif type(one) is int and one in kitchen.tasks.tasks:
            numbers.add(one)
        else:
            known = [*kitchen.tasks.sets, *kitchen.tasks.dishes]
            shown = repr(one) if isinstance(one, str | int | float) else f"of type {type(one).__name__}"
            raise DataError(
                f"{where}: unknown task {shown[:60]}; use 1 to {max(kitchen.tasks.tasks)}, {', '.join(known)}"
            )
    return tuple(sorted(numbers))
