"""Reads what trackers have kept."""

import json
import struct
import time
from collections.abc import Iterator
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


def offline(run: Path, count: int) -> list[dict[str, Any]]:
    """All points in the files of an offline run of wandb, which a process of its own may still be writing."""
    for _ in range(300):
        files = sorted((run / "wandb").glob("offline-run-*/*.wandb"), key=lambda path: path.stat().st_mtime)
        rows = [row for path in files for row in history(path)]
        if len(rows) >= count:
            break
        time.sleep(0.1)
    return rows


def history(path: Path) -> list[dict[str, Any]]:
    """What was logged to an offline run of wandb."""
    return [_items(record.history.item) for record in _records(path) if record.HasField("history")]


def config(path: Path) -> dict[str, Any]:
    """The config of an offline run of wandb."""
    return _items(next(record.run.config.update for record in _records(path) if record.HasField("run")))


def _items(items: Any) -> dict[str, Any]:
    return {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in items}


def _records(path: Path) -> Iterator[Any]:
    """Records of wandb's protocol, in a log of LevelDB's form."""
    from wandb.proto.wandb_internal_pb2 import Record

    data, at, whole = path.read_bytes(), _HEAD, b""
    while at + _HEAD <= len(data):
        if _BLOCK - at % _BLOCK < _HEAD:
            at += _BLOCK - at % _BLOCK
            continue
        _, length, kind = struct.unpack("<IHB", data[at : at + _HEAD])
        whole += data[at + _HEAD : at + _HEAD + length]
        at += _HEAD + length
        if at > len(data):
            return
        if kind in (1, 4):
            yield Record.FromString(whole)
            whole = b""
