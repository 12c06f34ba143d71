"""Whose code an error comes from."""

import ast
import json
import runpy
from pathlib import Path

import numpy as np
import pytest

from housewise.core.error_origin import describe_code, describe_error, user_frame
from housewise.core.errors import UserError
from housewise.core.text_files import read_json


def caught(function: object, *arguments: object) -> Exception:
    """What a function of somebody else's raises, without this test's own frame."""
    with pytest.raises(Exception) as raised:
        function(*arguments)  # type: ignore[operator]
    raised.value.__traceback__ = raised.value.__traceback__ and raised.value.__traceback__.tb_next
    return raised.value


def test_the_innermost_line_of_the_users_own_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "theirs.py").write_text("import json\ndef keep(text):\n    return json.loads(text)\n")
    monkeypatch.chdir(tmp_path)
    theirs = runpy.run_path(str(tmp_path / "theirs.py"))
    line = describe_error(caught(theirs["keep"], "{"))
    assert line.endswith(", in theirs.py:3 (keep): return json.loads(text)"), line


@pytest.mark.parametrize(
    "error",
    [caught(json.loads, "{"), caught(np.zeros, -1), caught(read_json, Path("/nowhere")), UserError("no frame at all")],
    ids=["standard library", "installed", "housewise", "not raised"],
)
def test_what_is_not_the_users_is_not_named(error: Exception) -> None:
    assert user_frame(error) is None
    assert describe_error(error) == " ".join(f"{type(error).__name__}: {error}".split())


def test_a_syntax_error_has_a_place_and_a_long_line_is_cut(tmp_path: Path) -> None:
    source = "x = 1\n" + "y = (" + "1 + " * 200
    error = caught(ast.parse, source, str(tmp_path / "theirs.py"))
    line = describe_error(error)
    assert f"{tmp_path / 'theirs.py'}:2: y = (1 + " in line and len(line) < 300 and "\n" not in line


def test_a_function_has_a_place_where_it_is_written_in_python() -> None:
    assert describe_code(caught).startswith("tests/core/test_error_origin.py:") or "test_frames.py:" in describe_code(
        caught
    )
    assert describe_code(len) == "len"
