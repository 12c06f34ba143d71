"""Merges an adapter into the weights of its base model, so that another adapter can be trained on the result."""

from __future__ import annotations

from pathlib import Path

from housewise.core.files import atomic_output
from housewise.language.local.libraries import convert_save_errors, silence_transformers
from housewise.language.local.smollm2 import SMOLLM2
from housewise.language.local.weights import load_model
from housewise.selftrain.trainers import ModelReference


def merge_adapter(model: ModelReference, folder: Path) -> ModelReference:
    """Return a local model without a separate adapter.

    Args:
        model: Any model.
        folder: Where the merged weights are written in float32; an existing folder is used as it is.
    """
    if model.adapter is None:
        return model
    if not folder.exists():
        with atomic_output(folder) as partial, silence_transformers():
            network, tokenizer = load_model(model.model.partition(":")[2] or SMOLLM2, model.adapter, "cpu", "float32")
            with convert_save_errors(partial, folder):
                network.save_pretrained(partial)
                tokenizer.save_pretrained(partial)
    return ModelReference(model=f"local:{folder}")
