"""Reads the history from the file that wandb writes for a run, for which the library has no public reader."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from housewise.core.files import read_bytes

_BLOCK, _HEAD = 32768, 7
_WHOLE, _LAST = 1, 4


def read_history(path: Path) -> Iterator[dict[str, Any]]:
    """Read the logged points of a run. A truncated last point is ignored.

    The file is a LevelDB log (blocks of 32 KiB; chunks with checksum, length and type after a header of seven bytes)
    whose messages are wandb's protocol buffers.

    Args:
        path: Path of `run-ID.wandb`.

    Yields:
        Values by key.
    """
    from google.protobuf.message import DecodeError
    from wandb.proto.wandb_internal_pb2 import Record

    try:
        for message in _messages(read_bytes(path)):
            record = Record.FromString(message)
            if record.WhichOneof("record_type") == "history":
                items = record.history.item
                yield {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in items}
    except (DecodeError, ValueError):
        return


def _messages(data: bytes) -> Iterator[bytes]:
    at, message = _HEAD, b""
    while at + _HEAD <= len(data):
        if _BLOCK - at % _BLOCK < _HEAD:
            at += _BLOCK - at % _BLOCK
            continue
        _, length, kind = struct.unpack("<IHB", data[at : at + _HEAD])
        message += data[at + _HEAD : at + _HEAD + length]
        at += _HEAD + length
        if at > len(data):
            return
        if kind in (_WHOLE, _LAST):
            yield message
            message = b""
