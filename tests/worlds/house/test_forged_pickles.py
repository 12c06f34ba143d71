"""Attacks on the reader of pickled arrays: forged types, and bombs that use up memory or time."""

import io
import json
import pickle
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.housekeep.unpickle import UnsafePickleError, load_pickled_object
from tests.worlds.house.refusals import refusal

HEADER = b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (), }".ljust(127) + b"\n"
RECONSTRUCT = np.zeros(0).__reduce__()[0]
SCALAR = np.float64(0).__reduce__()[0]
PLAIN: tuple[Any, ...] = (3, "<", None, None, None, -1, -1, 0)


class ForgedCall:
    """An object whose pickle is a call with a state."""

    def __init__(self, function: Any, arguments: tuple[Any, ...], *state: Any) -> None:
        self.parts = (function, arguments, *state)

    def __reduce__(self) -> Any:
        return self.parts

    def __repr__(self) -> str:
        return f"Made{self.parts}"


def dtype(code: Any, *state: Any) -> ForgedCall:
    return ForgedCall(np.dtype, (code, False, True), *state)


def array(kind: Any, shape: Any, data: Any, version: Any = 1, fortran: Any = False) -> ForgedCall:
    return ForgedCall(RECONSTRUCT, (np.ndarray, (0,), b"b"), (version, shape, kind, fortran, data))


def file_of(content: Any, protocol: int = 3) -> bytes:
    """Return a ``.npy`` file with one object."""
    return HEADER + pickle.dumps(array(dtype("O8", (3, "|", None, None, None, -1, -1, 63)), (), [content]), protocol)


def holding(operations: bytes) -> bytes:
    """Return a ``.npy`` file with the object that pickle operations leave on the stack."""
    return file_of("here it is").replace(b"X\x0a\x00\x00\x00here it is", operations)


def file_with_module(numpy_core: str, content: bytes) -> bytes:
    """Return a file of a numpy version with its arrays in a module."""
    for core in ("numpy.core", "numpy._core"):
        for length in (b"c", b"\x8c"):
            ends = (b"\n", b"") if length == b"c" else (b"", b"")
            names = [length + (b"" if length == b"c" else bytes([len(name) + 11])) for name in (core, numpy_core)]
            old, new = (
                start + f"{name}.multiarray".encode() + ends[0]
                for start, name in zip(names, (core, numpy_core), strict=True)
            )
            content = content.replace(old, new)
    return content


def refused(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return refusal(lambda: load_pickled_object(path), path)


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("core", ["numpy.core", "numpy._core"])
def test_arrays_are_read_as_numpy_writes_them(tmp_path: Path, core: str, protocol: int) -> None:
    rng, path = np.random.default_rng(0), tmp_path / "data.npy"
    kinds = ("?", "i1", "u2", "<i4", ">i8", "f2", "f4", "<f8", ">f8", "U7", ">U3", "S5")
    arrays = {kind: (100 * rng.standard_normal((3, 4))).astype(kind) for kind in kinds}
    arrays |= {"columns": np.asfortranarray(arrays["<f8"]), "none": np.float64(3.25), "text": np.str_("mug")}
    shared = ["ranks", 7, 2.5, None, True]
    path.write_bytes(file_with_module(core, file_of({"arrays": arrays, "one": shared, "same": shared}, protocol)))
    assert f"{core}.multiarray".encode() in path.read_bytes()
    read = load_pickled_object(path)
    assert read["one"] == read["same"] == shared
    for kind, expected in arrays.items():
        found = read["arrays"][kind]
        assert type(found) is type(expected) and found.dtype == expected.dtype and np.all(found == expected)


@pytest.mark.housekeep
@pytest.mark.parametrize("name", ["orm/amt_data/data.npy", "dump/scale_rots_all.npy"])
def test_the_files_of_the_data_are_read_as_by_numpy(housekeep: HousekeepData, name: str) -> None:
    path = housekeep.root / "cos_eor/scripts" / name
    expected = np.load(path, allow_pickle=True, encoding="latin1").item()
    assert len(expected) > 2 and same(load_pickled_object(path), expected)


def same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and bool((one == other).all())
    return bool(one == other)


FORGED = {
    "fields": ("V16", (3, "|", None, ("a",), {"a": (dtype("f8", PLAIN), 0)}, 16, 1, 0)),
    "fields under another name": ("f8", (3, "<", None, ("a",), {"a": (dtype("f8", PLAIN), 0)}, 8, 8, 0)),
    "offsets behind the end": ("f8", (3, "<", None, ("a",), {"a": (dtype("f8", PLAIN), 4000)}, 8, 8, 0)),
    "offsets before the start": ("f8", (3, "<", None, ("a",), {"a": (dtype("f8", PLAIN), -4000)}, 8, 8, 0)),
    "flags of objects": ("f8", (3, "<", None, None, None, -1, -1, 63)),
    "flags of getitem": ("i8", (3, "<", None, None, None, -1, -1, 0x20)),
    "a larger itemsize": ("f8", (3, "<", None, None, None, 4000, 8, 0)),
    "a smaller itemsize": ("f8", (3, "<", None, None, None, 0, 8, 0)),
    "a negative itemsize": ("f8", (3, "<", None, None, None, -8, 8, 0)),
    "an itemsize of texts": ("U4", (3, "<", None, None, None, 1 << 40, 4, 8)),
    "an alignment": ("f8", (3, "<", None, None, None, -1, 3, 0)),
    "a subarray": ("f8", (3, "|", (dtype("f8", PLAIN), (1000,)), None, None, 8000, 8, 0)),
    "an order of bytes": ("f8", (3, "!", None, None, None, -1, -1, 0)),
    "a long order of bytes": ("f8", (3, "<f8,", None, None, None, -1, -1, 0)),
    "an order that is none": ("f8", (3, None, None, None, None, -1, -1, 0)),
    "metadata": ("f8", (4, "<", None, None, None, -1, -1, 0, {"spam": 1})),
    "an old version": ("f8", (2, "<", None, None, None, -1, -1, 0)),
    "a short state": ("f8", (3, "<")),
    "no state in it": ("f8", ()),
    "a state that is no tuple": ("f8", {"fields": {}}),
    "true for a number": ("f8", (3, "<", None, None, None, -1, -1, False)),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_state_of_a_dtype_is_refused(tmp_path: Path, name: str) -> None:
    kind = dtype(*FORGED[name])
    for content in (array(kind, (1,), bytes(8)), ForgedCall(SCALAR, (kind, bytes(8)))):
        refused(tmp_path / "data.npy", file_of([content]))


@pytest.mark.parametrize("code", ["V8", "O", "O8", "M8[s]", "f16", "c16", "U0", "U-1", "S0", "3f8", "f8,f8", "x", 8])
def test_other_dtypes_are_refused(tmp_path: Path, code: Any) -> None:
    refused(tmp_path / "data.npy", file_of([array(dtype(code, PLAIN), (1,), bytes(8))]))


OBJECTS = dtype("O8", (3, "|", None, None, None, -1, -1, 63))
F8, BOOL, TEXT = (
    dtype("f8", PLAIN),
    dtype("b1", (3, "|", *PLAIN[2:])),
    dtype("U1", (3, "<", None, None, None, 4, 4, 8)),
)


@pytest.mark.parametrize(
    "content",
    [
        array(OBJECTS, (1,), bytes(8)),
        array(OBJECTS, (), [1]),
        array(OBJECTS, (2,), [1, 2]),
        ForgedCall(SCALAR, (OBJECTS, bytes(8))),
        array(dtype("f8"), (1,), bytes(8)),
        array(F8, (2,), bytes(8)),
        array(F8, (-1,), bytes(8)),
        array(F8, (1 << 62, 1 << 62), bytes(8)),
        array(F8, (0, 1 << 62), b""),
        array(F8, (1,) * 65, bytes(8)),
        array(F8, (1.0,), bytes(8)),
        array(F8, [1], bytes(8)),
        array(F8, (1,), "12345678"),
        array(F8, (1,), bytes(8), version=2),
        array(F8, (1,), bytes(8), fortran=7),
        ForgedCall(RECONSTRUCT, (np.ndarray, (1000,), b"b")),
        ForgedCall(RECONSTRUCT, (np.ndarray, (0,), b"O"), (1, (1,), F8, False, bytes(8))),
        ForgedCall(RECONSTRUCT, (np.dtype, (0,), b"b")),
        ForgedCall(SCALAR, (F8, bytes(7))),
        ForgedCall(SCALAR, (F8,)),
        ForgedCall(np.dtype, ("f8",)),
        ForgedCall(np.ndarray, ((10,), "f8")),
        ForgedCall(np.ndarray, ((10,),)),
        array(BOOL, (1,), b"\x07"),
        array(TEXT, (1,), b"\xff\xff\xff\x7f"),
        array(TEXT, (1,), b"\x00\xd8\x00\x00"),
        np.dtype,
        np.ndarray,
        np.zeros(2, dtype="f8,i4"),
        np.zeros(2, dtype=complex),
        np.datetime64("2024-01-01"),
        {1: 2},
        10**700,
    ],
    ids=str,
)
def test_forged_arrays_are_refused(tmp_path: Path, content: Any) -> None:
    refused(tmp_path / "data.npy", file_of([content]))


def test_the_state_of_a_used_dtype_cannot_change(tmp_path: Path) -> None:
    plain = pickle.dumps(F8, 2)[2:-1]
    state = pickle.dumps((3, "<", None, None, None, 4000, 8, 0), 2)[2:-1]
    assert "state" in refused(tmp_path / "data.npy", holding(b"(" + plain + state + b"bt"))


def test_text_with_half_a_surrogate_pair_is_refused(tmp_path: Path) -> None:
    refused(tmp_path / "data.npy", holding(b"X\x03\x00\x00\x00\xed\xa0\x80"))


def nested_doubling(begin: bytes, end: bytes, levels: int) -> bytes:
    """Return a container that contains another one twice, which contains another one twice, and so on, by memo."""
    made = begin + end
    for level in range(levels):
        number = bytes([100 + level])
        made = begin + made + b"q" + number + b"h" + number + end
    return made


def text(content: str) -> bytes:
    return b"X" + struct.pack("<I", len(content)) + content.encode()


LONG = b"B" + struct.pack("<I", 1 << 20) + bytes(1 << 20)
LONG_TEXT = pickle.dumps(dtype("U262144", (3, "<", None, None, None, 1 << 20, 4, 8)), 2)[2:-1]
COLLIDING = [b"\x8a\x0a" + (number * (2**61 - 1)).to_bytes(10, "little") for number in range(40_000)]
BOMBS = {
    "a large number to remember under": holding(b"Nr\xff\xff\xff\x7f"),
    "a larger number": holding(b"Nr\xff\xff\xff\xff"),
    "lists of lists": holding(nested_doubling(b"](", b"e", 40)),
    "pairs of pairs": holding(nested_doubling(b"(", b"t", 60)),
    "a list in itself": holding(b"]q\x64h\x64a"),
    "a list in a pair in itself": holding(b"]q\x64h\x64\x85a"),
    "a dictionary in itself": holding(b"}q\x64" + text("key") + b"h\x64s"),
    "an array in itself": HEADER
    + pickle.dumps(array(OBJECTS, (), ["itself"]), 3).replace(b"X\x06\x00\x00\x00itself", b"h\x05"),
    "a header of brackets": b"\x93NUMPY\x02\x00" + struct.pack("<I", 1 << 22) + b"(" * (1 << 22),
    "a header of minus signs": b"\x93NUMPY\x01\x00" + struct.pack("<H", 60000) + b"-" * 60000,
    "a header without end": b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + HEADER[10:],
    "bytes that are not there": holding(b"B\xff\xff\xff\xff"),
    "more bytes that are not there": holding(b"\x8e" + struct.pack("<Q", 1 << 62)),
    "text that is not there": holding(b"X\xff\xff\xff\xff"),
    "a frame that is not there": holding(b"\x95" + struct.pack("<Q", 1 << 62)),
    "a long number": holding(b"\x8b" + struct.pack("<I", 1 << 22) + b"\x7f" * (1 << 22)),
    "a number in digits": holding(b"I" + b"9" * (1 << 22) + b"\n"),
    "a text without quotes": holding(b"S" + b"\\x" * (1 << 21) + b"\n"),
    "deep tuples": holding(b")" + b"\x85" * 400_000),
    "deep lists": holding(b"]" * 400_000 + b"a" * 399_999),
    "many lists": holding(b"(" + b"]" * 30_000_000 + b"l"),
    "many dictionaries": holding(b"](" + b"}" * 30_000_000 + b"e"),
    "many marks": holding(b"(" * 30_000_000),
    "keys that collide": holding(b"}(" + b"".join(key + b"N" for key in COLLIDING) + b"u"),
    "a long text, copied": holding(
        b"](" + LONG + b"q\x64" + LONG_TEXT + b"q\x65" + pickle.dumps(SCALAR, 2)[2:-1] + b"q\x66"
        + b"h\x66h\x65h\x64\x86R" * 20_000 + b"e"
    ),
    "a long text, made bytes": holding(
        b"](c_codecs\nencode\nq\x64" + text("x" * (1 << 20)) + b"q\x65" + text("latin1") + b"q\x66"
        + b"h\x64h\x65h\x66\x86R" * 20_000 + b"e"
    ),
    "a long text, again and again": holding(b"](" + text("x" * (1 << 20)) + b"q\x64" + b"h\x64" * 100_000 + b"e"),
    "an array, again and again": holding(
        b"](" + pickle.dumps(np.zeros(1 << 17), 2)[2:-1] + b"r\xff\x00\x00\x00" + b"h\xff" * 100_000 + b"e"
    ),
    "a long name": holding(b"c" + b"a" * (1 << 22) + b"\n" + b"\xc3\xa9" * (1 << 20) + b"\n"),
    "another long name": holding(text("a\n\x1b" * (1 << 20)) + text("b") + b"\x93"),
    "a name that is a list": holding(nested_doubling(b"](", b"e", 10) + text("b") + b"\x93"),
    "zeros": bytes(100_000_000),
}  # fmt: skip

READ = """
import json, resource, signal, sys
from pathlib import Path
from housewise.core.errors import DataError
from housewise.worlds.house.housekeep.unpickle import load_pickled_object

resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
for path in map(Path, sys.argv[1:]):
    signal.setitimer(signal.ITIMER_VIRTUAL, 5.0)
    try:
        told = f"read: {load_pickled_object(path)!r}"
    except DataError as error:
        told = str(error)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    print(json.dumps([path.name, told]), flush=True)
"""


@pytest.mark.slow
def test_bombs_are_refused_within_limits_of_memory_and_time(tmp_path: Path) -> None:
    """Each file is refused with a message, within 2 GB of address space and 5 seconds of computing time."""
    paths = [tmp_path / f"{name}.npy" for name in BOMBS]
    for path, content in zip(paths, BOMBS.values(), strict=True):
        path.write_bytes(content)
    done = subprocess.run([sys.executable, "-c", READ, *map(str, paths)], capture_output=True, text=True, timeout=300)
    told = dict(json.loads(line) for line in done.stdout.splitlines())
    assert list(told) == [path.name for path in paths], (done.returncode, done.stderr[-500:])
    for path in paths:
        message = told[path.name]
        assert message.startswith(f"{path}: ") and len(message) < len(str(path)) + 400 and message.isprintable()


def test_the_endless_bomb_is_a_short_file(tmp_path: Path) -> None:
    """Numpy's own reader accepts the file, which shows that the bomb works."""
    content = BOMBS["lists of lists"]
    assert len(content) < 600
    value = np.load(io.BytesIO(content), allow_pickle=True).item()
    for _ in range(40):
        assert len(value) == 2 and value[0] is value[1]
        value = value[0]


def test_refused_files_and_damaged_files_give_different_errors(tmp_path: Path) -> None:
    path = tmp_path / "data.npy"
    path.write_bytes(BOMBS["a list in itself"])
    with pytest.raises(UnsafePickleError, match="changes what is held"):
        load_pickled_object(path)
