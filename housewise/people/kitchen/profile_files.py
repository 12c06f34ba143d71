"""Reads kitchen profiles from YAML files and checks them.

A file describes one person, or several in a list under ``people``::

    name: ada
    about: A line on who this is.
    groups:                        # optional: further groups of things, as in housekeep_configs/kitchen/groups.yaml
      fizzy: [water_bottle_0]
    preferences:
      - id: "1"                    # unique for the person
        text: I like whole milk in my coffee.
        paraphrase: Whole milk, a good splash. # optional: the text in other words, for paraphrased answers
        category: addition         # variation, addition, exclusion, order, tool, place or preparation
        tasks: coffee              # numbers of tasks, names of dishes or of sets of tasks, or a list of them
        dishes: [coffee]           # optional: violated when the task asks for one of these and it was not made
        if: available(milk_whole)  # optional: not applicable unless this holds
        wants: together(milk_whole, coffee)

Tasks, dishes and sets are those of ``housekeep_configs/kitchen/tasks.yaml``. ``conditions.py`` documents the language
of ``if`` and ``wants``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field

from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError, suggest_names
from housewise.core.files import find_paths
from housewise.core.text_files import is_file
from housewise.core.validation import StrictModel, first_repeated, validate_model
from housewise.core.yaml_files import read_yaml
from housewise.language.words import one_line
from housewise.people.kitchen.conditions import Condition, ConditionError, GroupLookup, parse_condition
from housewise.people.kitchen.consistency import find_contradiction
from housewise.people.kitchen.profiles import Category, KitchenPreference, KitchenProfile
from housewise.worlds.kitchen.kitchen_data import KitchenData, load_kitchen, resolve_groups

ADAPT_PROFILES = CONFIGS / "people" / "adapt"
"""Folder of the sixteen people of ADAPT."""
MAX_FILE_BYTES = 1_000_000
MAX_PREFERENCES = 200
"""Preferences of a person; every pair of them is checked for contradictions."""


class _Strict(StrictModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)


class _PublishedLine(_Strict):
    tasks: Any = None
    if_: str | None = Field(default=None, alias="if")
    always: bool = False
    wants: str | None = None


class _Line(_Strict):
    id: str = Field(min_length=1, max_length=40)
    text: str = Field(min_length=1, max_length=500)
    paraphrase: str = Field(default="", max_length=500)
    category: Category
    tasks: Any
    dishes: tuple[str, ...] = ()
    if_: str | None = Field(default=None, alias="if")
    wants: str
    published: _PublishedLine | None = None


class _ProfileFile(_Strict):
    name: str = Field(min_length=1, max_length=80)
    about: str = ""
    published_undone_weight: int = Field(default=1, ge=1, le=10)
    groups: dict[str, list[str]] = Field(default_factory=dict)
    preferences: tuple[_Line, ...] = Field(min_length=1, max_length=MAX_PREFERENCES)


def load_profiles(path: str | Path) -> list[KitchenProfile]:
    """Read the profiles of a file, or of all YAML files of a folder in alphabetical order.

    Raises:
        DataError: A file is missing or invalid. The message names the file, the person, the preference, the field and
            the remedy.
    """
    path = Path(path)
    return list(_bundled_profiles()) if path == ADAPT_PROFILES else _read_profiles(path)


@cache
def _bundled_profiles() -> tuple[KitchenProfile, ...]:
    """Return the profiles of ADAPT's people, whose wishes take a while to check."""
    return tuple(_read_profiles(ADAPT_PROFILES))


def _read_profiles(path: Path) -> list[KitchenProfile]:
    if not (is_file(path) or path.is_dir()):
        raise DataError(f"{path}: no such file or folder of people")
    profiles = [profile for file in find_profile_files(path) for profile in _read_file(file, load_kitchen())]
    if not profiles:
        raise DataError(f"{path}: no people are described there (files end in .yaml)")
    if name := first_repeated(profile.name for profile in profiles):
        raise DataError(f"{path}: two people are named {name!r}; give each a different name")
    return profiles


def split_person(text: str) -> tuple[Path | None, str | None]:
    """Split the name of a person with their file, as in ``mine.yaml:zoe``.

    The name of one of ADAPT's people is never a file or a folder of that name; ``./juan`` is.

    Returns:
        The file or folder of people, or None for those of ADAPT, and the name, or None for everybody in the file.
    """
    file, colon, name = text.rpartition(":")
    is_path = Path(text).exists() and all(person.name != text for person in load_profiles(ADAPT_PROFILES))
    if is_path or text.endswith((".yaml", ".yml")):
        return Path(text), None
    return (Path(file), name) if colon else (None, text)


def find_profile_files(path: str | Path) -> list[Path]:
    """Return the YAML files of a folder, or the given file."""
    path = Path(path)
    return find_paths(path, "*.yaml") + find_paths(path, "*.yml") if path.is_dir() else [path]


def check_paraphrases(profile: KitchenProfile) -> None:
    """Check that every preference of a profile has a paraphrase.

    Raises:
        DataError: A preference has none; the message names the first.
    """
    for preference in profile.preferences:
        if not preference.paraphrase:
            raise DataError(
                f"{profile.name}, preference {preference.id}: has no paraphrase to answer with; add the key paraphrase"
            )


def parse_profile(content: Any, kitchen: KitchenData, where: str) -> KitchenProfile:
    """Build a profile from the content of a YAML file.

    Args:
        content: The parsed YAML of one person.
        kitchen: The things, groups, dishes and tasks that the profile may name.
        where: Name of the file, for messages.

    Raises:
        DataError: See ``load_profiles``.
    """
    file = validate_model(_ProfileFile, content, where)
    where = f"{where}: {file.name}"
    groups = _own_groups(file, kitchen, where)

    def lookup(name: str) -> frozenset[str] | None:
        return groups.get(name) or kitchen.find_ids(name)

    preferences = tuple(
        _preference(line, lookup, kitchen, f"{where}, preference {line.id}") for line in file.preferences
    )
    if id := first_repeated(preference.id for preference in preferences):
        raise DataError(f"{where}: two preferences have the id {id!r}; give each a different one")
    if problem := find_contradiction(preferences, kitchen):
        raise DataError(f"{where}: {problem}")
    return KitchenProfile(file.name, file.about, preferences, file.published_undone_weight)


def _read_file(file: Path, kitchen: KitchenData) -> list[KitchenProfile]:
    if file.stat().st_size > MAX_FILE_BYTES:
        raise DataError(f"{file}: has more than {MAX_FILE_BYTES} bytes; split it into several files")
    content = read_yaml(file)
    if isinstance(content, dict) and "people" in content:
        people = content["people"]
        if not isinstance(people, list) or len(content) > 1:
            raise DataError(f"{file}: people has to be a list of people, and the only key of the file")
        return [parse_profile(person, kitchen, f"{file}: people.{index}") for index, person in enumerate(people)]
    return [parse_profile(content, kitchen, str(file))]


def _own_groups(file: _ProfileFile, kitchen: KitchenData, where: str) -> Mapping[str, frozenset[str]]:
    if not file.groups:
        return {}
    for name in file.groups:
        if name in kitchen.groups or name in kitchen.ids:
            raise DataError(f"{where}: the kitchen has a group or thing {name!r} already; choose another name")
        if not name.isidentifier():
            raise DataError(f"{where}: a group cannot be named {name!r}; use letters and underscores")
    groups = resolve_groups(file.groups, kitchen.ids, where, kitchen.groups)
    if empty := [name for name, ids in groups.items() if not ids]:
        raise DataError(f"{where}: the group {empty[0]!r} is empty; list things, or leave it out")
    return groups


def _preference(line: _Line, lookup: GroupLookup, kitchen: KitchenData, where: str) -> KitchenPreference:
    for dish in line.dishes:
        if dish not in kitchen.tasks.dishes:
            raise DataError(f"{where}: unknown dish {dish!r}; {suggest_names(dish, kitchen.tasks.dishes)}")

    def condition(text: str, field: str) -> Condition:
        try:
            return parse_condition(text, lookup)
        except ConditionError as error:
            raise DataError(f"{where}: {field}: {error}") from error

    preference = KitchenPreference(
        id=line.id,
        text=one_line(line.text),
        category=line.category,
        tasks=_task_numbers(line.tasks, kitchen, where),
        dishes=line.dishes,
        condition=condition(line.if_, "if") if line.if_ else None,
        wish=condition(line.wants, "wants"),
        if_text=line.if_ or "",
        wants_text=line.wants,
        paraphrase=one_line(line.paraphrase),
    )
    if (other := line.published) is None:
        return preference
    published = preference
    if other.tasks is not None:
        published = replace(published, tasks=_task_numbers(other.tasks, kitchen, where))
    if other.always:
        published = replace(published, condition=None, if_text="")
    elif other.if_:
        published = replace(published, condition=condition(other.if_, "published.if"), if_text=other.if_)
    if other.wants:
        published = replace(published, wish=condition(other.wants, "published.wants"), wants_text=other.wants)
    return replace(preference, published=published)


def _task_numbers(given: Any, kitchen: KitchenData, where: str) -> tuple[int, ...]:
    """Resolve task numbers, names of dishes and names of task sets."""
    numbers: set[int] = set()
    for each in given if isinstance(given, list) else [given]:
        found = kitchen.tasks.find_tasks(each) if isinstance(each, str) else None
        if found is not None:
            numbers.update(found)
        elif type(each) is int and each in kitchen.tasks.tasks:
            numbers.add(each)
        else:
            known = [*kitchen.tasks.sets, *kitchen.tasks.dishes]
            text = repr(each) if isinstance(each, str | int | float) else f"of type {type(each).__name__}"
            raise DataError(
                f"{where}: unknown task {text[:60]}; use 1 to {max(kitchen.tasks.tasks)}, {', '.join(known)}"
            )
    return tuple(sorted(numbers))
