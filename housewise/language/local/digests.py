"""Digests of models' weights, which identify an adapter's base model and a training's start."""

from __future__ import annotations

import contextlib
import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from housewise.core.errors import UserError
from housewise.core.files import open_regular
from housewise.core.text_files import read_json
from housewise.core.user_folders import expand_user
from housewise.language.local.smollm2 import SMOLLM2, smollm2_folder

# In the order in which transformers looks for them; an adapter's weights are never beside others.
_WHOLE = ("model.safetensors", "pytorch_model.bin", "adapter_model.safetensors")
_INDEX = "{}.index.json"
_BLOCK, _BLOCKS = 4096, 8
_LONGEST_HEADER = 100_000_000  # limit of the safetensors library
_LARGEST = 1 << 50


def weights_digest(model: str | Path) -> str | None:
    """Return a digest of the weights of a model or an adapter, without reading all of them.

    It covers the name, type and shape of every tensor, and its bytes: all of them up to 32 KiB, eight blocks of 4 KiB
    of a larger one. A model of 135M parameters takes 30 ms. The digest does not depend on where the files are or how
    the tensors are divided among them. It differs if any tensor was trained or had an adapter merged into it, but
    misses a change of a few numbers in a large tensor, such as the embedding of a single token. It also differs for the
    same weights in another type or under other names. Pickled weights are covered by the checksums in their archives.

    Args:
        model: ``"smollm2"``, a folder, or a Hugging Face name whose files are on this machine.

    Returns:
        32 hexadecimal digits; None if the weights cannot be found or read.
    """
    try:
        folder = _model_folder(str(model))
        found = sorted(digest for path in _weight_files(folder) for digest in _tensor_digests(path)) if folder else []
    except (UserError, OSError, ValueError, LookupError, TypeError, AttributeError, zipfile.BadZipFile):
        return None
    return hashlib.sha256("\n".join(found).encode()).hexdigest()[:32] if found else None


def _model_folder(model: str) -> Path | None:
    """Return the folder of a model's files on this machine."""
    folder = smollm2_folder() if model == SMOLLM2 else expand_user(model)
    if folder.is_dir():
        return folder
    with contextlib.suppress(ImportError, ValueError):
        from huggingface_hub import try_to_load_from_cache

        for name in (*_WHOLE, *map(_INDEX.format, _WHOLE)):
            kept = try_to_load_from_cache(model, name)
            if isinstance(kept, str):
                return Path(kept).parent
    return None


def _weight_files(folder: Path) -> list[Path]:
    """Return the files of a model's weights."""
    for name in _WHOLE:
        if (folder / name).is_file():
            return [folder / name]
        index = folder / _INDEX.format(name)
        if index.is_file():
            return [folder / Path(part).name for part in sorted(set(read_json(index)["weight_map"].values()))]
    return []


def _tensor_digests(path: Path) -> Iterator[str]:
    """Yield a digest of each tensor in a file."""
    with open_regular(path, _LARGEST) as stream:
        if path.suffix != ".safetensors":
            with zipfile.ZipFile(stream) as archive:
                yield from (f"{Path(part.filename).name} {part.file_size} {part.CRC}" for part in archive.infolist())
            return
        length = int.from_bytes(stream.read(8), "little")
        if length > _LONGEST_HEADER:
            raise ValueError(f"{path}: a header of {length} bytes")
        header: dict[str, dict[str, Any]] = json.loads(stream.read(length))
        header.pop("__metadata__", None)
        for name, about in header.items():
            begin, end = (8 + length + int(offset) for offset in about["data_offsets"])
            description = json.dumps([name, about["dtype"], about["shape"]])
            yield hashlib.sha256(description.encode() + _sample_bytes(stream, begin, end)).hexdigest()


def _sample_bytes(stream: IO[bytes], begin: int, end: int) -> bytes:
    """Return bytes from all parts of a tensor, or all bytes of a small one."""
    if end - begin <= _BLOCK * _BLOCKS:
        stream.seek(begin)
        return stream.read(max(end - begin, 0))
    step = (end - begin - _BLOCK) // (_BLOCKS - 1)
    found = []
    for number in range(_BLOCKS):
        stream.seek(begin + number * step)
        found.append(stream.read(_BLOCK))
    return b"".join(found)
