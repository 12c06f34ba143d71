"""LoRA adapters to be trained, and whether a model can have one."""

from __future__ import annotations

import re
from typing import Any

from peft import LoraConfig, get_peft_model
from transformers import set_seed

from housewise.core.errors import UserError
from housewise.language.local.libraries import first_line, silence_transformers
from housewise.selftrain.personalize.settings import TrainingConfig


def add_adapter(network: Any, config: TrainingConfig, seed: int) -> Any:
    """Put a LoRA adapter on a model that changes nothing yet."""
    set_seed(seed)
    return get_peft_model(network, _lora_config(network, config))


def _lora_config(network: Any, config: TrainingConfig) -> LoraConfig:
    beside = _non_text_modules(network)
    return LoraConfig(
        task_type="CAUSAL_LM",
        r=config.rank,
        lora_alpha=config.alpha,
        target_modules=config.targets if isinstance(config.targets, str) else list(config.targets),
        **({} if beside is None else {"exclude_modules": beside}),
    )


def check_adapter_fits(network: Any, config: TrainingConfig, setting: str) -> None:
    """Check that a model can have the adapter that settings describe.

    Args:
        network: The model on the meta device, which gets the adapter.
        config: The settings.
        setting: Name of the setting of targets, for the error.

    Raises:
        UserError: when PEFT refuses it.
    """
    import torch

    modules, layers = [f".{name}" for name, _ in network.named_modules()], _weighted_layers(network)
    wanted = () if isinstance(config.targets, str) else config.targets
    missing = [target for target in wanted if not any(module.endswith(f".{target}") for module in modules)]
    problem = f"it has no layer {', '.join(missing)}" if missing else ""
    if not problem:
        try:
            with torch.device("meta"), silence_transformers():
                get_peft_model(network, _lora_config(network, config))
        except Exception as error:  # of many kinds, one for each kind of module that PEFT does not know
            problem = first_line(error)
    if problem:
        targets = config.targets if isinstance(config.targets, str) else f"[{', '.join(config.targets)}]"
        names = ", ".join(sorted({layer.rpartition(".")[2] for layer in layers}))
        raise UserError(
            f"{setting}={targets}: a {network.config.model_type} model cannot have such an adapter ({problem}); use "
            f"all-linear, or some of [{names}]"
        )


def _weighted_layers(network: Any) -> list[str]:
    """Name the layers of a model that work on text with a matrix, but for those of its vocabulary."""
    from torch.nn import Embedding

    beside, output = re.compile(_non_text_modules(network) or "(?!)"), network.get_output_embeddings()
    return [
        name
        for name, module in network.named_modules()
        if module is not output
        and not isinstance(module, Embedding)
        and getattr(getattr(module, "weight", None), "ndim", 0) == 2
        and not beside.fullmatch(name)
    ]


def _non_text_modules(network: Any) -> str | None:
    """Name the modules of a model that do not work on text, such as the part that reads images.

    Planners read text, from which these would learn nothing.

    Returns:
        A regular expression for PEFT, None where there are none.
    """
    decoder, output = network.get_decoder(), network.get_output_embeddings()
    text = {id(module) for part in (decoder, output) if part is not None for module in part.modules()}

    def beside(name: str, module: Any) -> list[str]:
        if id(module) in text:
            return []
        if text.isdisjoint(map(id, module.modules())):
            return [re.escape(name)]
        return [
            found for child, inner in module.named_children() for found in beside(f"{name}.{child}".lstrip("."), inner)
        ]

    found = beside("", network)
    return rf"({'|'.join(found)})(\..*)?" if found else None
