"""Reads the pickled objects of the Housekeep data safely: it never imports or calls what a file names.

A pickle is a program for a stack machine. This module implements only the operations for numbers, texts, lists, tuples,
dictionaries and plain arrays. It builds arrays itself from checked bytes. A value is complete before another value can
contain it, so there are no cycles.
"""

from __future__ import annotations

import math
import pickletools
import re
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from housewise.core.errors import DataError
from housewise.core.files import open_regular

# The larger of the two known files has 2.8 MB, the longer one 104,000 operations.
_MAX_BYTES = 1 << 26
_MAX_OPERATIONS = 500_000
_DEEPEST = 64
# Greatest total size of the values, with repeated values counted each time, per byte of the file.
_GROWTH = 16
_MAX_DIMENSIONS = 8
_MAX_TOLD = 200
_FARTHEST_CHARACTER = 0x10FFFF

_HEADER = re.compile(rb"\{'descr': '\|O', 'fortran_order': (False|True), 'shape': \(\), \} *\n")
_PLAIN_DTYPE = re.compile(r"b1|[iu][1248]|f[248]|[US][1-9][0-9]{0,6}")
_OBJECT = "O8"


class UnsafePickleError(DataError):
    """A file uses operations or names that plain data do not need."""


class _AllowedGlobal(Enum):
    """The functions and classes that a file may name: those of numpy's arrays, and of bytes in old protocols."""

    RECONSTRUCT = "_reconstruct"
    SCALAR = "scalar"
    NDARRAY = "ndarray"
    DTYPE = "dtype"
    ENCODE = "encode"


_NAMES = {
    **{
        (f"numpy.{core}.multiarray", each.value): each
        for core in ("core", "_core")
        for each in list(_AllowedGlobal)[:2]
    },
    ("numpy", "ndarray"): _AllowedGlobal.NDARRAY,
    ("numpy", "dtype"): _AllowedGlobal.DTYPE,
    ("_codecs", "encode"): _AllowedGlobal.ENCODE,
}


@dataclass
class _Unfinished:
    """An array, or a dtype with its code, whose state follows later in the file."""

    code: str | None


@dataclass(frozen=True)
class _ObjectArray:
    """An array without dimensions that contains an object: the outermost value of a file."""

    content: Any


@dataclass
class _Node:
    """A value on the stack.

    Attributes:
        value: The value.
        weight: Number of its numbers and characters, with repeated parts counted each time.
        depth: Depth of its nesting.
        is_plain: Whether it is data, and not a part of the construction of an array.
        is_frozen: Whether another value contains it, so that it must not change.
    """

    value: Any
    weight: int = 1
    depth: int = 0
    is_plain: bool = True
    is_frozen: bool = False


def load_pickled_object(path: Path) -> Any:
    """Read the Python object of a ``.npy`` file that contains a single object.

    Numbers, texts, arrays of both, and containers of these are allowed. Nothing in the file is executed, and time and
    memory are bounded by the size of the file.

    Raises:
        UnsafePickleError: If the file has any other content.
        DataError: If the file is missing or damaged; the message names it.
    """
    try:
        return _Machine(_pickle(_content(path))).run()
    except UnsafePickleError as error:
        raise UnsafePickleError(
            f"{path}: refused, {error}; fetch the file again from the Housekeep repository"
        ) from error
    except Exception as error:  # a damaged pickle raises errors of any class
        told = " ".join(str(error)[:_MAX_TOLD].split())
        raise DataError(f"{path}: not a readable data file ({told}); fetch it again") from error


def _content(path: Path) -> bytes:
    with open_regular(path) as stream:
        content = stream.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise UnsafePickleError(f"it has more than {_MAX_BYTES >> 20} MB")
    return content


def _pickle(content: bytes) -> bytes:
    """Return the pickle after the header of a ``.npy`` file, which has to be that of a single object."""
    if content[:6] != b"\x93NUMPY" or content[6:7] not in (b"\x01", b"\x02", b"\x03"):
        raise ValueError("no .npy file")
    length = struct.Struct("<H" if content[6] == 1 else "<I")
    (size,) = length.unpack_from(content, 8)
    start = 8 + length.size
    if not _HEADER.fullmatch(content, start, min(start + size, len(content))):
        raise ValueError("its header is not that of a single object")
    return content[start + size :]


class _Machine:
    """Executes the operations of one pickle."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._most = _GROWTH * len(content)
        self._copied = 0
        self._stack: list[_Node] = []
        self._marks: list[int] = []
        self._memo: dict[int, _Node] = {}
        self._operations: dict[str, Callable[[Any], None]] = {
            "PROTO": lambda _: None,
            "FRAME": lambda _: None,
            "STOP": lambda _: None,
            "MARK": lambda _: self._marks.append(len(self._stack)),
            "NONE": lambda _: self._push(None),
            "NEWTRUE": lambda _: self._push(True),
            "NEWFALSE": lambda _: self._push(False),
            "EMPTY_LIST": lambda _: self._push([]),
            "EMPTY_DICT": lambda _: self._push({}),
            "EMPTY_TUPLE": lambda _: self._tuple([]),
            "TUPLE": lambda _: self._tuple(self._since_mark()),
            "APPEND": lambda _: self._append(self._pop(1)),
            "APPENDS": lambda _: self._append(self._since_mark()),
            "SETITEM": lambda _: self._set(self._pop(2)),
            "SETITEMS": lambda _: self._set(self._since_mark()),
            "MEMOIZE": lambda _: self._put(len(self._memo)),
            "GLOBAL": lambda names: self._name(*names.split(" ", 1)),
            "STACK_GLOBAL": lambda _: self._name(*(node.value for node in self._pop(2))),
            "REDUCE": lambda _: self._reduce(*self._pop(2)),
            "BUILD": lambda _: self._build(*self._pop(2)),
            "TUPLE1": lambda _: self._tuple(self._pop(1)),
            "TUPLE2": lambda _: self._tuple(self._pop(2)),
            "TUPLE3": lambda _: self._tuple(self._pop(3)),
            **dict.fromkeys(("BINPUT", "LONG_BINPUT"), self._put),
            **dict.fromkeys(("BINGET", "LONG_BINGET"), self._get),
            **dict.fromkeys(("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"), self._push),
            **dict.fromkeys(("BINUNICODE", "SHORT_BINUNICODE"), self._text),
            **dict.fromkeys(("BINBYTES", "SHORT_BINBYTES"), lambda data: self._push(data, len(data))),
        }

    def run(self) -> Any:
        """Return the object of the file."""
        for count, (operation, argument, _) in enumerate(pickletools.genops(BytesIO(self._content))):
            if count >= _MAX_OPERATIONS:
                raise UnsafePickleError(f"it takes more than {_MAX_OPERATIONS:,} operations")
            if operation.name not in self._operations:
                raise UnsafePickleError(f"it uses {operation.name}, which neither numbers, texts nor arrays need")
            self._operations[operation.name](argument)
        (node,) = self._stack
        if not isinstance(node.value, _ObjectArray):
            raise ValueError("it does not hold a single object")
        return node.value.content

    def _push(self, value: Any, weight: int = 0, **more: Any) -> None:
        self._stack.append(_Node(value, 1 + weight, **more))

    def _pop(self, count: int) -> list[_Node]:
        start = len(self._stack) - count
        if start < (self._marks[-1] if self._marks else 0):
            raise ValueError("it takes more from the stack than there is")
        taken = self._stack[start:]
        del self._stack[start:]
        return taken

    def _since_mark(self) -> list[_Node]:
        return self._pop(len(self._stack) - self._marks.pop())

    def _text(self, text: str) -> None:
        text.encode("utf-8")  # half of a surrogate pair is no text
        self._push(text, len(text))

    def _put(self, index: int) -> None:
        if index >= _MAX_OPERATIONS:
            raise UnsafePickleError(f"it remembers under the number {index}")
        self._memo[index] = self._stack[-1]

    def _get(self, index: int) -> None:
        node = self._memo[index]
        node.is_frozen = True
        self._stack.append(node)

    def _tuple(self, parts: list[_Node]) -> None:
        node = _Node(())
        self._hold(node, parts)
        node.value, node.is_plain = tuple(part.value for part in parts), all(part.is_plain for part in parts)
        self._stack.append(node)

    def _append(self, parts: list[_Node]) -> None:
        self._extensible(list, parts).extend(part.value for part in parts)

    def _set(self, parts: list[_Node]) -> None:
        keys, values = parts[::2], parts[1::2]
        if not all(isinstance(key.value, str) for key in keys):
            raise UnsafePickleError("it has a dictionary with keys that are no texts")
        self._extensible(dict, parts).update((key.value, part.value) for key, part in zip(keys, values, strict=True))

    def _extensible(self, kind: type, parts: Sequence[_Node]) -> Any:
        """Return the list or dictionary on top of the stack after checking that it may contain some parts."""
        node = self._stack[-1]
        if type(node.value) is not kind or not all(part.is_plain for part in parts):
            raise UnsafePickleError(f"it puts together what is no {kind.__name__} of plain data")
        self._hold(node, parts)
        return node.value

    def _hold(self, node: _Node, parts: Iterable[_Node]) -> None:
        if node.is_frozen:
            raise UnsafePickleError("it changes what is held already")
        for part in parts:
            part.is_frozen = True
            node.weight += part.weight
            node.depth = max(node.depth, part.depth + 1)
        # Nested lists that repeat the same list are short in the file but can be huge in memory.
        if node.weight > self._most or node.depth > _DEEPEST:
            raise UnsafePickleError(f"written out in full it is more than {_GROWTH} times as long, or too deep")

    def _name(self, module: Any, name: Any) -> None:
        if not isinstance(module, str) or not isinstance(name, str):
            raise ValueError("a name is no text")
        named = _NAMES.get((module, name))
        if named is None:
            told = f"{module}.{name}"[:_MAX_TOLD].encode("unicode_escape").decode()[:_MAX_TOLD]
            raise UnsafePickleError(f"it names {told}, which is neither a number, a text nor an array")
        self._push(named, is_plain=False)

    def _reduce(self, function: _Node, given: _Node) -> None:
        """Start an array or a dtype, or make a number or bytes, in place of the call that the file names."""
        named, values = function.value, given.value if isinstance(given.value, tuple) else ()
        if named is _AllowedGlobal.RECONSTRUCT and values == (_AllowedGlobal.NDARRAY, (0,), b"b"):
            self._push(_Unfinished(None), is_plain=False)
        elif named is _AllowedGlobal.DTYPE and _types(values) == (str, bool, bool) and _is_dtype(values[0]):
            self._push(_Unfinished(values[0]), is_plain=False)
        elif named is _AllowedGlobal.SCALAR and len(values) == 2 and isinstance(values[0], np.dtype):
            dtype, data = values
            self._copy(dtype.itemsize)
            self._push(_array(dtype, (), data, "C")[()], dtype.itemsize)
        elif named is _AllowedGlobal.ENCODE and _types(values) == (str, str) and values[1] == "latin1":
            self._copy(len(values[0]))
            self._push(values[0].encode("latin1"), len(values[0]))
        else:
            raise UnsafePickleError("it makes something in a way that numpy does not")

    def _copy(self, size: int) -> None:
        """Count copied bytes, since a memoized value can be copied repeatedly."""
        self._copied += size
        if self._copied > self._most:
            raise UnsafePickleError(f"it takes more than {_GROWTH} times the memory of the file")

    def _build(self, begun: _Node, state: _Node) -> None:
        """Complete an array or a dtype with its state."""
        raw, values = begun.value, state.value
        if not isinstance(raw, _Unfinished) or not isinstance(values, tuple) or begun.is_frozen:
            raise UnsafePickleError("it gives a state to what has none")
        if raw.code is None:
            begun.value, begun.weight, begun.is_plain = self._array_from_state(values)
        else:
            begun.value = _dtype(raw.code, values)
        self._stack.append(begun)

    def _array_from_state(self, state: tuple[Any, ...]) -> tuple[Any, int, bool]:
        """Return an array from its state in numpy's format, its weight, and whether it is plain."""
        if _types(state)[:2] != (int, tuple) or len(state) != 5 or state[0] != 1 or type(state[3]) is not bool:
            raise UnsafePickleError("it has an array in a form that numpy does not write")
        _, shape, dtype, fortran, data = state
        if type(dtype) is str and dtype == _OBJECT and shape == () and isinstance(data, list) and len(data) == 1:
            return _ObjectArray(data[0]), 1, False
        if not isinstance(dtype, np.dtype):
            raise UnsafePickleError("it has an array of objects inside")
        array = _array(dtype, shape, data, "F" if fortran else "C")
        return array, 1 + array.nbytes, True


def _types(values: tuple[Any, ...]) -> tuple[type, ...]:
    return tuple(type(value) for value in values)


def _is_dtype(code: str) -> bool:
    return code == _OBJECT or _PLAIN_DTYPE.fullmatch(code) is not None


def _dtype(code: str, state: tuple[Any, ...]) -> np.dtype[Any] | str:
    """Return the dtype of a code with the byte order of its state. The rest of the state has to be the default."""
    order = state[1] if len(state) > 1 else None
    usual = np.dtype(code if code == _OBJECT else f"{order}{code}") if order in ("<", ">", "|") else None
    if usual is None or repr(state) != repr(usual.__reduce__()[2]):
        raise UnsafePickleError(f"it has numbers of a kind of its own under the name {code}")
    return code if code == _OBJECT else usual


def _array(dtype: np.dtype[Any], shape: Any, data: Any, order: Literal["C", "F"]) -> NDArray[Any]:
    """Return an array over bytes, after checking their number and that each is a valid number or character."""
    lengths_fit = len(shape) <= _MAX_DIMENSIONS and all(type(n) is int and 0 <= n <= _MAX_BYTES for n in shape)
    if not lengths_fit or type(data) is not bytes or math.prod(shape) * dtype.itemsize != len(data):
        raise ValueError("an array does not have the bytes that it takes")
    array = np.frombuffer(data, dtype)
    if dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise ValueError("a truth value is neither true nor false")
    if dtype.kind == "U":
        letters = np.frombuffer(data, np.dtype("u4").newbyteorder(dtype.byteorder))
        if ((letters > _FARTHEST_CHARACTER) | ((letters >= 0xD800) & (letters < 0xE000))).any():
            raise ValueError("a text has letters that there are not")
    shaped: NDArray[Any] = array.reshape(shape, order=order)
    return shaped
