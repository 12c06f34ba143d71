"""The context generator: puts what the robot knows into words for a planner (LLM-Personalize, section 3.1)."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from typing_extensions import Self

from housewise.agent.personalize.placement_candidates import known_placements
from housewise.agent.personalize.preference_knowledge import NoKnowledge, PreferenceKnowledge
from housewise.core.configs import CONFIGS
from housewise.core.errors import UserError, suggest_names
from housewise.core.files import find_paths
from housewise.core.text_files import is_file
from housewise.core.yaml_files import read_yaml
from housewise.language.base import Message
from housewise.worlds.house.names import without_numbers
from housewise.worlds.house.scene_graph import SceneGraph

Placeholders = Mapping[str, AbstractSet[str]]
"""What may stand in braces in each field; fields that are not named may hold anything."""

_MOST_PLACES = 3
"""Places where something is wanted that a prompt names: the nearest to where it is."""

_STAND_INS = {"most_steps": 1, "step": 1}


def bundled_prompts() -> list[str]:
    """Names of the templates that come with the package."""
    return [file.stem for file in find_paths(CONFIGS / "prompts", "*.yaml")]


class Template(BaseModel):
    """Words with placeholders, from a YAML file of ``housekeep_configs/prompts`` or of the user's."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    placeholders: ClassVar[Placeholders] = {}
    packaged: ClassVar[str] = ""
    name: str

    @field_validator("*")
    @classmethod
    def _known_placeholders(cls, text: str, info: Any) -> str:
        known = cls.placeholders.get(info.field_name)
        if known is None:
            return text
        used = {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}
        if used - known:
            raise ValueError(
                f"unknown placeholder {{{min(used - known)}}}; known here: {', '.join(sorted(known)) or 'none'}"
            )
        try:
            text.format(**{field: _STAND_INS.get(field, "") for field in known})
        except (KeyError, ValueError) as error:
            raise ValueError(f"cannot be filled in: {error}") from error
        return text

    @classmethod
    def load(cls, name_or_path: str) -> Self:
        """A template that comes with the package, by name, or any YAML file, by path.

        Raises:
            UserError: when there is none or it is not a template; the message names file, field and remedy.
        """
        packaged = CONFIGS / "prompts" / f"{name_or_path}.yaml"
        path = packaged if is_file(packaged) else Path(name_or_path)
        if not is_file(path):
            known = suggest_names(str(name_or_path), bundled_prompts())
            raise UserError(f"{name_or_path}: no such prompt template; {known}, or give a file")
        try:
            return cls.model_validate(read_yaml(path))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise UserError(f"{path}: {f'field {field}: ' if field else ''}{first['msg']}") from error


HOUSE_FIELDS: Placeholders = {
    "holding": {"object", "note"},
    "empty_hand": set(),
    "room": {"room", "receptacles"},
    "glimpsed_room": {"room", "receptacles"},
    "unexplored_room": {"room"},
    "receptacle": {"receptacle"},
    "laden_receptacle": {"receptacle", "objects"},
    "thing": {"object", "receptacle", "note"},
    "note_here": {"object"},
    "note_wanted": {"object", "places"},
    "note_unwanted": {"object", "alike"},
    "note_alike": {"object", "alike"},
    "alike": {"object", "receptacle"},
    "notes": {"lines"},
    "memory": set(),
}


class HouseTemplate(Template):
    """The words for what the robot knows of the house and holds.

    Attributes:
        names: what things are called: by their full names; short, receptacles without their rooms where that is clear;
            or plain, everything without its numbers where that is clear.
        thing: of an object and where it is, for lists of objects, with what is remembered of it.
        note_here, note_wanted, note_unwanted: what is remembered of an object: it is wanted where it is, or elsewhere,
            or not wanted where it is and nothing more.
        note_alike: of an object of which nothing is remembered: of others like it, where each is wanted.
        alike: of another object, in these.
        notes: around these, a line each, where they are not beside the objects; empty where nothing is remembered.
        memory: said where anything is remembered of the person; without it a model goes by what most people want.
        glimpsed_room: of rooms of which something was seen, but that were not entered; as ``room`` where it is empty.
    """

    placeholders: ClassVar[Placeholders] = HOUSE_FIELDS
    names: Literal["full", "short", "plain"] = "full"
    holding: str
    empty_hand: str
    room: str
    glimpsed_room: str = ""
    unexplored_room: str
    receptacle: str
    laden_receptacle: str
    thing: str = ""
    note_here: str = ""
    note_wanted: str = ""
    note_unwanted: str = ""
    note_alike: str = ""
    alike: str = ""
    notes: str = ""
    memory: str = ""

    @property
    def mentions_notes(self) -> bool:
        """Whether it says what is remembered."""
        return any((self.note_here, self.note_wanted, self.note_unwanted, self.note_alike))

    def hand(
        self, graph: SceneGraph, called: Mapping[str, str] | None = None, knowledge: PreferenceKnowledge | None = None
    ) -> str:
        """What the robot holds."""
        held, words = graph.holding, called or {}
        if not held:
            return self.empty_hand.format()
        note = self._note(graph, held, words, knowledge or NoKnowledge())
        return self.holding.format(object=words.get(held, held), note=note)

    def called(self, graph: SceneGraph) -> dict[str, str]:
        """What the things that are not called by their full names are called."""
        if self.names == "full":
            return {}
        known, wanted = graph.vocabulary, _short(graph) if self.names == "short" else _plain(graph)
        clear = {
            name: next((words for words in choice if known.resolve(words).name == name), None)
            for name, choice in wanted
        }
        return {name: words for name, words in clear.items() if words is not None}

    def things(self, graph: SceneGraph, called: Mapping[str, str], knowledge: PreferenceKnowledge) -> str:
        """Every object that stands somewhere, a line each."""
        places = {thing: graph.place_of(thing) or "" for thing in graph.listed}
        lines = (
            self.thing.format(
                object=called.get(thing, thing),
                receptacle=called.get(place, place),
                note=self._note(graph, thing, called, knowledge),
            )
            for thing, place in places.items()
        )
        return "\n".join(lines)

    def noted(self, graph: SceneGraph, called: Mapping[str, str], knowledge: PreferenceKnowledge) -> str:
        """What is remembered of the objects in sight and in the hand, a line each."""
        held = [graph.holding] if graph.holding else []
        lines = [line for thing in (*held, *graph.listed) if (line := self._note(graph, thing, called, knowledge))]
        return self.notes.format(lines="\n".join(lines)) if lines else ""

    def _note(self, graph: SceneGraph, thing: str, called: Mapping[str, str], knowledge: PreferenceKnowledge) -> str:
        name, known = called.get(thing, thing), known_placements(graph, thing, knowledge)
        if known.here:
            return self.note_here.format(object=name)
        if known.wanted:
            words = [called.get(place, place) for place in known.wanted[:_MOST_PLACES]]
            return self.note_wanted.format(object=name, places=", ".join(words))
        alike = ", ".join(
            self.alike.format(object=kind, receptacle=called.get(place, place)) for kind, place in known.alike
        )
        if known.here is False:
            return self.note_unwanted.format(object=name, alike=alike)
        return self.note_alike.format(object=name, alike=alike) if alike else ""

    def describe_room(self, graph: SceneGraph, room: str, called: Mapping[str, str] | None = None) -> str:
        """What is in a room, things being called by other words than their names where there are any."""
        receptacles = [self._on(graph, receptacle, called or {}) for receptacle in graph.inside(room)]
        name = (called or {}).get(room, room)
        if not receptacles:
            return self.unexplored_room.format(room=name)
        words = self.room if room in graph.entered else self.glimpsed_room or self.room
        return words.format(room=name, receptacles=", ".join(receptacles))

    def _on(self, graph: SceneGraph, receptacle: str, called: Mapping[str, str]) -> str:
        objects, words = graph.inside(receptacle), called.get(receptacle, receptacle)
        if not objects:
            return self.receptacle.format(receptacle=words)
        return self.laden_receptacle.format(
            receptacle=words, objects=" and ".join(called.get(thing, thing) for thing in objects)
        )


def _short(graph: SceneGraph) -> Iterator[tuple[str, list[str]]]:
    """Receptacles without their rooms."""
    for room in graph.rooms:
        for place in graph.inside(room):
            yield place, [place.removeprefix(f"{room} ")]


def _plain(graph: SceneGraph) -> Iterator[tuple[str, list[str]]]:
    """Everything without its numbers, or receptacles without those of their rooms alone, shortest first."""
    for name in (*graph.rooms, *graph.objects):
        yield name, [without_numbers(name)]
    for room in graph.rooms:
        for place in graph.inside(room):
            yield place, [without_numbers(place), without_numbers(room) + place.removeprefix(room)]


class PromptTemplate(HouseTemplate):
    """The words around what the robot knows; see ``housekeep_configs/prompts/planner.yaml``.

    Attributes:
        judging: replies begin with a judgement of every object; see housewise.agent.personalize.placement_judgement.
        most_tries: see housewise.agent.personalize.planner.promising.
        feedback: said of a plan that cannot be done, where plans are checked.
    """

    placeholders: ClassVar[Placeholders] = {
        **HOUSE_FIELDS,
        "system": {"most_steps"},
        "user": {"holding", "rooms", "things", "notes", "memory"},
        "feedback": {"problem"},
    }
    packaged = "planner"
    judging: bool = False
    most_tries: int | None = Field(default=None, ge=1)
    feedback: str = "No: {problem}. Write all steps again, without that mistake."
    system: str
    user: str
    prefix: str


class ContextGenerator:
    """Turns a scene graph into the messages that a planner's model reads.

    Args:
        template: the words.
        most_steps: how many steps a plan may have.
    """

    def __init__(self, template: PromptTemplate, most_steps: int = 10) -> None:
        self.template = template
        self.most_steps = most_steps

    def messages(self, graph: SceneGraph, knowledge: PreferenceKnowledge | None = None) -> tuple[Message, ...]:
        """System and user message for the present state, and what is remembered of the person."""
        words, known = self.template, knowledge or NoKnowledge()
        called = words.called(graph)
        user = words.user.format(
            holding=words.hand(graph, called, known),
            rooms="\n".join(words.describe_room(graph, room, called) for room in graph.rooms),
            things=words.things(graph, called, known),
            notes=words.noted(graph, called, known),
            memory="" if known.empty else words.memory.format(),
        )
        return Message("system", words.system.format(most_steps=self.most_steps).strip()), Message("user", user.strip())
