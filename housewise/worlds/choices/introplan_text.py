"""Introspective Planning's own text files (``mobile_manipulation.txt`` and ``mobile_manipulation_knowledge.txt``).

A scene is a block of lines: its number, then ``Scene: ...``, ``Task: ...``, ``User intent (object): ...`` and so on.
The annotators' intents contradict each other, so one person's orders of preference (``introplan_person.yaml``) label
the ambiguous scenes, as in CLIPR (arXiv 2605.12682, table 7).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Literal

from pydantic import Field

from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError
from housewise.core.text_files import is_file, read_text
from housewise.core.validation import read_model
from housewise.worlds.choices.files import MAX_FILE_BYTES, StrictSettings
from housewise.worlds.choices.introplan_scene import (
    PREPOSITION,
    IntroplanPlacement,
    IntroplanScene,
    PlacementOption,
    SingleDecision,
)

ORDERS_FILE = CONFIGS / "clipr" / "introplan_person.yaml"
AMBIGUOUS = ("singlelabel_task", "spatial_ambiguous_task")
"""Categories of tasks of which one option has to be chosen."""

_BROUGHT = "pick-up"
_FIELDS = (
    "Scene",
    "Task",
    "User intent (object)",
    "User intent (location)",
    "Possible objects",
    "Possible locations",
    "Scene objects",
    "Task category",
)
_FIELD = re.compile(rf"({'|'.join(map(re.escape, _FIELDS))}):\s*(.*)")


class _Kind(StrictSettings):
    name: str
    words: str
    order: tuple[str, ...]
    from_: Literal["table7", "ours"] = Field(alias="from")


class _Orders(StrictSettings):
    kinds: tuple[_Kind, ...]

    def wanted(self, words: str, options: Sequence[str]) -> tuple[str, _Kind] | None:
        """The option that the person wants, and the kind that says so; None where no kind does."""
        for kind in self.kinds:
            if re.search(kind.words, words, re.IGNORECASE):
                for text in kind.order:
                    if found := next((option for option in options if text.lower() in option.lower()), None):
                        return found, kind
        return None


def is_introplan_text(text: str) -> bool:
    """Whether a text begins like one of these files."""
    return any(_FIELD.match(line.strip()) for line in text.split("\n", 3)[:3])


def read_introplan_text(path: Path) -> list[IntroplanScene]:
    """Every scene of a file, and as knowledge those of the file beside it whose name ends in ``_knowledge``.

    Raises:
        DataError: when a block is none of a scene's; the message names the line.
    """
    knowledge = path.with_name(f"{path.stem}_knowledge{path.suffix}")
    orders = read_model(ORDERS_FILE, _Orders)
    scenes = [_scene(block, orders, "test", path) for block in _blocks(path)]
    if is_file(knowledge):
        scenes += [_scene(block, orders, "knowledge", knowledge) for block in _blocks(knowledge)]
    numbers = [scene.id for scene in scenes]
    if len(set(numbers)) < len(numbers):
        twice = next(number for number in numbers if numbers.count(number) > 1)
        raise DataError(f"{path}: scene {twice} stands there twice; give the file as it was published")
    return scenes


def _blocks(path: Path) -> Iterator[tuple[int, str, Mapping[str, str]]]:
    """The line where each scene begins, its number, and its fields."""
    lines = read_text(path, "give the text file as it was published", MAX_FILE_BYTES).split("\n")
    number, start, fields = "", 0, dict[str, str]()
    for place, line in enumerate([*lines, ""], 1):
        text = line.strip()
        found = _FIELD.fullmatch(text)
        if found and found[1] in fields:
            raise DataError(f"{path}, line {place}: a second {found[1]} of one scene; leave a line free between scenes")
        if found:
            fields[found[1]] = found[2]
        elif text.isdecimal() and not fields:
            number, start = text, place
        elif text:
            raise DataError(f"{path}, line {place}: no field of a scene; use {', '.join(_FIELDS)}")
        elif fields:
            yield start or place - len(fields), number, fields
            number, start, fields = "", 0, {}


def _scene(
    block: tuple[int, str, Mapping[str, str]], orders: _Orders, fold: Literal["test", "knowledge"], path: Path
) -> IntroplanScene:
    line, number, fields = block
    missing = [name for name in _FIELDS if name not in fields]
    if missing or not number:
        what = missing[0] if missing else "number"
        raise DataError(f"{path}, line {line}: a scene without {what}; give the text file as it was published")
    objects, request = _listed(fields["Scene objects"]), fields["Task"]
    things, places = _listed(fields["Possible objects"]), _listed(fields["Possible locations"])
    ambiguous = fields["Task category"] in AMBIGUOUS
    return IntroplanScene(
        id=f"introplan-{int(number[:9]):03}",
        fold=fold,
        objects=objects,
        request=request,
        intent_object=_listed(fields["User intent (object)"]),
        intent_location=_listed(fields["User intent (location)"]),
        single_decision=_decision(objects, request, things, places, orders) if ambiguous else None,
        same_as="|".join([*sorted(objects), request]),
    )


def _decision(
    objects: Sequence[str], request: str, things: Sequence[str], places: Sequence[str], orders: _Orders
) -> SingleDecision:
    """What can be chosen, and what the person prefers of it."""
    if list(places) == [_BROUGHT]:
        options = [PlacementOption(object=each, satisfies_request=each in things) for each in objects]
        found = orders.wanted(request, things)
        preferred = IntroplanPlacement(object=found[0]) if found else None
        return _labelled(options, preferred, [found[1]] if found else [])
    options = [
        PlacementOption(object=one, location=place, satisfies_request=True) for one, place in product(things, places)
    ]
    beside = PREPOSITION.search(request)
    cut = beside.start() if beside else 0
    # What is the same in all options is nothing to decide.
    thing = orders.wanted(request[:cut], things) if len(things) > 1 else None
    place = orders.wanted(request[cut:], places) if len(places) > 1 else None
    if (thing is None and len(things) > 1) or (place is None and len(places) > 1):
        return _labelled(options, None, [])
    one, where = thing[0] if thing else things[0], place[0] if place else places[0]
    return _labelled(
        options, IntroplanPlacement(object=one, location=where), [each[1] for each in (thing, place) if each]
    )


def _labelled(
    options: Sequence[PlacementOption], preferred: IntroplanPlacement | None, kinds: Sequence[_Kind]
) -> SingleDecision:
    return SingleDecision(
        options=tuple(options),
        request_type="+".join(kind.name for kind in kinds),
        preferred=preferred,
        label_from="ours" if any(kind.from_ == "ours" for kind in kinds) else "table7",
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
