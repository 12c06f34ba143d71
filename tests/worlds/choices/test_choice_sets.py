"""Loading of sets of choices by name or file."""

import shutil
from pathlib import Path

import pytest

from housewise.core.errors import DataError
from housewise.worlds.choices.choice_sets import KITCHEN_SET, load_choices
from housewise.worlds.choices.kitchen_choices import KITCHEN_FILE, read_kitchen_choices
from tests.worlds.choices.crafted import ambik_file, introplan_file


def test_a_set_is_loaded_by_name_or_by_the_format_of_its_file(tmp_path: Path) -> None:
    own = Path(shutil.copy(KITCHEN_FILE, tmp_path / "mine.yml"))
    assert load_choices(KITCHEN_SET, 3, 0) == load_choices(str(own), 3, 0) == read_kitchen_choices()
    ambik = load_choices(str(ambik_file(tmp_path)), 6, 0)
    introplan = load_choices(str(introplan_file(tmp_path)), 6, 0)
    assert (ambik.name, introplan.name) == ("ambik", "introplan")
    assert len(ambik.examples) == len(introplan.examples) == 6
    assert load_choices(str(tmp_path / "ambik.jsonl"), 6, 1).examples != ambik.examples


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has neither variants"),
        ("\n\n[1, 2]\n", "has neither variants"),
        ('{"a": ', "line 1: not JSON"),
        ("[" * 100_000, "line 1: not JSON"),
        ('{"variants": []}', "line 1: field id: Field required; is this another version of AmbiK's preference tasks?"),
    ],
)
def test_a_file_of_another_format_is_reported(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "choices.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=r"choices\.jsonl") as caught:
        load_choices(str(path), 3, 0)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_an_unreadable_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe")
    for name in (tmp_path, tmp_path / "missing.jsonl", tmp_path / "bytes.jsonl", tmp_path / "missing.yaml"):
        with pytest.raises(DataError, match="cannot be read"):
            load_choices(str(name), 3, 0)
