"""The context generator: describes the robot's scene graph in words for a planner (LLM-Personalize, section 3.2.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import Self

from housewise.agent.personalize.placement_candidates import known_placements
from housewise.agent.personalize.preference_knowledge import NoKnowledge, PreferenceKnowledge
from housewise.agent.template_text import Template, template_text
from housewise.core.configs import CONFIGS
from housewise.core.errors import UserError, suggest_names
from housewise.core.files import find_paths
from housewise.core.text_files import is_file
from housewise.core.validation import read_model
from housewise.language.base import Message
from housewise.worlds.house.scene_graph import SceneGraph
from housewise.worlds.house.spoken_names import remove_numbers

_MAX_PLACES = 3
"""Correct receptacles of an object that a prompt names, those in its room first."""


def bundled_prompts() -> list[str]:
    """Return the names of the bundled prompt templates."""
    return [file.stem for file in find_paths(CONFIGS / "prompts", "*.yaml")]


class HouseTemplate(Template):
    """Texts that describe the robot's scene graph and what it holds.

    They are from a YAML file in ``housekeep_configs/prompts`` or from the user.

    Attributes:
        names: How the prompt names things: ``full`` names; ``short`` names, receptacles without their rooms; or
            ``plain`` names, everything without its numbers. Ambiguous names stay full.
        thing: An object, its receptacle and its note, in lists of objects.
        note_here, note_wanted, note_unwanted: Notes about an object: wanted where it is, wanted elsewhere, or unwanted
            where it is.
        note_alike: Note about an object without notes of its own: where similar kinds are wanted.
        alike: One similar kind in that note.
        notes: Text around all notes, one per line, for prompts that do not put them beside the objects.
        memory: Text for prompts with a memory. Without it, a model follows what most people want.
        glimpsed_room: A room that was seen but not entered. Defaults to ``room``.
    """

    default_name: ClassVar[str] = ""
    name: str
    names: Literal["full", "short", "plain"] = "full"
    holding: str = template_text("object", "note")
    empty_hand: str = template_text()
    room: str = template_text("room", "receptacles")
    glimpsed_room: str = template_text("room", "receptacles", default="")
    unexplored_room: str = template_text("room")
    receptacle: str = template_text("receptacle")
    laden_receptacle: str = template_text("receptacle", "objects")
    thing: str = template_text("object", "receptacle", "note", default="")
    note_here: str = template_text("object", default="")
    note_wanted: str = template_text("object", "places", default="")
    note_unwanted: str = template_text("object", "alike", default="")
    note_alike: str = template_text("object", "alike", default="")
    alike: str = template_text("object", "receptacle", default="")
    notes: str = template_text("lines", default="")
    memory: str = template_text(default="")

    @classmethod
    def load(cls, name_or_path: str) -> Self:
        """Load a bundled template by name, or any YAML file by path.

        Raises:
            UserError: If there is no such file or it is not a template. The message names file, field and remedy.
        """
        packaged = CONFIGS / "prompts" / f"{name_or_path}.yaml"
        path = packaged if is_file(packaged) else Path(name_or_path)
        if not is_file(path):
            known = suggest_names(str(name_or_path), bundled_prompts())
            raise UserError(f"{name_or_path}: no such prompt template; {known}, or the path of a file")
        return read_model(path, cls)

    @property
    def mentions_notes(self) -> bool:
        """Whether prompts contain notes."""
        return any((self.note_here, self.note_wanted, self.note_unwanted, self.note_alike))

    def describe_hand(
        self, graph: SceneGraph, names: Mapping[str, str] = {}, knowledge: PreferenceKnowledge | None = None
    ) -> str:
        """Describe what the robot holds."""
        held = graph.holding
        if not held:
            return self.empty_hand.format()
        note = self._note(graph, held, names, knowledge or NoKnowledge())
        return self.holding.format(object=names.get(held, held), note=note)

    def prompt_names(self, graph: SceneGraph) -> dict[str, str]:
        """Return the names used in the prompt by full name, of things whose names differ."""
        if self.names == "full":
            return {}
        candidates = _names_without_rooms(graph) if self.names == "short" else _names_without_numbers(graph)
        resolve = graph.vocabulary.resolve
        clear = {
            name: next((short for short in shorts if resolve(short).name == name), None) for name, shorts in candidates
        }
        return {name: short for name, short in clear.items() if short is not None}

    def describe_objects(self, graph: SceneGraph, names: Mapping[str, str], knowledge: PreferenceKnowledge) -> str:
        """Describe every object that stands somewhere, one per line."""
        places = {thing: graph.container_of(thing) or "" for thing in graph.placed_objects}
        lines = (
            self.thing.format(
                object=names.get(thing, thing),
                receptacle=names.get(place, place),
                note=self._note(graph, thing, names, knowledge),
            )
            for thing, place in places.items()
        )
        return "\n".join(lines)

    def describe_notes(self, graph: SceneGraph, names: Mapping[str, str], knowledge: PreferenceKnowledge) -> str:
        """Return the notes about the objects in sight and in the hand, one per line."""
        held = [graph.holding] if graph.holding else []
        lines = [
            line for thing in (*held, *graph.placed_objects) if (line := self._note(graph, thing, names, knowledge))
        ]
        return self.notes.format(lines="\n".join(lines)) if lines else ""

    def _note(self, graph: SceneGraph, thing: str, names: Mapping[str, str], knowledge: PreferenceKnowledge) -> str:
        name, known = names.get(thing, thing), known_placements(graph, thing, knowledge)
        if known.wanted_here:
            return self.note_here.format(object=name)
        if known.wanted:
            words = [names.get(place, place) for place in known.wanted[:_MAX_PLACES]]
            return self.note_wanted.format(object=name, places=", ".join(words))
        alike = ", ".join(
            self.alike.format(object=kind, receptacle=names.get(place, place)) for kind, place in known.similar_kinds
        )
        if known.wanted_here is False:
            return self.note_unwanted.format(object=name, alike=alike)
        return self.note_alike.format(object=name, alike=alike) if alike else ""

    def describe_room(self, graph: SceneGraph, room: str, names: Mapping[str, str] = {}) -> str:
        """Describe a room and what is in it."""
        receptacles = [self._describe_receptacle(graph, receptacle, names) for receptacle in graph.contents_of(room)]
        name = names.get(room, room)
        if not receptacles:
            return self.unexplored_room.format(room=name)
        words = self.room if room in graph.visited_rooms else self.glimpsed_room or self.room
        return words.format(room=name, receptacles=", ".join(receptacles))

    def _describe_receptacle(self, graph: SceneGraph, receptacle: str, names: Mapping[str, str]) -> str:
        objects, words = graph.contents_of(receptacle), names.get(receptacle, receptacle)
        if not objects:
            return self.receptacle.format(receptacle=words)
        return self.laden_receptacle.format(
            receptacle=words, objects=" and ".join(names.get(thing, thing) for thing in objects)
        )


def _names_without_rooms(graph: SceneGraph) -> Iterator[tuple[str, list[str]]]:
    """Yield receptacles, each with its name without the room."""
    for room in graph.rooms:
        for place in graph.contents_of(room):
            yield place, [place.removeprefix(f"{room} ")]


def _names_without_numbers(graph: SceneGraph) -> Iterator[tuple[str, list[str]]]:
    """Yield all names without their numbers, and receptacles also without their rooms' numbers, shortest first."""
    for name in (*graph.rooms, *graph.objects):
        yield name, [remove_numbers(name)]
    for room in graph.rooms:
        for place in graph.contents_of(room):
            yield place, [remove_numbers(place), remove_numbers(room) + place.removeprefix(room)]


class PromptTemplate(HouseTemplate):
    """Texts of the planner's prompt; see ``housekeep_configs/prompts/planner.yaml``.

    Attributes:
        judging: Whether replies begin with a judgement of every object; see judgement_text.
        most_tries: Attempts after which an object or receptacle is left out; see planner.hide_hopeless_targets.
        feedback: Message about an infeasible plan, if plans are checked.
    """

    default_name = "planner"
    judging: bool = False
    most_tries: int | None = Field(default=None, ge=1)
    feedback: str = template_text("problem", default="No: {problem}. Write all steps again, without that mistake.")
    system: str = template_text("most_steps")
    user: str = template_text("holding", "rooms", "things", "notes", "memory")
    prefix: str


class ContextGenerator:
    """Describes a scene graph in the messages of a planner's prompt.

    Args:
        template: Texts of the prompt.
        most_steps: Maximum number of steps of a plan.
    """

    def __init__(self, template: PromptTemplate, most_steps: int = 10) -> None:
        self.template = template
        self.most_steps = most_steps

    def messages(self, graph: SceneGraph, knowledge: PreferenceKnowledge | None = None) -> tuple[Message, ...]:
        """Return system and user message for the present state and the recalled notes."""
        words, known = self.template, knowledge or NoKnowledge()
        names = words.prompt_names(graph)
        user = words.user.format(
            holding=words.describe_hand(graph, names, known),
            rooms="\n".join(words.describe_room(graph, room, names) for room in graph.rooms),
            things=words.describe_objects(graph, names, known),
            notes=words.describe_notes(graph, names, known),
            memory="" if known.is_empty else words.memory.format(),
        )
        return Message("system", words.system.format(most_steps=self.most_steps).strip()), Message("user", user.strip())
