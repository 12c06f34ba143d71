"""Applies PEFT adapters to local models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from housewise.core.errors import UserError, suggest_names
from housewise.core.files import write_json
from housewise.core.text_files import read_json
from housewise.core.validation import StrictModel, read_model
from housewise.language.adapters import adapter_folder, bundled_adapters
from housewise.language.base import ChatModelError
from housewise.language.local.digests import weights_digest
from housewise.language.local.libraries import INSTALL, first_line, silence_transformers
from housewise.language.local.smollm2 import SMOLLM2, SMOLLM2_NAMES, SMOLLM2_WHEEL

BASE_MODEL = "base_model.json"
"""File in an adapter's folder that identifies the weights it was trained on; see ``BaseWeights``."""

_ADAPTER_WEIGHTS, _PICKLED_WEIGHTS = "adapter_model.safetensors", "adapter_model.bin"
_LARGEST_RANK, _MAX_LAYERS = 1 << 16, 1000
_PEFT_FOLDER = "the folder that PEFT's save_pretrained wrote"


class BaseWeights(StrictModel):
    """The weights that an adapter was trained on.

    Attributes:
        name: Name of the model at the training, for messages.
        digest: See ``digests.weights_digest``.
    """

    name: str
    digest: str


def save_base_weights(folder: Path, model: str) -> None:
    """Write which weights an adapter was trained on into its folder. Weights without a digest are not written.

    Args:
        folder: Folder of the adapter.
        model: Model that it was trained on.
    """
    digest = weights_digest(model)
    if digest is not None:
        write_json(folder / BASE_MODEL, BaseWeights(name=model, digest=digest).model_dump())


def lora_settings(adapter: str | Path) -> dict[str, Any]:
    """Return the rank, alpha and layers of an adapter under the names that the settings of a training have.

    Args:
        adapter: Name, or a folder that ``check_adapter`` accepts.
    """
    config = read_json(adapter_folder(adapter) / "adapter_config.json")
    targets = config.get("target_modules")
    named = tuple(sorted(map(str, targets))) if isinstance(targets, list) else targets
    found = {"rank": config.get("r"), "alpha": config.get("lora_alpha"), "targets": named}
    return {key: value for key, value in found.items() if value}


def apply_adapter(network: Any, model: str, adapter: str | Path, merge: bool) -> Any:
    """Apply an adapter to a model for generation.

    A merged adapter costs no time, but only float32 holds merged weights: in bfloat16 a small change of a weight is
    lost by rounding.
    """
    wrapped = wrap_with_adapter(network, model, adapter)
    return wrapped.merge_and_unload() if merge else wrapped.get_base_model()


def wrap_with_adapter(network: Any, model: str, adapter: str | Path, trainable: bool = False) -> Any:
    """Apply an adapter to a model.

    Args:
        network: The model.
        model: Name of the model.
        adapter: Folder of a PEFT adapter trained on that model, or name of a bundled one.
        trainable: Whether training continues from it.

    Returns:
        PEFT's wrapper of the network.

    Raises:
        ChatModelError: If the folder has no adapter, or one for another model.
    """
    from safetensors import SafetensorError

    folder = check_adapter(model, adapter)
    try:
        from peft import PeftModel
    except ImportError:
        raise ChatModelError(f"adapter {adapter}: peft is not installed; run {INSTALL}") from None
    try:
        with silence_transformers():
            wrapped = PeftModel.from_pretrained(network, str(folder), is_trainable=trainable)
    except SafetensorError as error:
        raise ChatModelError(
            f"adapter {adapter}: its weights are damaged ({first_line(error)}); copy or train it again"
        ) from error
    except Exception as error:  # PEFT raises any error for unsuitable settings, such as IndexError
        raise ChatModelError(
            f"adapter {adapter}: it does not fit {model} ({first_line(error)}); "
            "open it with the model it was trained on"
        ) from error
    if wrapped.active_peft_config.is_prompt_learning:
        raise ChatModelError(f"adapter {adapter}: prompt-learning adapters are not supported; train a LoRA adapter")
    return wrapped


def check_adapter(model: str, adapter: str | Path) -> Path:
    """Check that an adapter was trained on a model, and return its folder."""
    folder = adapter_folder(adapter)
    try:
        config = read_json(folder / "adapter_config.json")
        base = str(config.get("base_model_name_or_path") or model)
        problem = _config_problem(config)
    except (UserError, ValueError, AttributeError, TypeError) as error:
        raise ChatModelError(
            f"adapter {adapter}: no readable adapter_config.json ({first_line(error)}); name {_PEFT_FOLDER}, or one "
            f"that comes with Housewise: {suggest_names(str(adapter), bundled_adapters())}"
        ) from error
    _check_base(model, adapter, base, folder / BASE_MODEL)
    if problem:
        raise ChatModelError(
            f"adapter {adapter}: {problem} in its adapter_config.json; correct it, or train a plain LoRA adapter"
        )
    if config.get("megatron_config"):
        raise ChatModelError(f"adapter {adapter}: adapters for Megatron are not supported; train a plain LoRA adapter")
    if not (folder / _ADAPTER_WEIGHTS).is_file():
        pickled = (folder / _PICKLED_WEIGHTS).is_file()
        problem = (
            f"its weights are pickled ({_PICKLED_WEIGHTS}), which may run programs" if pickled else "it has no weights"
        )
        raise ChatModelError(
            f"adapter {adapter}: {problem}; save them as {_ADAPTER_WEIGHTS}, with save_pretrained of a recent PEFT"
        )
    return folder


def _check_base(model: str, adapter: str | Path, base: str, path: Path) -> None:
    """Check that an adapter was trained on a model: on its weights if they are known, else on a model of that name.

    Args:
        model: Model that it will be applied to.
        adapter: Name or folder of the adapter.
        base: Name of the base model in its adapter_config.json.
        path: Path of its BASE_MODEL file, which adapters of earlier versions and of other programs do not have.

    Raises:
        ChatModelError: If it was trained on another model.
    """
    trained_on = _base_weights(path)
    digest = weights_digest(model) if trained_on else None
    if trained_on is None or digest is None:
        if _base_name(base) != _base_name(model):
            raise ChatModelError(
                f"adapter {adapter}: it was trained on {base}, not on {model}; open it with that model, or correct "
                "base_model_name_or_path in its adapter_config.json if they are the same"
            )
    elif trained_on.digest != digest:
        raise ChatModelError(
            f"adapter {adapter}: it was trained on other weights ({trained_on.name}, digest {trained_on.digest[:8]}) "
            f"than those of {model} (digest {digest[:8]}); open it with the model that it was trained on, or delete "
            f"{path} if the two are the same in another form"
        )


def _base_weights(path: Path) -> BaseWeights | None:
    if not path.is_file():
        return None
    remedy = "restore it, or delete it to compare the model's name only"
    return read_model(
        path, BaseWeights, remedy, "the name of the weights that the adapter was trained on", ChatModelError
    )


def _config_problem(config: dict[str, Any]) -> str:
    """Return what is wrong with an adapter's config, or an empty text.

    Checks only what would exhaust the memory or end the program before PEFT could refuse it.
    """
    ranks = [config.get("r") or 0, *(config.get("rank_pattern") or {}).values()]
    if not all(isinstance(rank, int) and rank <= _LARGEST_RANK for rank in ranks):
        return f"a rank is not a number up to {_LARGEST_RANK}"
    repeated = config.get("layer_replication") or []
    if not all(isinstance(each, list) and len(each) == 2 and 0 <= each[0] < each[1] for each in repeated):
        return "layer_replication is not a list of [begin, end]"
    if sum(end - begin for begin, end in repeated) > _MAX_LAYERS:
        return f"layer_replication makes more than {_MAX_LAYERS} layers"
    return ""


def _base_name(name: str) -> str:
    """Return the name of a base model in a form in which names of the same model are equal."""
    last = Path(name).name.lower()
    return SMOLLM2 if last in SMOLLM2_NAMES or last.startswith(SMOLLM2_WHEEL) else last
