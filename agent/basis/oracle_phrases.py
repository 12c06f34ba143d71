"""What the scripted oracle says: sentences in a training and a held-out wording."""

from __future__ import annotations

import random
from functools import lru_cache
from typing import Literal, get_args

from pydantic import Field, field_validator

from housewise.agent.basis.descriptions import check_describable
from housewise.core.template_text import Template, check_placeholders, template_text
from housewise.core.validation import read_model
from housewise.people.lab.phrases import find_wording
from housewise.worlds.lab.kinds import KINDS

Act = Literal["GotoObject", "Pickup", "Place", "Open", "Close", "Toggle", "Break", "Pour", "Throw"]
Part = Literal["obstacle", "away", "place", "side", "look"]
Remark = Literal["ask_goal", "ask_use", "done", "notify", "sorry", "warning", "wrong_room", "confused"]

_SLOTS = ("thing", "held", "room", "place", "side", "look", "reason")


class OraclePhrases(Template):
    """Sentence templates of the oracle; see the comments of the file.

    Attributes:
        orders: Orders of the parts of an advice.
        act: Templates by what is to be done.
        looks: Descriptions of uncommon kinds, by key, in place of their own.
    """

    orders: tuple[str, ...] = template_text("obstacle", "away", "act", "look", "place")
    obstacle: tuple[str, ...] = template_text(*_SLOTS)
    away: tuple[str, ...] = template_text(*_SLOTS)
    act: dict[Act, tuple[str, ...]]
    place: tuple[str, ...] = template_text(*_SLOTS)
    side: tuple[str, ...] = template_text(*_SLOTS)
    look: tuple[str, ...] = template_text(*_SLOTS)
    ask_goal: tuple[str, ...] = template_text()
    ask_use: tuple[str, ...] = template_text(*_SLOTS)
    done: tuple[str, ...] = template_text()
    notify: tuple[str, ...] = template_text(*_SLOTS)
    sorry: tuple[str, ...] = template_text()
    warning: tuple[str, ...] = template_text(*_SLOTS)
    wrong_room: tuple[str, ...] = template_text(*_SLOTS)
    confused: tuple[str, ...] = template_text()
    looks: dict[str, str] = Field(default_factory=dict)

    @field_validator("act")
    @classmethod
    def _check_acts(cls, value: dict[Act, tuple[str, ...]]) -> dict[Act, tuple[str, ...]]:
        if missing := [act for act in get_args(Act) if not value.get(act)]:
            raise ValueError(f"{missing[0]} is missing; every action needs at least one sentence")
        for template in (template for templates in value.values() for template in templates):
            check_placeholders(template, _SLOTS)
        return value

    @field_validator("looks")
    @classmethod
    def _check_looks(cls, value: dict[str, str]) -> dict[str, str]:
        for key in value:
            check_describable(key, repr(key))
        return value

    def look_of(self, kind: str) -> str:
        """Return the description of a kind of thing."""
        return self.looks.get(kind, KINDS[kind].look)

    def draw(self, part: Part | Remark, generator: random.Random, **slots: str) -> str:
        """Fill a randomly drawn template."""
        templates: tuple[str, ...] = getattr(self, part)
        return _fill(generator.choice(templates), slots)

    def draw_act(self, act: Act, generator: random.Random, **slots: str) -> str:
        """Fill a randomly drawn template of something to do."""
        return _fill(generator.choice(self.act[act]), slots)

    def arrange(self, generator: random.Random, **parts: str) -> str:
        """Put the parts of an advice together in a randomly drawn order; missing parts are left out."""
        return " ".join(_fill(generator.choice(self.orders), parts, "").split())


@lru_cache(maxsize=16)
def load_oracle_phrases(wording: str) -> OraclePhrases:
    """Load a wording; see ``find_wording``.

    Raises:
        DataError: The file cannot be read or is malformed.
        UserError: There is no such wording.
    """
    return read_model(find_wording("assistant", wording), OraclePhrases)


def _fill(template: str, slots: dict[str, str], default: str = "it") -> str:
    text = template.format(**(dict.fromkeys((*_SLOTS, "obstacle", "away", "act"), default) | slots)).strip()
    return text[:1].upper() + text[1:]
