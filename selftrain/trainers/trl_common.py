"""Functions that both TRL trainers use: TRL's arguments, grouping of examples, and predictions at learned tokens.

Import this module only where torch, transformers, peft and trl are installed.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from torch.nn import functional
from transformers import PrinterCallback, TrainingArguments

from housewise.core.errors import UserError
from housewise.language.local.architecture import PLAIN_ATTENTION, additive_masks, attention_windows, longrope_switch
from housewise.language.local.equivalence_check import are_close
from housewise.language.local.token_tree import tree_visibility
from housewise.selftrain.trainers.branch_attention import ATTENTION, enable_branches, split_branches
from housewise.selftrain.trainers.checkpoints import WARM_UP, evaluation_mode
from housewise.selftrain.trainers.memory_check import Passes, choose_gpu_passes
from housewise.selftrain.trainers.packing import group_sizes, shared_row
from housewise.selftrain.trainers.settings import PreferenceConfig, TrainingConfig

# Examples that are computed both in one row and alone before a training.
_MAX_MEASURED = 4

logger = logging.getLogger(__name__)


def training_arguments(
    config: TrainingConfig,
    folder: Path,
    seed: int,
    kind: type[TrainingArguments],
    network: Any = None,
    lengths: Sequence[tuple[int, int]] = (),
) -> Any:
    """Convert our settings to TRL's.

    Args:
        config: Our settings.
        folder: Folder of the checkpoints.
        seed: Seed of the order of examples.
        kind: Class of TRL's settings.
        network: The model, for the choice of what a GPU computes at once.
        lengths: See packing.row_lengths.

    Raises:
        UserError: The processes cannot share the batch evenly, or a GPU's memory does not suffice.
    """
    # TRL still calls gradient checkpointing by the name that transformers is about to change.
    warnings.filterwarnings("ignore", message=r".*gradient_checkpointing.* is deprecated", category=FutureWarning)
    # A launcher tells every process how many there are; together they read one batch.
    share, rest = divmod(config.batch, int(os.environ.get("WORLD_SIZE", "1")))
    if rest:
        raise UserError(
            f"{config.key('batch')}={config.batch} cannot be shared evenly by {os.environ['WORLD_SIZE']} processes; "
            "set it to a multiple of their number"
        )
    passes = choose_gpu_passes(config, network, lengths, share) if lengths else None
    if passes is None:
        most = min(config.micro_batch or 1, share)
        per_pass = next(pairs for pairs in range(most, 0, -1) if share % pairs == 0)
        passes = Passes(per_pass, bool(config.gradient_checkpointing))
    settings = kind(
        output_dir=str(folder),
        seed=seed,
        per_device_train_batch_size=passes.examples,
        gradient_accumulation_steps=share // passes.examples,
        num_train_epochs=config.epochs,
        learning_rate=config.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=WARM_UP,
        gradient_checkpointing=passes.is_checkpointed,
        # The weights have the precision of the computation, except where all of them are trained.
        bf16=config.method == "full" and torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
        use_cpu=config.device.partition(":")[0] == "cpu",
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_strategy="steps",
        save_steps=config.checkpoint_steps,
        save_total_limit=2,
        report_to=[],
        disable_tqdm=True,
        max_length=None,
        dataloader_pin_memory=False,
        ddp_find_unused_parameters=False,
        remove_unused_columns=False,
        **({"beta": config.beta} if isinstance(config, PreferenceConfig) else {}),
    )
    # One process trains on one GPU; several need a launcher. Reading the device sets the number of GPUs.
    device = settings.device
    settings._n_gpu = min(settings._n_gpu, 1)
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        share_smallest_passes(settings, device, share)
    return settings


def share_smallest_passes(settings: Any, device: torch.device, share: int) -> None:
    """Let every process compute in passes as small as the smallest, since they exchange gradients after each."""
    least = torch.tensor([settings.per_device_train_batch_size, -settings.gradient_checkpointing], device=device)
    torch.distributed.all_reduce(least, torch.distributed.ReduceOp.MIN)
    examples, is_checkpointed = least.tolist()
    settings.per_device_train_batch_size, settings.gradient_accumulation_steps = examples, share // examples
    settings.gradient_checkpointing = bool(is_checkpointed)


def has_plain_attention(network: Any) -> bool:
    """Return whether a mask alone defines a model's attention, so that several examples can share a row."""
    return network.config.get_text_config().model_type in PLAIN_ATTENTION


def takes_branches(network: Any) -> bool:
    """Return whether a model with plain attention attends to shared rows branch by branch."""
    return not any(attention_windows(network.config.get_text_config()).values())


def shares_rows(network: Any, examples: Sequence[dict[str, list[int]]], most: int) -> bool:
    """Return whether examples that share a row give the same result as examples in rows of their own.

    Besides checking the configuration, this computes the longest examples in both ways.

    Args:
        network: The model.
        examples: Each with ``input_ids`` and ``labels``.
        most: Largest number of examples in a row.
    """
    if not has_plain_attention(network):
        return False
    if takes_branches(network):
        enable_branches(network)
    longest = sorted(examples, key=lambda example: -len(example["input_ids"]))[: min(most, _MAX_MEASURED)]
    if len(longest) < 2:
        return True
    switch = longrope_switch(network.config.get_text_config())
    beyond = switch is not None and len(longest[0]["input_ids"]) > switch
    if not beyond and _agrees_in_one_row(network, longest):
        return True
    logger.warning(
        "a %s model learns examples one by one, because it reads several in one row differently",
        network.config.model_type,
    )
    return False


def _agrees_in_one_row(network: Any, examples: Sequence[dict[str, list[int]]]) -> bool:
    def logprobs(row: dict[str, Any]) -> torch.Tensor:
        row = {name: tensor.to(network.device) for name, tensor in row.items()}
        _, logits, targets = predict_labels(network, row, network.dtype)
        return -functional.cross_entropy(logits, targets, reduction="none")

    with evaluation_mode(network):
        together, alone = logprobs(shared_row(examples)), [logprobs(shared_row([example])) for example in examples]
    return are_close(together, torch.cat(alone), network.dtype)


def grouped_dataset(examples: Sequence[dict[str, list[int]]], name: str, most: int) -> Dataset:
    """Return a data set whose elements are each a ``group`` of examples that begin alike; see packing.group_sizes.

    Args:
        examples: Examples in order.
        name: Name of the list of tokens that is compared.
        most: Largest number of examples in a group.
    """
    sizes = group_sizes((example[name] for example in examples), most)
    left = iter(examples)
    return Dataset.from_list([{"group": list(islice(left, size))} for size in sizes])


def predict_labels(model: Any, row: dict[str, Any], dtype: torch.dtype) -> tuple[Any, torch.Tensor, torch.Tensor]:
    """Run a model on a row, and return its predictions of the tokens that are learned.

    Args:
        model: Any causal model.
        row: See packing.shared_row.
        dtype: Data type of the model.

    Returns:
        The outputs, the logits (n, vocabulary) that predict these tokens, and the tokens (n).
    """
    # With several processes the model is wrapped in one without a configuration.
    network = getattr(model, "module", model)
    given = {name: row[name] for name in ("input_ids", "position_ids")}
    if "parents" in row:
        given |= _attention_arguments(network, row["parents"].tolist(), row["position_ids"], dtype)
    # Where the layers are on several devices, accelerate moves tensors to the first and logits back to that of the row.
    # A list stays where it is.
    outputs = model(**given, use_cache=False, logits_to_keep=row["places"].tolist())
    logits = outputs.logits[0].float()
    return outputs, logits, row["labels"][0, 1:].to(logits.device)


def _attention_arguments(network: Any, parents: list[int], positions: torch.Tensor, dtype: torch.dtype) -> Any:
    """Return the arguments with which a model attends along a tree of tokens: its branches, or a mask for all pairs."""
    config = network.config.get_text_config()
    if config._attn_implementation == ATTENTION:
        return {"branches": split_branches(parents, positions.device, dtype)}
    seen = torch.from_numpy(tree_visibility(parents))[None].to(positions.device)
    windows = attention_windows(config)
    # Some attentions accept boolean masks only, others only additive ones.
    masks = additive_masks(windows, positions, positions[0], seen, dtype, torch.finfo(dtype).min)
    return {"attention_mask": masks}


def finish_setup(trainer: Any, network: Any) -> None:
    """Remove the printing of a TRL trainer, and the computation of router logits: no loss here uses them."""
    trainer.remove_callback(PrinterCallback)
    config = network.config.get_text_config()
    if hasattr(config, "output_router_logits"):
        config.output_router_logits = False
