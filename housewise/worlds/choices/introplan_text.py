"""Parses the text files of Introspective Planning (``mobile_manipulation.txt`` and ``..._knowledge.txt``).

A scene is a block of lines: its number, then ``Scene: ...``, ``Task: ...``, ``User intent (object): ...`` and so on.
The annotators contradict each other. Therefore the orders of preference of one person (``introplan_person.yaml``) label
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
from housewise.core.validation import StrictModel, first_repeated, read_model
from housewise.worlds.choices.data_files import MAX_FILE_BYTES, split_list
from housewise.worlds.choices.introplan_scene import (
    PREPOSITION,
    IntroplanPlacement,
    IntroplanScene,
    PlacementOption,
    SingleDecision,
)

ORDERS_FILE = CONFIGS / "clipr" / "introplan_person.yaml"
AMBIGUOUS = ("singlelabel_task", "spatial_ambiguous_task")
"""Categories of tasks with several options."""

_BRING = "pick-up"
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


class _Kind(StrictModel):
    name: str
    words: str
    order: tuple[str, ...]
    from_: Literal["table7", "ours"] = Field(alias="from")


class _Orders(StrictModel):
    kinds: tuple[_Kind, ...]

    def preferred_option(self, words: str, options: Sequence[str]) -> tuple[str, _Kind] | None:
        """Return the option that the person wants and the kind that decides, or None if no kind does."""
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
    """Read all scenes of a file, and the knowledge scenes of the file beside it whose name ends in ``_knowledge``.

    Raises:
        DataError: A block is no valid scene. The message names the line.
    """
    knowledge = path.with_name(f"{path.stem}_knowledge{path.suffix}")
    orders = read_model(ORDERS_FILE, _Orders)
    scenes = [_scene(block, orders, "test", path) for block in _blocks(path)]
    if is_file(knowledge):
        scenes += [_scene(block, orders, "knowledge", knowledge) for block in _blocks(knowledge)]
    if twice := first_repeated(scene.id for scene in scenes):
        raise DataError(f"{path}: scene {twice} stands there twice; give the file as it was published")
    return scenes


def _blocks(path: Path) -> Iterator[tuple[int, str, Mapping[str, str]]]:
    """Yield for each scene its first line, its number and its fields."""
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
    objects, request = split_list(fields["Scene objects"]), fields["Task"]
    things, places = split_list(fields["Possible objects"]), split_list(fields["Possible locations"])
    ambiguous = fields["Task category"] in AMBIGUOUS
    return IntroplanScene(
        id=f"introplan-{int(number[:9]):03}",
        fold=fold,
        objects=objects,
        request=request,
        intent_object=split_list(fields["User intent (object)"]),
        intent_location=split_list(fields["User intent (location)"]),
        single_decision=_decision(objects, request, things, places, orders) if ambiguous else None,
        same_as="|".join([*sorted(objects), request]),
    )


def _decision(
    objects: Sequence[str], request: str, things: Sequence[str], places: Sequence[str], orders: _Orders
) -> SingleDecision:
    """Build the options of a scene and label the preferred one."""
    if list(places) == [_BRING]:
        options = [PlacementOption(object=each, satisfies_request=each in things) for each in objects]
        found = orders.preferred_option(request, things)
        preferred = IntroplanPlacement(object=found[0]) if found else None
        return _build_decision(options, preferred, [found[1]] if found else [])
    options = [
        PlacementOption(object=one, location=place, satisfies_request=True) for one, place in product(things, places)
    ]
    beside = PREPOSITION.search(request)
    cut = beside.start() if beside else 0
    # An object or location that all options share needs no decision.
    thing = orders.preferred_option(request[:cut], things) if len(things) > 1 else None
    place = orders.preferred_option(request[cut:], places) if len(places) > 1 else None
    if (thing is None and len(things) > 1) or (place is None and len(places) > 1):
        return _build_decision(options, None, [])
    one, where = thing[0] if thing else things[0], place[0] if place else places[0]
    return _build_decision(
        options, IntroplanPlacement(object=one, location=where), [each[1] for each in (thing, place) if each]
    )


def _build_decision(
    options: Sequence[PlacementOption], preferred: IntroplanPlacement | None, kinds: Sequence[_Kind]
) -> SingleDecision:
    return SingleDecision(
        options=tuple(options),
        request_type="+".join(kind.name for kind in kinds),
        preferred=preferred,
        label_from="ours" if any(kind.from_ == "ours" for kind in kinds) else "table7",
    )
