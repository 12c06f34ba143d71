"""The first and the last line of a record, read without what lies between."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.core.errors import UserError
from housewise.core.files import read_end_lines
from housewise.core.record_files import format_event
from housewise.rollout.record_reader import read_record, read_summary
from tests.experiments.records import make_record


@given(
    lines=st.lists(st.binary().map(lambda each: each.replace(b"\n", b"")), min_size=1),
    long=st.integers(0, 100_000),
    fed=st.booleans(),
)
def test_the_ends_of_a_file(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], long: int, fed: bool) -> None:
    lines = [*lines[:-1], lines[-1] + long * b"x" + b"."]
    path = tmp_path_factory.mktemp("ends") / "lines"
    path.write_bytes(b"\n".join(lines) + (b"\n" if fed else b""))
    assert read_end_lines(path) == (lines[0], lines[-1])


@pytest.fixture
def lines() -> list[str]:
    record = make_record({"mug 1": "moon"}).record
    return [format_event(each) for each in (record.header, *record.events, record.result)]


def test_it_is_what_the_whole_record_says(lines: list[str], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    whole = read_record(path)
    assert read_summary(path) == (whole.header, whole.result)


@pytest.mark.parametrize(
    "content",
    [[], ["{}"], ["no"], [0], [0, 0], [-1, -1], [0, "{torn"], ["\ufeff", -1], [0, '{"type":"result","data":{}}']],
)
def test_a_damaged_one_is_refused_in_the_same_words(lines: list[str], content: list[str | int], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines[each] if isinstance(each, int) else each for each in content), encoding="utf-8")
    with pytest.raises(UserError) as whole:
        read_record(path)
    with pytest.raises(UserError) as ends:
        read_summary(path)
    assert str(ends.value) == str(whole.value)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such record"):
        read_summary(tmp_path)
