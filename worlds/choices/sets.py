"""Sets of choices by name or file: our kitchen, houses, a set in the kitchen's format, a user's AmbiK or IntroPlan."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

from housewise.core.errors import DataError
from housewise.worlds.choices.introplan import read_introplan
from housewise.worlds.choices.kitchen import KITCHEN, read_kitchen
from housewise.worlds.choices.scenario import ChoiceSet
from housewise.worlds.choices.unified_person import ambik_choices

OWN = "kitchen"
"""What our own set is called."""
HOUSES = "housekeep"
"""What choices in generated houses are called; with a colon and a name behind it those of one person."""

_LONGEST_LINE = 1 << 20


def read_choices(data: str, count: int, seed: int) -> ChoiceSet:
    """A set of choices.

    Args:
        data: ``kitchen``, ``housekeep`` or, for one person, ``housekeep:ada`` (see housekeep.py), or the path of a
            file: YAML in the kitchen's format, or AmbiK's tasks or IntroPlan's scenes with one JSON object a line,
            which are told apart by their fields.
        count: examples to draw; the kitchen's are fixed.
        seed: of the draw.

    Raises:
        DataError: there is no such file, or it is none of these; the message names the field and the remedy.
    """
    if data == OWN:
        return read_kitchen(KITCHEN)
    if is_made_here(data):
        # Houses take long to import.
        from housewise.worlds.choices.housekeep import read_housekeep

        return read_housekeep(count, seed, who=data.partition(":")[2] or None)
    path = Path(data)
    if path.suffix in (".yaml", ".yml"):
        return read_kitchen(path)
    fields = _fields(path)
    if "variants" in fields:
        return ambik_choices(path, count, seed)
    if "single_decision" in fields or "fold" in fields:
        return read_introplan(path, count, seed)
    raise DataError(
        f"{path}: has neither variants, as AmbiK's tasks, nor single_decision, as IntroPlan's scenes; give one of "
        f"these with a JSON object a line, a YAML file like {KITCHEN.name}, {OWN} or {HOUSES}"
    )


def is_made_here(data: str) -> bool:
    """Whether choices are our own kitchen's or made in houses, and no file."""
    return data == OWN or data.partition(":")[0] == HOUSES


def _fields(path: Path) -> set[str]:
    """The fields of a file's first line."""
    try:
        with path.open(encoding="utf-8") as stream:
            lines = (line for line in iter(lambda: stream.readline(_LONGEST_LINE), ""))
            first = next((line for line in islice(lines, 1000) if line.strip()), "")
        content = json.loads(first) if first else {}
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}); give {OWN}, {HOUSES} or a file of choices") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}, line 1: not JSON ({error}); give a JSON object a line, {OWN} or {HOUSES}") from error
    return set(content) if isinstance(content, dict) else set()
