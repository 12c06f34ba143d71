"""Reads what trackers have kept."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

_BLOCK, _HEAD = 32768, 7

Points = dict[str, list[tuple[int, float]]]
"""Steps and values by curve."""


def event_files(folder: Path) -> Points:
    """By TensorBoard's own reader."""
    from tensorboard.backend.event_processing.event_accumulator import SCALARS, EventAccumulator

    events = EventAccumulator(str(folder), size_guidance={SCALARS: 0})
    events.Reload()
    return {name: [(point.step, point.value) for point in events.Scalars(name)] for name in events.Tags()[SCALARS]}


def history(path: Path) -> list[dict[str, Any]]:
    """What was logged to an offline run of wandb: records of its protocol in a log of LevelDB's form."""
    from json import loads

    from wandb.proto.wandb_internal_pb2 import Record

    data, at, whole, found = path.read_bytes(), _HEAD, b"", []
    while at + _HEAD <= len(data):
        if _BLOCK - at % _BLOCK < _HEAD:
            at += _BLOCK - at % _BLOCK
            continue
        _, length, kind = struct.unpack("<IHB", data[at : at + _HEAD])
        whole += data[at + _HEAD : at + _HEAD + length]
        at += _HEAD + length
        if kind in (1, 4):
            record = Record.FromString(whole)
            whole = b""
            if record.WhichOneof("record_type") == "history":
                items = record.history.item
                found.append({item.key or "/".join(item.nested_key): loads(item.value_json) for item in items})
    return found
