"""The recipe of local training: what is optimised, in which order, and what a checkpoint is.

Imported only by :mod:`housewise.selftrain.trainers.local`, because it needs torch, transformers, peft and trl.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from torch.nn import functional
from transformers import PrinterCallback, TrainerCallback, TrainingArguments
from trl import SFTConfig, SFTTrainer

from housewise.core.errors import UserError
from housewise.language.local.architecture import PLAIN_ATTENTION, additive_masks, attention_windows, longrope_switch
from housewise.language.local.equivalence_check import are_close
from housewise.selftrain.personalize.settings import TrainingConfig
from housewise.selftrain.trainers.checkpoints import WARM_UP, Checkpointing, evaluation_mode
from housewise.selftrain.trainers.packing import group_sizes, shared_row

StepReport = Callable[[int, int, list[dict[str, Any]]], None]
"""Told of steps done, steps in all, and the log so far."""

_PAIRS_ON_GPU = 8
# Examples that are computed in one row and alone before a training.
_MOST_MEASURED = 4

logger = logging.getLogger(__name__)


def training_arguments(
    config: TrainingConfig, folder: Path, seed: int, kind: type[TrainingArguments] = SFTConfig, **further: Any
) -> Any:
    """TRL's settings for ours.

    Args:
        config: ours.
        folder: of checkpoints.
        seed: of the order of examples.
        kind: of TRL's settings.
        **further: those that only this kind has.

    Raises:
        UserError: when the processes cannot share the batch evenly.
    """
    # TRL still calls gradient checkpointing by the name that transformers is about to change.
    warnings.filterwarnings("ignore", message=r".*gradient_checkpointing.* is deprecated", category=FutureWarning)
    is_cpu = config.device.partition(":")[0] == "cpu"
    on_gpu = not is_cpu and torch.cuda.is_available()
    # Launchers tell every process how many there are; together they read the batch.
    share, rest = divmod(config.batch, int(os.environ.get("WORLD_SIZE", "1")))
    if rest:
        raise UserError(
            f"{config.key('batch')}={config.batch} cannot be shared evenly by {os.environ['WORLD_SIZE']} processes; "
            "set it to a multiple of their number"
        )
    most = config.pairs_per_pass or (_PAIRS_ON_GPU if on_gpu else 1)
    per_pass = next(pairs for pairs in range(min(most, share), 0, -1) if share % pairs == 0)
    settings = kind(
        output_dir=str(folder),
        seed=seed,
        per_device_train_batch_size=per_pass,
        gradient_accumulation_steps=share // per_pass,
        num_train_epochs=config.epochs,
        learning_rate=config.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=WARM_UP,
        gradient_checkpointing=config.gradient_checkpointing,
        # The weights are in the precision in which they are computed with, except where all are trained.
        bf16=config.method == "full" and torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
        use_cpu=is_cpu,
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
        **further,
    )
    # One process trains on one GPU; several take a launcher. Asking for the device is what counts the GPUs.
    _ = settings.device
    settings._n_gpu = min(settings._n_gpu, 1)
    return settings


def has_plain_attention(network: Any) -> bool:
    """Whether a model's attention is told by a mask alone, so that several pairs can share a row."""
    return network.config.get_text_config().model_type in PLAIN_ATTENTION


def shares_rows(network: Any, examples: Sequence[dict[str, list[int]]], most: int) -> bool:
    """Whether examples give the same when they share a row as when each has its own.

    Beside what the configuration says, the longest of them are computed in both ways.

    Args:
        network: the model.
        examples: each with ``input_ids`` and ``labels``.
        most: how many would share a row.
    """
    if not has_plain_attention(network):
        return False
    longest = sorted(examples, key=lambda example: -len(example["input_ids"]))[: min(most, _MOST_MEASURED)]
    if len(longest) < 2:
        return True
    switch = longrope_switch(network.config.get_text_config())
    beyond = switch is not None and len(longest[0]["input_ids"]) > switch
    if not beyond and _agrees_in_one_row(network, longest):
        return True
    logger.warning(
        "a %s model learns examples one by one, since several in one row would be read otherwise than alone",
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
    """A data set of which each element is a ``group`` of examples that begin alike; see packing.grouped.

    Args:
        examples: in their order.
        name: of the list by which they are compared.
        most: in a group.
    """
    sizes = group_sizes((example[name] for example in examples), most)
    left = iter(examples)
    return Dataset.from_list([{"group": list(islice(left, size))} for size in sizes])


def predict_labels(model: Any, row: dict[str, Any], dtype: torch.dtype) -> tuple[Any, torch.Tensor, torch.Tensor]:
    """What a model says of the tokens of a row that are to be learned.

    Args:
        model: any causal model.
        row: see packing.shared_row.
        dtype: of the model.

    Returns:
        Its outputs, its logits (n, vocabulary) where these tokens are foretold, and the tokens (n).
    """
    given = {name: tensor for name, tensor in row.items() if name not in ("labels", "places")}
    if "attention_mask" in given:
        # Some attentions take masks of truth values only, others only what is to be added.
        given["attention_mask"] = additive_masks(
            # Several processes wrap the model in another that has no configuration.
            attention_windows(getattr(model, "module", model).config.get_text_config()),
            given["position_ids"],
            given["position_ids"][0],
            given["attention_mask"][:, 0],
            dtype,
            torch.finfo(dtype).min,
        )
    outputs = model(**given, use_cache=False, logits_to_keep=row["places"])
    return outputs, outputs.logits[0].float(), row["labels"][0, 1:]


def disable_router_logits(network: Any) -> None:
    """Have a model with experts not compute how evenly it uses them: TRL asks for that, and no loss here has it."""
    config = network.config.get_text_config()
    if hasattr(config, "output_router_logits"):
        config.output_router_logits = False


class SharedPromptSFT(Checkpointing, SFTTrainer):  # type: ignore[misc]
    """TRL's trainer, with each pass one row and the vocabulary's logits for replies only.

    Args:
        network: the model; what is to be trained of it requires gradients.
        settings: see arguments.
        examples: each with ``input_ids`` and ``labels``.
        tokenizer: of the model.
        report: told of every step.
        together: see TrainingConfig.
    """

    def __init__(
        self,
        network: Any,
        settings: SFTConfig,
        examples: Sequence[dict[str, list[int]]],
        tokenizer: Any,
        report: StepReport,
        together: int = 1,
    ) -> None:
        shared = shares_rows(network, examples, settings.per_device_train_batch_size * together)
        if not shared:
            settings.gradient_accumulation_steps *= settings.per_device_train_batch_size * together
            settings.per_device_train_batch_size = 1
        super().__init__(
            model=network,
            args=settings,
            train_dataset=grouped_dataset(examples, "input_ids", together if shared else 1),
            processing_class=tokenizer,
            data_collator=lambda groups: shared_row([example for each in groups for example in each["group"]]),
            callbacks=[ProgressCallback(report)],
        )
        self.remove_callback(PrinterCallback)
        disable_router_logits(network)

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """Cross entropy of the replies' tokens, over the number of them in the whole batch.

        TRL computes logits for prompts as well where there is no GPU: for a vocabulary of 49 thousand and prompts of
        600 tokens, a quarter of the time.
        """
        outputs, logits, targets = predict_labels(model, inputs, self.accelerator.unwrap_model(model).dtype)
        total = functional.cross_entropy(logits, targets, reduction="sum")
        accuracy = (logits.argmax(-1) == targets).float().mean()
        self._metrics["train"]["mean_token_accuracy"].append(self.accelerator.reduce(accuracy, "mean").item())
        loss = total / (len(targets) if num_items_in_batch is None else num_items_in_batch)
        if num_items_in_batch is not None and self.args.average_tokens_across_devices:
            loss = loss * self.accelerator.num_processes
        return (loss, outputs) if return_outputs else loss

    def _prepare_dataset(self, dataset: Dataset, *args: Any, **kwargs: Any) -> Dataset:
        """Nothing: these are tokens as the model is asked with them, which no chat template would give."""
        return dataset

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        network = self.accelerator.unwrap_model(self.model)
        save_weights(network, output_dir or self.args.output_dir, state_dict)


def save_weights(network: Any, folder: str, state_dict: Any = None) -> None:
    """Keep all weights, or those of the adapter that is trained."""
    # Embeddings are not trained, and telling whether they were would need the Hub.
    options = (
        {"save_embedding_layers": False, "selected_adapters": ["default"]} if hasattr(network, "peft_config") else {}
    )
    network.save_pretrained(folder, state_dict=state_dict, **options)


class ProgressCallback(TrainerCallback):  # type: ignore[misc]
    """Passes the log on as it grows."""

    def __init__(self, report: StepReport) -> None:
        self._report = report

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero:
            self._report(state.global_step, state.max_steps, state.log_history)
