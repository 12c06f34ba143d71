"""Checks whether a model can be trained on this machine, before any episode is played or weights are loaded."""

from __future__ import annotations

from housewise.core.errors import UserError
from housewise.language.base import ChatModelError
from housewise.language.local.devices import find_device
from housewise.language.local.libraries import first_line
from housewise.language.local.tokens import end_of_turn
from housewise.language.local.weights import load_outline
from housewise.selftrain.trainers.settings import TrainingConfig


def check_trainable(model: str, adapter: str | None, config: TrainingConfig) -> None:
    """Check that a local model can be trained with some settings, without loading its weights.

    Args:
        model: Name of the model, as for language.local.weights.load_model.
        adapter: Adapter that training starts from.
        config: Settings of the training.

    Raises:
        UserError: It cannot; the message names the setting, or what the model lacks.
    """
    from housewise.language.local.model_runner import check_architecture
    from housewise.selftrain.trainers.memory_check import check_gpu_memory

    # A launcher may start its processes on another machine.
    if config.launcher is None:
        device = find_device(f"{config.key('device')}={config.device}", config.device)
        if device.type == "cuda" and device.index:
            raise UserError(
                f"{config.key('device')}={config.device}: a training uses the first GPU that it sees; leave the "
                f"setting out, and set the environment variable CUDA_VISIBLE_DEVICES={device.index}"
            )
    network, tokenizer = load_outline(model, adapter)
    try:
        check_architecture(network)
    except ValueError as error:
        raise ChatModelError(f"model {model}: {error}, which cannot be trained or run here") from None
    try:
        end = end_of_turn(tokenizer)
    except Exception as error:  # a template is a program and may raise anything
        raise ChatModelError(
            f"model {model}: its chat template refuses a turn of the user and one of the assistant "
            f"({first_line(error)}); train a model whose template accepts them"
        ) from error
    if end is None:
        raise UserError(
            f"model {model}: its tokenizer names no token that ends a text, so that no reply could be learned to its "
            "end; set eos_token in its tokenizer_config.json"
        )
    if config.launcher is None:
        check_gpu_memory(config, network)
    if config.method == "lora" and adapter is None:
        # PEFT takes seconds to import, which a model that cannot be read does not wait for.
        from housewise.selftrain.trainers.lora import check_adapter_fits

        check_adapter_fits(network, config, config.key("targets"))
