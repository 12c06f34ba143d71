"""Breakfast preferences of the people of the text kitchen: ``KitchenProfile`` and ``KitchenPreference``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from housewise.people.kitchen.conditions import Condition

Category = Literal["variation", "addition", "exclusion", "order", "tool", "place", "preparation"]


@dataclass(frozen=True)
class KitchenPreference:
    """One preference of a person about breakfast.

    Attributes:
        id: Unique among the preferences of the person.
        text: The preference in words.
        category: One of ADAPT's seven categories.
        tasks: Numbers of the tasks that it concerns.
        dishes: The dishes that it is about.
        condition: When it is applicable; None for always.
        wish: What satisfies it.
        if_text: ``condition`` as written.
        wants_text: ``wish`` as written.
        paraphrase: The text in other words, on which no robot is trained; empty if there is none.
        published: The preference as the authors' published function checks it, or None if that agrees with the text.
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
    paraphrase: str = ""
    published: KitchenPreference | None = None


@dataclass(frozen=True)
class KitchenProfile:
    """A person for whom breakfast is prepared.

    Attributes:
        name: Unique name.
        about: A line on who this is.
        preferences: What the person wants.
        published_undone_weight: How often the published evaluation counts a dish that was not made.
    """

    name: str
    about: str
    preferences: tuple[KitchenPreference, ...]
    published_undone_weight: int = 1
