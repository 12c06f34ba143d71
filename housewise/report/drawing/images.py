"""Encodes images, and turns images and films into data URIs."""

from __future__ import annotations

import base64
import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image, features

_TYPES = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp"}


def compress(picture: NDArray[np.uint8], quality: int = 72) -> bytes:
    """Encode an image of shape (height, width, 3 or 4) as WebP, or as PNG or JPEG if Pillow lacks it."""
    image, stream = Image.fromarray(picture), io.BytesIO()
    if features.check("webp"):
        image.save(stream, "WEBP", quality=quality, method=4)
    elif image.mode == "RGBA":
        image.save(stream, "PNG")
    else:
        image.save(stream, "JPEG", quality=quality)
    return stream.getvalue()


def data_uri(content: bytes) -> str:
    """Return a picture or an MP4 film as a data URI."""
    kind = next((kind for start, kind in _TYPES.items() if content.startswith(start)), "video/mp4")
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
