import io
import os
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.core.errors import DataError
from housewise.worlds.house.housekeep.annotations import read_annotations
from housewise.worlds.house.housekeep.unpickle import UnsafePickleError, load_pickled_object
from tests.worlds.house.housekeep_folder import ANNOTATIONS, write_annotations
from tests.worlds.house.refusals import refusal

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


class Call:
    """An object whose pickle is a call of a function."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


def npy_file(content: Any) -> bytes:
    """Write a ``.npy`` file with one Python object."""
    holder = np.empty((), dtype=object)
    holder[()] = content
    stream = io.BytesIO()
    np.save(stream, holder, allow_pickle=True)
    return stream.getvalue()


@given(VALUES)
def test_plain_values_and_arrays_are_read(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "plain.npy"
    path.write_bytes(npy_file({"value": value, "ranks": np.arange(6.0).reshape(2, 3), "one": np.int64(7)}))
    read = load_pickled_object(path)
    assert read["value"] == value
    assert (read["ranks"] == np.arange(6.0).reshape(2, 3)).all()
    assert read["one"] == 7


@pytest.mark.parametrize("protocol", range(5))
def test_no_file_can_run_code(tmp_path: Path, protocol: int) -> None:
    trace, path = tmp_path / "trace", tmp_path / "data.npy"
    for call in (
        Call(os.system, f"touch {trace}"),
        Call(eval, f"open({str(trace)!r}, 'w')"),
        Call(io.open, str(trace), "w"),
        Call(np.save, str(trace), 1),
        Call(np.load, str(trace)),
    ):
        content = npy_file(0)
        head = content[: content.index(b"\n") + 1]
        path.write_bytes(head + pickle.dumps(np.array(call, dtype=object), protocol=protocol))
        with pytest.raises(UnsafePickleError) as refused:
            load_pickled_object(path)
        # Before protocol 2, even numbers use operations that data files do not need.
        said = "it names " if protocol >= 2 else "it "
        assert str(refused.value).startswith(f"{path}: refused, {said}")
        assert "\n" not in str(refused.value)
        assert not trace.exists() and not trace.with_suffix(".npy").exists()


def test_annotations_cannot_run_code(tmp_path: Path) -> None:
    write_annotations(tmp_path / ANNOTATIONS)
    trace = tmp_path / "trace"
    evil = {"objects": Call(os.system, f"touch {trace}")}
    (tmp_path / ANNOTATIONS).write_bytes(npy_file(evil))
    with pytest.raises(DataError, match="neither a number, a text nor an array"):
        read_annotations(tmp_path)
    assert not trace.exists()
    # The attack works: numpy's own reader runs it.
    np.load(tmp_path / ANNOTATIONS, allow_pickle=True)
    assert trace.exists()


def test_other_types_are_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "data.npy"
    path.write_bytes(npy_file(OrderedDict(a=1)))
    with pytest.raises(UnsafePickleError, match=r"collections\.OrderedDict"):
        load_pickled_object(path)


@pytest.mark.parametrize(
    "content",
    [
        # Cut in its header and in its pickle.
        *(npy_file({"objects": ["mug"], "ranks": np.zeros(3)})[:cut] for cut in range(0, 330, 11)),
        b"",
        b"\x93NUMPY\x09\x00",
        npy_file(0).replace(b"'shape'", b"'shaqe'"),
        npy_file(0).replace(b"{'descr'", b"{{{{{{{{"),
        npy_file(0)[:128] + b"garbage",
        npy_file(0)[:128] + b"I99x\n.",
        npy_file(0)[:128] + b"(" * 50 + b".",
        npy_file(0)[:128] + pickle.dumps(np.zeros(3)),
        npy_file(0)[:128] + pickle.dumps(7),
        npy_file(0)[:128] + b"cnumpy\nndarray\n(I99999999999999999999\ntR.",
        npy_file(0)[:128] + b"cnumpy\nndarray\n((I999999999\nI999999999\nttR.",
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "data.npy"
    path.write_bytes(content)
    refusal(lambda: load_pickled_object(path), path)
