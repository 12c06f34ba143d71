"""Writes files of 3D models: complete, truncated, empty, and as pointers of Git LFS."""

import json
from pathlib import Path

import trimesh
from PIL import Image

POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 123456\n"


def write_model(folder: Path, kind: str) -> Path:
    """A textured box.

    Args:
        folder: of the file, made where it is missing.
        kind: ``obj`` or ``gltf``, which refer to other files; ``glb`` or ``ply``.

    Returns:
        The file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    picture = Image.effect_noise((32, 32), 50).convert("RGB")
    box = trimesh.creation.box((0.2, 0.3, 0.4))
    if kind != "ply":
        box.visual = trimesh.visual.TextureVisuals(uv=box.vertices[:, :2] + 0.5, image=picture)
    file = folder / f"model.{kind}"
    if kind != "gltf":
        box.export(file)
        return file
    for name, content in trimesh.exchange.gltf.export_gltf(trimesh.Scene([box]), merge_buffers=True).items():
        (folder / name).write_bytes(content)
    document = json.loads(file.read_text())
    for number, image in enumerate(document["images"]):
        picture.save(folder / f"picture_{number}.png")
        document["images"][number] = {"uri": f"picture_{number}.png", **{key: image[key] for key in ("mimeType",)}}
    file.write_text(json.dumps(document))
    return file
