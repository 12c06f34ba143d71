"""The context generator: puts what the robot knows into words for a planner (LLM-Personalize, section 3.1)."""

from __future__ import annotations

import string
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from agent.models.base import Message
from agent.scene_graph import SceneGraph
from household.errors import UserError

_FIELDS = {
    "system": {"most_steps"},
    "user": {"holding", "rooms"},
    "holding": {"object"},
    "empty_hand": set(),
    "room": {"room", "receptacles"},
    "unexplored_room": {"room"},
    "receptacle": {"receptacle"},
    "laden_receptacle": {"receptacle", "objects"},
}


class PromptTemplate(BaseModel):
    """The words around what the robot knows; see ``housekeep_configs/prompts/planner.yaml``."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    system: str
    user: str
    prefix: str
    holding: str
    empty_hand: str
    room: str
    unexplored_room: str
    receptacle: str
    laden_receptacle: str

    @field_validator(*_FIELDS)
    @classmethod
    def _known_placeholders(cls, text: str, info: Any) -> str:
        known = _FIELDS[info.field_name]
        used = {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}
        if used - known:
            raise ValueError(
                f"unknown placeholder {{{min(used - known)}}}; known here: {', '.join(sorted(known)) or 'none'}"
            )
        try:
            text.format(**{field: 1 if field == "most_steps" else "" for field in known})
        except (KeyError, ValueError) as error:
            raise ValueError(f"cannot be filled in: {error}") from error
        return text

    @classmethod
    def load(cls, name_or_path: str) -> PromptTemplate:
        """A template that comes with the package, by name, or any YAML file, by path.

        Raises:
            UserError: when there is none or it is not a template; the message names file, field and remedy.
        """
        packaged = resources.files("housekeep_configs") / "prompts" / f"{name_or_path}.yaml"
        path = packaged if packaged.is_file() else Path(name_or_path)
        try:
            return cls.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise UserError(f"{name_or_path}: no such prompt template; give a file, or 'planner'") from error
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise UserError(f"{path}: {f'field {field}: ' if field else ''}{first['msg']}") from error
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise UserError(f"{path}: not readable as YAML ({' '.join(str(error).split())})") from error


class ContextGenerator:
    """Turns a scene graph into the messages that a planner's model reads.

    Args:
        template: the words.
        most_steps: how many steps a plan may have.
    """

    def __init__(self, template: PromptTemplate, most_steps: int = 10) -> None:
        self.template = template
        self.most_steps = most_steps

    def messages(self, graph: SceneGraph) -> tuple[Message, ...]:
        """System and user message for the present state."""
        system = self.template.system.format(most_steps=self.most_steps).strip()
        return Message("system", system), Message("user", self._user(graph))

    def _user(self, graph: SceneGraph) -> str:
        words = self.template
        held = graph.holding
        holding = words.holding.format(object=held) if held else words.empty_hand.format()
        rooms = "\n".join(self._room(graph, room) for room in graph.rooms)
        return words.user.format(holding=holding, rooms=rooms).strip()

    def _room(self, graph: SceneGraph, room: str) -> str:
        receptacles = [self._receptacle(graph, receptacle) for receptacle in graph.inside(room)]
        if not receptacles:
            return self.template.unexplored_room.format(room=room)
        return self.template.room.format(room=room, receptacles=", ".join(receptacles))

    def _receptacle(self, graph: SceneGraph, receptacle: str) -> str:
        objects = graph.inside(receptacle)
        if not objects:
            return self.template.receptacle.format(receptacle=receptacle)
        return self.template.laden_receptacle.format(receptacle=receptacle, objects=" and ".join(objects))
