"""Adds LoRA adapters to models, and checks whether a model can have one."""

from __future__ import annotations

import re
from typing import Any

from peft import LoraConfig, get_peft_model
from transformers import set_seed

from housewise.core.errors import UserError
from housewise.language.local.libraries import first_line, silence_transformers
from housewise.selftrain.trainers.settings import TrainingConfig


def add_adapter(network: Any, config: TrainingConfig, seed: int) -> Any:
    """Add a new LoRA adapter to a model; it does not change the outputs yet."""
    set_seed(seed)
    return get_peft_model(network, _lora_config(network, config))


def _lora_config(network: Any, config: TrainingConfig) -> LoraConfig:
    other = _non_text_modules(network)
    return LoraConfig(
        task_type="CAUSAL_LM",
        r=config.rank,
        lora_alpha=config.alpha,
        target_modules=config.targets if isinstance(config.targets, str) else list(config.targets),
        **({} if other is None else {"exclude_modules": other}),
    )


def check_adapter_fits(network: Any, config: TrainingConfig, setting: str) -> None:
    """Check that a model can have the adapter that settings describe.

    Args:
        network: The model on the meta device. It receives the adapter.
        config: Settings of the training.
        setting: Name of the setting of targets, for the error.

    Raises:
        UserError: PEFT refuses the adapter.
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
    """Return the names of a model's layers that process text with a matrix, without those of its vocabulary."""
    from torch.nn import Embedding

    other, output = re.compile(_non_text_modules(network) or "(?!)"), network.get_output_embeddings()
    return [
        name
        for name, module in network.named_modules()
        if module is not output
        and not isinstance(module, Embedding)
        and getattr(getattr(module, "weight", None), "ndim", 0) == 2
        and not other.fullmatch(name)
    ]


def _non_text_modules(network: Any) -> str | None:
    """Return the modules of a model that do not process text, such as an image encoder.

    Planners read text, from which these modules would learn nothing.

    Returns:
        A regular expression for PEFT, or None if there are no such modules.
    """
    decoder, output = network.get_decoder(), network.get_output_embeddings()
    text = {id(module) for part in (decoder, output) if part is not None for module in part.modules()}

    def collect(name: str, module: Any) -> list[str]:
        if id(module) in text:
            return []
        if text.isdisjoint(map(id, module.modules())):
            return [re.escape(name)]
        return [
            found for child, inner in module.named_children() for found in collect(f"{name}.{child}".lstrip("."), inner)
        ]

    found = collect("", network)
    return rf"({'|'.join(found)})(\..*)?" if found else None
