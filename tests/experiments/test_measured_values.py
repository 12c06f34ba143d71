"""What functions of experiments yield is checked, and the function is named."""

import sys
from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.experiments.catalogue import load_experiment
from housewise.experiments.measured_values import call_function, find_measures
from tests.experiments.records import make_record

ONE_MEASURE = """\
title: One measure
shows: A measure of one's own.
system: personalize
axes: {planner: [scripted]}
measures: [{mine: {function: "rows:measure"}}]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose modules can be imported, without what an earlier test imported of one."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "rows", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    "body, message",
    [
        ("return 5", "rows:measure: returned 5; yield (task, repeat, measure, value)"),
        ("yield 't', 0", "rows:measure: yielded ('t', 0); yield (task, repeat, measure, value)"),
        ("yield 't', 0, 'points', 'x'", "value 'x' of points in t is not a finite number"),
        ("yield 't', 0, 'points', 1, -1", "rows:measure: weight -1 of points in t is negative"),
        ("yield 't', 0, 'points', 1\n    yield 't', 0, 'points', 2", "two values of points in t, repeat 0; number"),
    ],
)
def test_rows_of_functions_are_checked(folder: Path, body: str, message: str) -> None:
    (folder / "rows.py").write_text(f"def measure():\n    {body}\n")
    with pytest.raises(UserError) as error:
        call_function("rows:measure", {})
    assert message in str(error.value)


@pytest.mark.parametrize("value", ["'x'", "1, 2, 3", "1.0, -1.0", "10**400"])
def test_values_of_measures_are_checked(folder: Path, value: str) -> None:
    (folder / "rows.py").write_text(f"def measure(record):\n    return {value}\n")
    (folder / "mine.yaml").write_text(ONE_MEASURE)
    found = find_measures(load_experiment(folder / "mine.yaml"), has_functions=False)
    with pytest.raises(UserError, match=r"rows:measure: .*; return a number, or "):
        list(found["mine"]("mine", make_record({"mug": "kitchen 0 shelf 1"}).record, None))
