"""Explains why transformers could not open a model; empty if the cause is something else."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from housewise.language.local.libraries import NO_REMOTE_CODE, UNREADABLE, silence_transformers

_FAST_TOKENIZERS = ("tokenizer.json", "vocab.*", "tekken.json", "*.tiktoken")
_SENTENCEPIECE = "*.model"


def tokenizer_problem(folder: Path) -> str:
    """Return what is wrong with the tokenizer of the model in a folder."""
    if not (folder / "config.json").is_file() or any(any(folder.glob(name)) for name in _FAST_TOKENIZERS):
        return ""
    names = sorted(path.name for path in folder.glob(_SENTENCEPIECE))
    if not names:
        return "it has no tokenizer; copy the tokenizer's files, such as tokenizer.json, into its folder"
    missing = [package for package in ("sentencepiece", "google.protobuf") if not _is_installed(package)]
    if not missing:
        return ""
    packages = " ".join(package.removeprefix("google.") for package in missing)
    return (
        f"its tokenizer is {names[0]} alone, which takes packages that are not installed; run pip install {packages}, "
        "or save the tokenizer as tokenizer.json"
    )


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # a parent package is missing
        return False


def kind_problem(source: str) -> str:
    """Return why a model is not a causal language model.

    Args:
        source: A folder, or a Hugging Face name whose configuration is on this machine.
    """
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, AutoConfig

    try:
        with silence_transformers():
            config = AutoConfig.from_pretrained(source, local_files_only=True, **NO_REMOTE_CODE)
    except UNREADABLE:
        return ""
    if type(config) in MODEL_FOR_CAUSAL_LM_MAPPING:
        return ""
    remedy = "name a language model, or serve this one, see base_url"
    for name, what in (("vision_config", "images"), ("audio_config", "sound")):
        if hasattr(config, name):
            return f"a {config.model_type} model reads {what}, and models with {what} are not run here; {remedy}"
    return f"a {config.model_type} model does not go on with texts, as causal language models do; {remedy}"
