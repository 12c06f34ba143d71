"""Files that are read as pydantic classes: what is wrong with one is one line with file, field and remedy."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from housewise.core.errors import DataError, UserError
from housewise.core.validation import StrictModel, read_model, validate_json, validate_model


class Cup(BaseModel):
    size: int
    name: str = "cup"


class StrictCup(StrictModel):
    size: int


class CupError(UserError):
    """Error of its own."""


@pytest.mark.parametrize(("name", "text"), [("cup.yaml", "size: 3\n"), ("cup.json", '{"size": 3}')])
def test_yaml_and_json_are_read_by_suffix(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert read_model(path, Cup) == Cup(size=3)
    path.write_text(text.replace("3", '"many"'))
    with pytest.raises(DataError, match=rf"{name}: field size: Input should be a valid integer.*; correct it$"):
        read_model(path, Cup)
    with pytest.raises(CupError, match=r"not a cup \(field size: .*\); buy one$"):
        read_model(path, Cup, "buy one", "a cup", CupError)
    path.write_text("[")
    with pytest.raises(UserError, match=rf"{name}: .*; buy one$"):
        read_model(path, Cup, "buy one")
    path.unlink()
    with pytest.raises(DataError, match=rf"{name}: cannot be read .*; buy one$"):
        read_model(path, Cup, "buy one")


def test_values_and_json_lines_name_their_source() -> None:
    assert validate_model(Cup, {"size": 3}, "a record") == validate_json(Cup, '{"size": 3}', "line 1")
    with pytest.raises(DataError, match=r"^a record: field size: Field required; correct it$"):
        validate_model(Cup, {}, "a record")
    with pytest.raises(
        DataError, match=r"^a record: field sise: there is no such field; did you mean size\? .*correct it$"
    ):
        validate_model(StrictCup, {"sise": 3}, "a record")
    with pytest.raises(
        DataError, match=r"^line 1: not a cup \(expected fields and their values: size, name\); mend it$"
    ):
        validate_json(Cup, "3", "line 1", "mend it", "a cup")
