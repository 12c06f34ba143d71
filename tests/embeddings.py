"""Shares sentence embeddings among the processes of a test session.

Many tests and commands embed the same texts, which takes milliseconds per text. The vector of a text is the same in
every batch (see ``MiniLM``), so the processes append their vectors to one file and read those of others from it.
"""

import hashlib
import os
from pathlib import Path

import numpy as np

from housewise.language.embedder import MiniLM, Vectors

VARIABLE = "HOUSEWISE_TEST_EMBEDDINGS"
"""Environment variable with the path of the file."""
COMPUTE = MiniLM._encode
"""The method that ``share_embeddings`` replaces."""
_RECORD = np.dtype([("key", "V32"), ("vector", np.float32, 384)])


def share_embeddings(path: Path) -> None:
    """Make ``MiniLM`` look texts up in a file, and append the vectors that it computes."""
    known: dict[bytes, Vectors] = {}
    read = 0

    def read_new() -> None:
        nonlocal read
        size = path.stat().st_size if path.is_file() else 0
        # A test process that ends deletes the file; the others start a new one.
        read = read if size >= read * _RECORD.itemsize else 0
        records = np.fromfile(path, _RECORD, offset=read * _RECORD.itemsize) if size else ()
        known.update((record["key"].tobytes(), record["vector"]) for record in records)
        read += len(records)

    def encode(self: MiniLM, texts: list[str]) -> Vectors:
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        read_new()
        if missing := {key: text for key, text in zip(keys, texts, strict=True) if key not in known}:
            vectors = COMPUTE(self, [*missing.values()])
            records = np.array([*zip(map(np.void, missing), vectors, strict=True)], _RECORD)
            # One write, so that processes that write at the same time do not mix their records.
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.write(file, records.tobytes())
            os.close(file)
            known.update(zip(missing, vectors, strict=True))
        return np.stack([known[key] for key in keys])

    MiniLM._encode = encode  # type: ignore[method-assign]
