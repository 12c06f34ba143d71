"""TRL's trainer for preferences, with the prompt of two replies read once.

Imported only by :mod:`housewise.selftrain.trainers.preferences`, because it needs torch, transformers, peft and trl.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from datasets import Dataset
from torch.nn import functional
from transformers import PrinterCallback
from trl import DPOConfig, DPOTrainer
from trl.trainer.utils import use_adapter

from housewise.selftrain.trainers.checkpoints import Checkpointing
from housewise.selftrain.trainers.examples import IGNORED
from housewise.selftrain.trainers.packing import shared_row
from housewise.selftrain.trainers.recipe import (
    StepReport,
    ProgressCallback,
    predict_labels,
    grouped_dataset,
    disable_router_logits,
    save_weights,
    shares_rows,
)

_REFERENCE = "ref"
"""The adapter in which TRL keeps what the trained one was."""

_LOGGED = ("loss", "rewards/accuracies", "rewards/margins")


class SharedPromptDPO(Checkpointing, DPOTrainer):  # type: ignore[misc]
    """Learns preferences, each pass one or some that begin alike, all their replies in one row.

    TRL reads the prompt four times for each preference, with either reply and for the reference; here it is read twice,
    and what is common to the prompts of a pass as well.

    Args:
        network: the model with the adapter to be trained.
        settings: see recipe.arguments.
        rows: each with the tokens ``prompt``, ``chosen`` and ``rejected``.
        tokenizer: of the model.
        report: told of every step.
        together: see TrainingConfig.
    """

    def __init__(
        self,
        network: Any,
        settings: DPOConfig,
        rows: Sequence[dict[str, list[int]]],
        tokenizer: Any,
        report: StepReport,
        together: int = 1,
    ) -> None:
        shared = shares_rows(network, [example for row in rows for example in _tokenized_replies(row)], 2 * together)
        settings.gradient_accumulation_steps *= settings.per_device_train_batch_size * (1 if shared else together)
        settings.per_device_train_batch_size = 1
        self._together = together if shared else 1
        self._sums = torch.zeros(1 + len(_LOGGED))
        super().__init__(
            model=network,
            args=settings,
            train_dataset=grouped_dataset(rows, "prompt", self._together),
            processing_class=tokenizer,
            data_collator=lambda groups: collate_preferences(groups[0]["group"], shared),
            callbacks=[ProgressCallback(report)],
        )
        self.remove_callback(PrinterCallback)
        disable_router_logits(network)

    def _prepare_dataset(self, dataset: Dataset, *args: Any, **kwargs: Any) -> Dataset:
        """Nothing: these are tokens as the model is asked with them, which no chat template would give."""
        return dataset

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """-log sigmoid(beta (log ratio of the chosen reply - that of the rejected one)); equation 7 of the paper."""
        now = self._logprobs(model, inputs)
        with torch.no_grad(), use_adapter(self.accelerator.unwrap_model(model), _REFERENCE):
            then = self._logprobs(model, inputs)
        rewards = self.beta * (now - then)
        margins = rewards[0] - rewards[1]
        # Each preference counts alike, in whichever row it is.
        losses = -functional.logsigmoid(margins)
        self._add_to_log_sums(losses.detach(), margins.detach())
        loss = losses.sum() / self._together
        return (loss, {"rewards": rewards}) if return_outputs else loss

    def _add_to_log_sums(self, losses: torch.Tensor, margins: torch.Tensor) -> None:
        """Add the preferences of a row to the sums whose means are logged; rows have different numbers of them."""
        sums = torch.stack([torch.ones_like(losses), losses, (margins > 0).float(), margins]).sum(1)
        self._sums += self.accelerator.reduce(sums, "sum").cpu()

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """See transformers.Trainer. What is logged is the mean over the preferences of a step, as in TRL."""
        count, *totals = self._sums.tolist()
        if count:
            logs = logs | {name: total / count for name, total in zip(_LOGGED, totals, strict=True)}
        self._sums.zero_()
        super().log(logs, *args, **kwargs)

    def _logprobs(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        return reply_logprobs(model, inputs, self.accelerator.unwrap_model(model).dtype)

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        save_weights(self.accelerator.unwrap_model(self.model), output_dir or self.args.output_dir, state_dict)


def collate_preferences(group: Sequence[dict[str, Any]], shared: bool) -> dict[str, Any]:
    """Some preferences: their rows, and how many tokens each reply has, the chosen one before the rejected one.

    Args:
        group: each with the tokens ``prompt``, ``chosen`` and ``rejected``.
        shared: whether all replies are in one row.
    """
    examples = [example for each in group for example in _tokenized_replies(each)]
    rows = [shared_row(examples)] if shared else [shared_row([example]) for example in examples]
    lengths = [len(each[which]) for each in group for which in ("chosen", "rejected")]
    return {"rows": rows, "lengths": lengths}


def reply_logprobs(model: Any, inputs: dict[str, Any], dtype: torch.dtype) -> torch.Tensor:
    """Log-probability of the chosen replies and of the rejected ones (2, k).

    Args:
        model: any causal model.
        inputs: see rows_of_preferences.
        dtype: of the model.
    """
    found = []
    for row in inputs["rows"]:
        _, logits, targets = predict_labels(model, row, dtype)
        found.append(-functional.cross_entropy(logits, targets, reduction="none"))
    parts = torch.cat(found).split(inputs["lengths"])
    return torch.stack([part.sum() for part in parts]).view(-1, 2).T


def _tokenized_replies(row: dict[str, list[int]]) -> list[dict[str, list[int]]]:
    """The chosen reply of a preference and the rejected one, each behind the prompt."""
    prompt = row["prompt"]
    return [
        {"input_ids": prompt + row[which], "labels": [IGNORED] * len(prompt) + row[which]}
        for which in ("chosen", "rejected")
    ]
