"""Checks files of 3D models and the files they refer to, since a damaged one can crash a simulator."""

from __future__ import annotations

import base64
import json
import shlex
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import trimesh
from PIL import Image, UnidentifiedImageError

from housewise.core.errors import DataError
from housewise.core.files import open_regular, read_bytes
from housewise.core.printable_text import excerpt

_POINTER = b"version https://git-lfs.github.com/spec/"
# A larger texture could exhaust the memory.
_MAX_PIXELS = 1 << 26
_GLB_HEADER, _GLB_CHUNK = struct.Struct("<4sII"), struct.Struct("<I4s")
# Textures that Pillow does not read: KTX 2 and Basis Universal.
_COMPRESSED = (b"\xabKTX 20\xbb", b"sB")
_TEXTURES = ("map_kd", "map_ka", "map_ks")


def check_model_file(path: Path) -> None:
    """Check that the file of a 3D model, its textures and other referenced files are complete and readable.

    The triangles of ``.obj``, ``.ply``, ``.stl``, ``.glb`` and ``.gltf`` files are read, except for glTF files that
    require extensions.

    Raises:
        DataError: If a file is missing, empty, damaged, or a pointer of Git LFS; the message names the file.
    """
    check_referenced_files(path)
    kind = path.suffix.lower()
    with _name_file_in_errors(path):
        if kind in (".glb", ".gltf"):
            _check_gltf(path, binary=kind == ".glb")
        elif kind in (".obj", ".ply", ".stl"):
            _check_triangles(path)


def check_referenced_files(path: Path) -> None:
    """Check that the file of a 3D model is not empty, and that the materials and textures of an ``.obj`` are readable.

    Raises:
        DataError: If a file is missing, empty, damaged, or a pointer of Git LFS; the message names the file.
    """
    _check_file(path)
    if path.suffix.lower() != ".obj":
        return
    for library in _referenced_files(path, ("mtllib",)):
        _check_file(library)
        for texture in _referenced_files(library, _TEXTURES):
            _check_file(texture)
            with _name_file_in_errors(texture):
                _check_picture(read_bytes(texture))


@contextmanager
def _name_file_in_errors(path: Path) -> Iterator[None]:
    """Convert all errors of a parser to errors that name the file."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # parsers raise errors of any class
        raise DataError(f"{path}: damaged ({excerpt(error) or type(error).__name__}); fetch the file again") from error


def _check_file(path: Path) -> None:
    try:
        with open_regular(path) as stream:
            begin = stream.read(len(_POINTER))
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file; fetch it again") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); fetch the file again") from error
    if not begin:
        raise DataError(f"{path}: the file is empty; fetch it again")
    if begin == _POINTER:
        folder = shlex.quote(str(path.parent))
        raise DataError(f"{path}: only Git LFS's pointer to the file; run git -C {folder} lfs pull")


def _referenced_files(path: Path, keywords: tuple[str, ...]) -> Iterator[Path]:
    """Yield the existing files that a text file names after some keywords."""
    for line in read_bytes(path).decode("utf-8", errors="replace").splitlines():
        keyword, _, name = line.strip().partition(" ")
        if keyword.lower() in keywords:
            # Names may contain spaces, and may follow options or precede other names.
            names = [name.strip(), *name.split()]
            yield from [file for file in (path.parent / each for each in dict.fromkeys(names) if each) if _exists(file)]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _check_picture(content: bytes) -> None:
    if content.startswith(_COMPRESSED):
        return
    try:
        opened = Image.open(BytesIO(content))
    except UnidentifiedImageError:
        raise ValueError("not a picture") from None
    with opened as picture:
        if picture.width * picture.height > _MAX_PIXELS:
            raise ValueError(f"its texture has {picture.width} x {picture.height} pixels")
        picture.load()


def _check_triangles(path: Path) -> None:
    loaded = trimesh.load(path, process=False, maintain_order=True)
    parts = list(loaded.geometry.values()) if isinstance(loaded, trimesh.Scene) else [loaded]
    parts = [part for part in parts if len(getattr(part, "faces", ()))]
    if not parts:
        raise ValueError("no triangles")
    corners = np.concatenate([part.vertices[part.faces].reshape(-1, 3) for part in parts])
    if not np.isfinite(corners).all():
        raise ValueError("a vertex is not finite")
    if np.count_nonzero(np.ptp(corners, axis=0)) < 2:
        raise ValueError("all vertices are on a line")


def _check_gltf(path: Path, binary: bool) -> None:
    content = read_bytes(path)
    text, rest = _glb_chunks(content) if binary else (content, b"")
    document = json.loads(text)
    buffers = [_buffer(path, each, rest) for each in document.get("buffers", ())]
    views = [_view(each, buffers) for each in document.get("bufferViews", ())]
    if not any(mesh["primitives"] for mesh in document.get("meshes", ())):
        raise ValueError("no triangles")
    for image in document.get("images", ()):
        if "uri" in image:
            file, picture = _resource(path, image["uri"])
            with _name_file_in_errors(file):
                _check_picture(picture)
        else:
            _check_picture(views[image["bufferView"]])
    if not document.get("extensionsRequired"):
        _check_triangles(path)


def _glb_chunks(content: bytes) -> tuple[bytes, bytes]:
    """Return the JSON and the binary data of a binary glTF file."""
    chunks: dict[bytes, bytes] = {}
    magic, version, length = _GLB_HEADER.unpack_from(content)
    if magic != b"glTF" or version != 2:
        raise ValueError("not a binary glTF file of version 2")
    if length > len(content):
        raise ValueError(f"{len(content)} of {length} bytes")
    place = _GLB_HEADER.size
    while place < length:
        size, kind = _GLB_CHUNK.unpack_from(content, place)
        place += _GLB_CHUNK.size
        chunks[kind] = content[place : place + size]
        place += size
    return chunks[b"JSON"], chunks.get(b"BIN\0", b"")


def _buffer(path: Path, buffer: dict[str, Any], rest: bytes) -> bytes:
    file, content = _resource(path, buffer["uri"]) if "uri" in buffer else (path, rest)
    with _name_file_in_errors(file):
        if len(content) < buffer["byteLength"]:
            raise ValueError(f"{len(content)} of {buffer['byteLength']} bytes")
    return content


def _view(view: dict[str, Any], buffers: list[bytes]) -> bytes:
    buffer: bytes = buffers[view["buffer"]]
    start = view.get("byteOffset", 0)
    if start + view["byteLength"] > len(buffer):
        raise ValueError("its data is incomplete")
    return buffer[start : start + view["byteLength"]]


def _resource(path: Path, uri: str) -> tuple[Path, bytes]:
    """Return the file of a URI, which may be the model itself, and its content."""
    if uri.startswith("data:"):
        return path, base64.b64decode(uri.partition(",")[2])
    file = path.parent / unquote(uri)
    _check_file(file)
    return file, read_bytes(file)
