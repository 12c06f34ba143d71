"""Sets of choices by name or file: our kitchen, houses, a set in the kitchen's format, a user's AmbiK or IntroPlan."""

from __future__ import annotations

from pathlib import Path

from housewise.core.errors import DataError
from housewise.core.text_files import numbered_lines, parse_json, read_text
from housewise.worlds.choices import ambik, introplan_text
from housewise.worlds.choices.ambik_labels import read_ambik_choices
from housewise.worlds.choices.files import MAX_FILE_BYTES
from housewise.worlds.choices.introplan import read_introplan_choices
from housewise.worlds.choices.kitchen_choices import KITCHEN_FILE, read_kitchen_choices
from housewise.worlds.choices.scenario import ChoiceSet

KITCHEN_SET = "kitchen"
"""What our own set is called."""
HOUSE_SET = "housekeep"
"""What choices in generated houses are called; with a colon and a name behind it those of one person."""


def load_choices(data: str, count: int, seed: int) -> ChoiceSet:
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
    if data == KITCHEN_SET:
        return read_kitchen_choices(KITCHEN_FILE)
    if is_bundled_set(data):
        # Houses take long to import.
        from housewise.worlds.choices.house_choices import make_house_choices

        return make_house_choices(count, seed, who=data.partition(":")[2] or None)
    path = Path(data)
    if path.suffix in (".yaml", ".yml"):
        return read_kitchen_choices(path)
    text = read_text(path, f"give {KITCHEN_SET}, {HOUSE_SET} or a file of choices", MAX_FILE_BYTES)
    fields = set() if ambik.is_ambik_table(text) or introplan_text.is_introplan_text(text) else _fields(text, path)
    if "variants" in fields or ambik.is_ambik_table(text):
        return read_ambik_choices(path, count, seed)
    if "single_decision" in fields or "fold" in fields or introplan_text.is_introplan_text(text):
        return read_introplan_choices(path, count, seed)
    raise DataError(
        f"{path}: has neither variants, as AmbiK's tasks, nor single_decision, as IntroPlan's scenes; give one of "
        f"these as it was published or with a JSON object a line, a YAML file like {KITCHEN_FILE.name}, {KITCHEN_SET} or {HOUSE_SET}"
    )


def is_bundled_set(data: str) -> bool:
    """Whether choices are our own kitchen's or made in houses, and no file."""
    return data == KITCHEN_SET or is_house_set(data)


def is_house_set(data: str) -> bool:
    """Whether choices are made in houses, where they are one person's."""
    return data.partition(":")[0] == HOUSE_SET


def _fields(text: str, path: Path) -> set[str]:
    """The fields of the first line of JSON."""
    number, first = next(numbered_lines(text), (1, "{}"))
    content = parse_json(first, f"{path}, line {number}", f"give a JSON object a line, {KITCHEN_SET} or {HOUSE_SET}")
    return set(content) if isinstance(content, dict) else set()
