"""Loads sets of choices by name or file: kitchen, houses, AmbiK, Introspective Planning, or a user's own set."""

from __future__ import annotations

from pathlib import Path

from housewise.core.errors import DataError
from housewise.core.text_files import numbered_lines, parse_json, read_text
from housewise.worlds.choices.ambik import is_ambik_table
from housewise.worlds.choices.ambik_labels import read_ambik_choices
from housewise.worlds.choices.data_files import MAX_FILE_BYTES
from housewise.worlds.choices.introplan import read_introplan_choices
from housewise.worlds.choices.introplan_text import is_introplan_text
from housewise.worlds.choices.kitchen_choices import KITCHEN_FILE, read_kitchen_choices
from housewise.worlds.choices.scenario import ChoiceSet

KITCHEN_SET = "kitchen"
"""Name of the bundled kitchen set."""
HOUSE_SET = "housekeep"
"""Name of the choices in generated houses. A colon and a name select a person."""


def load_choices(data: str, count: int, seed: int, annotators: Path | None = None) -> ChoiceSet:
    """Load a set of choices.

    Args:
        data: ``kitchen``, ``housekeep`` or, for one person, ``housekeep:ada``. Or the path of a file: YAML in the
            format of the kitchen set, or AmbiK's tasks or Introspective Planning's scenes (as published, or as JSON
            Lines).
        count: Number of examples to draw. Those of the kitchen set are fixed.
        seed: Seed of the draw.
        annotators: Folder of Housekeep, whose annotators replace the bundled people of choices in houses.

    Raises:
        DataError: There is no such file, or it has another format. The message names the field and the remedy.
    """
    if data == KITCHEN_SET:
        return read_kitchen_choices(KITCHEN_FILE)
    if is_bundled_set(data):
        # The generator of houses is slow to import.
        from housewise.worlds.choices.house_choices import make_house_choices

        return make_house_choices(count, seed, annotators, data.partition(":")[2] or None)
    path = Path(data)
    if path.suffix in (".yaml", ".yml"):
        return read_kitchen_choices(path)
    text = read_text(path, f"give {KITCHEN_SET}, {HOUSE_SET} or a file of choices", MAX_FILE_BYTES)
    is_table, is_scene_text = is_ambik_table(text), is_introplan_text(text)
    fields = set() if is_table or is_scene_text else _first_fields(text, path)
    if is_table or "variants" in fields:
        return read_ambik_choices(path, count, seed)
    if is_scene_text or "single_decision" in fields or "fold" in fields:
        return read_introplan_choices(path, count, seed)
    raise DataError(
        f"{path}: has neither variants, as AmbiK's tasks, nor single_decision, as IntroPlan's scenes; give one of "
        f"these as published or as JSON Lines, a YAML file like {KITCHEN_FILE.name}, {KITCHEN_SET} or {HOUSE_SET}"
    )


def is_bundled_set(data: str) -> bool:
    """Whether a name stands for a bundled set, and not for a file."""
    return data == KITCHEN_SET or is_house_set(data)


def is_house_set(data: str) -> bool:
    """Whether a name stands for choices in houses."""
    return data.partition(":")[0] == HOUSE_SET


def _first_fields(text: str, path: Path) -> set[str]:
    """Return the fields of the first line of JSON Lines."""
    number, first = next(numbered_lines(text), (1, "{}"))
    content = parse_json(first, f"{path}, line {number}", f"give a JSON object a line, {KITCHEN_SET} or {HOUSE_SET}")
    return set(content) if isinstance(content, dict) else set()
