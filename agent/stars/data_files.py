"""Load the data of STARS from YAML files: vocabulary, robot abilities, tasks, examples, dialogues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field

from housewise.agent.stars.situation import PerceivedThing, RobotAbilities, TargetRequirement
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.agent.stars.vocabulary import NounKind, RobotVocabulary
from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError, UserError, suggest_names
from housewise.core.printable_text import excerpt
from housewise.core.template_text import Template, template_text
from housewise.core.text_files import is_file
from housewise.core.validation import StrictModel, read_model, validate_model
from housewise.worlds.kitchen.state import Relation

T = TypeVar("T", bound=BaseModel)
Word = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9'-]*$", max_length=40)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9'-]*( [a-z0-9'-]+)*$", max_length=60)]

VOCABULARY = "vocabulary"
ROBOT = "robot"
DIALOGUE = "dialogue"
KNOWN_PLACES = "known_places.json"
"""File beside an adapter: where the things that it learned from belong. See load_examples."""
TASKS = ("tidy kitchen", "store groceries", "organize office")
"""Bundled tasks."""


class _DataFile(Template):
    name: str


class _KindSettings(StrictModel):
    is_a: Word | None = None
    affords: frozenset[Word] = frozenset()


class _VocabularySettings(_DataFile):
    words: dict[str, list[Word]]
    kinds: dict[Word, _KindSettings]
    synonyms: dict[Word, Word] = Field(default_factory=dict)
    states: dict[Word, Word] = Field(default_factory=dict)
    modifiers: frozenset[Word] = frozenset()


class _DemandSettings(StrictModel):
    reason: str
    needs: Word | None = None
    forbids: Word | None = None


class _RobotSettings(_DataFile):
    moves: Word
    relations: dict[str, _DemandSettings]


class _ObjectSettings(StrictModel):
    name: Word
    kind: Word
    wanted: tuple[Name, ...]
    plural: bool = False


class _PlaceSettings(StrictModel):
    place: Name
    relation: Relation
    subtask: Word
    objects: tuple[_ObjectSettings, ...]


class _TaskSettings(_DataFile):
    name: Name
    room: Word
    fixtures: tuple[Name, ...]
    closed: tuple[Name, ...] = ()
    open: tuple[Name, ...] = ()
    places: tuple[_PlaceSettings, ...]


class _PersonSettings(_DataFile):
    told: str = template_text("wishes")
    wish: str = template_text("seen", "places")


class _ExampleSettings(_DataFile):
    seen: dict[str, list[Name]]


class _DialogueSettings(_DataFile):
    task: str = template_text("task")
    place: tuple[str, ...] = template_text("relation", "place", "subtask")
    end: str


def load_vocabulary(name_or_path: str = VOCABULARY) -> RobotVocabulary:
    """Load a bundled vocabulary by name, or a file.

    Raises:
        UserError: The file does not exist or is malformed. The message names file, field and remedy.
    """
    settings, source = read_data_file(name_or_path, _VocabularySettings)
    parts: dict[str, frozenset[str]] = {}
    for part, words in (*settings.words.items(), ("noun", [*settings.kinds, *settings.synonyms])):
        parts |= {word: parts.get(word, frozenset()) | {part} for word in words}
    kinds = {noun: NounKind(kind.is_a, kind.affords) for noun, kind in settings.kinds.items()}
    for noun, kind in kinds.items():
        if kind.above is not None and kind.above not in kinds:
            raise DataError(f"{source}: field kinds.{noun}.is_a: {kind.above} is not a known kind; add it to kinds")
    return RobotVocabulary(parts, kinds, settings.synonyms, settings.states, settings.modifiers, source)


def load_robot(name_or_path: str = ROBOT) -> RobotAbilities:
    """Load the abilities of a robot.

    Raises:
        UserError: See :func:`load_vocabulary`.
    """
    settings, _ = read_data_file(name_or_path, _RobotSettings)
    demands = {
        name: TargetRequirement(each.reason, each.needs, each.forbids) for name, each in settings.relations.items()
    }
    return RobotAbilities(settings.moves, demands)


def load_task(name_or_path: str, vocabulary: RobotVocabulary | None = None) -> tuple[StarsTask, RobotVocabulary]:
    """Load a task, and the vocabulary extended by the names of its objects and fixtures.

    Args:
        name_or_path: "tidy kitchen", "store groceries", "organize office" or a path.
        vocabulary: Kinds and affordances. Defaults to the bundled vocabulary.

    Raises:
        UserError: See :func:`load_vocabulary`. Also raised for unknown kinds.
    """
    if name_or_path not in TASKS and not is_file(Path(name_or_path)):
        raise UserError(
            f"setting task: {excerpt(name_or_path)}: no such task or file; "
            f"{suggest_names(name_or_path, TASKS)}, or use a .yaml file"
        )
    settings, source = read_data_file(name_or_path.replace(" ", "_"), _TaskSettings, name_or_path)
    return _build_task(settings, source, vocabulary or load_vocabulary())


def build_task(
    content: Mapping[str, Any], vocabulary: RobotVocabulary, source: str
) -> tuple[StarsTask, RobotVocabulary]:
    """Build a generated task; see load_task.

    Args:
        content: Content of a task file.
        vocabulary: Kinds and affordances.
        source: Origin of the task for error messages.

    Raises:
        DataError: The content is not a valid task.
    """
    return _build_task(validate_model(_TaskSettings, content, source, "mend the file"), source, vocabulary)


def _build_task(settings: _TaskSettings, source: str, vocabulary: RobotVocabulary) -> tuple[StarsTask, RobotVocabulary]:
    kinds = dict(vocabulary.kinds)
    for place in settings.places:
        for found in place.objects:
            if found.kind not in vocabulary.kinds:
                raise DataError(
                    f"{source}: object {found.name}: {found.kind} is not a known kind; add it to the vocabulary"
                )
            if found.kind != found.name:
                kinds.setdefault(found.name, NounKind(found.kind))
    words = dict(vocabulary.words) | {noun: vocabulary.words.get(noun, frozenset()) | {"noun"} for noun in kinds}
    vocabulary = replace(vocabulary, words=words, kinds=kinds)
    task = StarsTask(
        name=settings.name,
        room=_thing(settings.room, settings.room, vocabulary),
        fixtures=tuple(_fixture(name, vocabulary, source) for name in settings.fixtures),
        objects=tuple(_objects(settings, vocabulary)),
        closed=settings.closed,
        open=settings.open,
        instructions=tuple(_instructions(settings)),
        source=source,
    )
    return task, vocabulary


def load_examples(path: str) -> Mapping[str, list[str]]:
    """Load where things seen elsewhere belong, by what was seen; see housewise.agent.stars.nearest_meaning.

    Raises:
        UserError: See :func:`load_vocabulary`.
    """
    return read_data_file(path, _ExampleSettings)[0].seen


def person_instructions(task: StarsTask) -> str:
    """Return the system message of a model that plays the person of a task.

    Raises:
        UserError: See :func:`load_vocabulary`.
    """
    settings, _ = read_data_file("person", _PersonSettings)
    lines = [settings.wish.format(seen=each.description, places=" or ".join(each.wanted)) for each in task.objects]
    return settings.told.format(wishes="\n".join(dict.fromkeys(lines)))


def read_data_file(name_or_path: str, model: type[T], called: str | None = None) -> tuple[T, str]:
    """Read and validate a bundled data file by name, or any YAML file. Also return its path.

    Raises:
        UserError: The file does not exist or is malformed. The message names file, field and remedy.
    """
    packaged = CONFIGS / "stars" / f"{name_or_path}.yaml"
    path = packaged if is_file(packaged) else Path(called or name_or_path)
    if not is_file(path):
        raise UserError(f"{path}: file not found; use an existing .yaml file")
    return read_model(path, model, "mend the file"), str(path)


def _objects(settings: _TaskSettings, vocabulary: RobotVocabulary) -> Iterator[TaskObject]:
    total = Counter(found.name for place in settings.places for found in place.objects)
    seen: Counter[str] = Counter()
    for place in settings.places:
        for found in place.objects:
            seen[found.name] += 1
            name = f"{found.name} {seen[found.name]}" if total[found.name] > 1 else found.name
            thing = _thing(name, found.name, vocabulary)
            yield TaskObject(thing, place.relation, place.place, found.wanted, place.subtask, found.plural)


def _fixture(name: str, vocabulary: RobotVocabulary, source: str) -> PerceivedThing:
    """Return the fixture with a name such as "recycling bin" or "bag 2"."""
    *modifiers, noun = [word for word in name.split() if not word.isdigit()]
    if noun not in vocabulary.kinds:
        raise DataError(f"{source}: fixture {name}: {noun} is not a known kind; add it to the vocabulary")
    return _thing(name, noun, vocabulary, frozenset(modifiers))


def _thing(
    name: str, noun: str, vocabulary: RobotVocabulary, modifiers: frozenset[str] = frozenset()
) -> PerceivedThing:
    return PerceivedThing(name, noun, modifiers, frozenset(vocabulary.lineage(noun)), vocabulary.affordances(noun))


def _instructions(settings: _TaskSettings) -> Iterator[str]:
    said, _ = read_data_file(DIALOGUE, _DialogueSettings)
    yield said.task.format(task=settings.name.capitalize())
    for place in settings.places:
        for sentence in said.place:
            spoken = sentence.format(relation=place.relation, place=place.place, subtask=place.subtask)
            yield spoken[:1].upper() + spoken[1:]
    yield said.end
