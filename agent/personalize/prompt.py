"""The context generator: describes the robot's scene graph in words for a planner (LLM-Personalize, section 3.2.1).

The scene graph itself (G_0, and G_t after each observation) is ``housewise/worlds/house/scene_graph.py``. The texts,
with the instructions, the actions and two examples, are YAML files in ``housekeep_configs/prompts``. They may
have shorter names, rooms that were only glimpsed, and the beginning of the reply (as the authors' recorded prompts do).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from typing_extensions import Self

from housewise.agent.personalize.prompt_names import Naming, shorten_names
from housewise.core.configs import CONFIGS
from housewise.core.errors import UserError, suggest_names
from housewise.core.files import find_paths
from housewise.core.template_text import Template, template_text
from housewise.core.text_files import is_file
from housewise.core.validation import read_model
from housewise.language.base import Message
from housewise.worlds.house.scene_graph import SceneGraph


def bundled_prompts() -> list[str]:
    """Return the names of the bundled prompt templates."""
    return [file.stem for file in find_paths(CONFIGS / "prompts", "*.yaml")]


class HouseTemplate(Template):
    """Texts that describe the robot's scene graph and what it holds.

    They are from a YAML file in ``housekeep_configs/prompts`` or from the user.

    Attributes:
        names: How the prompt names things.
        glimpsed_room: A room that was seen but not entered. Defaults to ``room``.
        laden_room: A room in which there are objects, for prompts that tell of objects after receptacles. Defaults to
            ``room``, whose receptacles tell of their objects.
        placed_object: An object in ``laden_room``.
    """

    default_name: ClassVar[str] = ""
    name: str
    names: Naming = "full"
    holding: str = template_text("object")
    empty_hand: str = template_text()
    room: str = template_text("room", "receptacles")
    glimpsed_room: str = template_text("room", "receptacles", default="")
    unexplored_room: str = template_text("room")
    laden_room: str = template_text("room", "receptacles", "objects", default="")
    placed_object: str = template_text("object", "receptacle", default="")
    receptacle: str = template_text("receptacle")
    laden_receptacle: str = template_text("receptacle", "objects")

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

    def describe_hand(self, graph: SceneGraph, names: Mapping[str, str] = {}) -> str:
        """Describe what the robot holds."""
        held = graph.holding
        return self.holding.format(object=names.get(held, held)) if held else self.empty_hand.format()

    def prompt_names(self, graph: SceneGraph) -> dict[str, str]:
        """Return the names used in the prompt by full name, of things whose names differ."""
        return shorten_names(graph, self.names)

    def describe_rooms(self, graph: SceneGraph, names: Mapping[str, str] = {}) -> str:
        """Describe all rooms, one per line."""
        return "\n".join(self.describe_room(graph, room, names) for room in graph.rooms).rstrip()

    def describe_room(self, graph: SceneGraph, room: str, names: Mapping[str, str] = {}) -> str:
        """Describe a room and what is in it."""
        receptacles = [self._describe_receptacle(graph, receptacle, names) for receptacle in graph.contents_of(room)]
        name = names.get(room, room)
        if not receptacles:
            return self.unexplored_room.format(room=name)
        words = self.room if room in graph.visited_rooms else self.glimpsed_room or self.room
        objects = self._describe_placed_objects(graph, room, names) if self.laden_room else ""
        if objects:
            return self.laden_room.format(room=name, receptacles=", ".join(receptacles), objects=objects)
        return words.format(room=name, receptacles=", ".join(receptacles))

    def _describe_placed_objects(self, graph: SceneGraph, room: str, names: Mapping[str, str]) -> str:
        """Describe the objects in a room in the order of their discovery, as the published logs do."""
        places = graph.contents_of(room)
        return ". ".join(
            self.placed_object.format(object=names.get(thing, thing), receptacle=names.get(place, place))
            for thing in graph.objects
            if (place := graph.container_of(thing) or "") in places
        )

    def _describe_receptacle(self, graph: SceneGraph, receptacle: str, names: Mapping[str, str]) -> str:
        objects, words = graph.contents_of(receptacle), names.get(receptacle, receptacle)
        if not objects:
            return self.receptacle.format(receptacle=words)
        return self.laden_receptacle.format(
            receptacle=words, objects=" and ".join(names.get(thing, thing) for thing in objects)
        )


class PromptTemplate(HouseTemplate):
    """Texts of the planner's prompt; see ``housekeep_configs/prompts/planner.yaml``.

    Attributes:
        system: Message with the instructions.
        user: Message with the present state.
        prefix: Beginning of the reply.
    """

    default_name = "planner"
    system: str = template_text("most_steps")
    user: str = template_text("holding", "rooms")
    prefix: str


class ContextGenerator:
    """Describes a scene graph in the messages of a planner's prompt.

    Args:
        template: Texts of the prompt.
        max_steps: Maximum number of steps of a plan.
    """

    def __init__(self, template: PromptTemplate, max_steps: int = 10) -> None:
        self.template = template
        self.max_steps = max_steps

    def messages(self, graph: SceneGraph) -> tuple[Message, ...]:
        """Return system and user message for the present state."""
        words = self.template
        names = words.prompt_names(graph)
        return self.fill_in(holding=words.describe_hand(graph, names), rooms=words.describe_rooms(graph, names))

    def fill_in(self, **parts: str) -> tuple[Message, ...]:
        """Return system and user message with these parts of the user message."""
        words = self.template
        user = words.user.format(**parts).strip()
        return Message("system", words.system.format(most_steps=self.max_steps).strip()), Message("user", user)
