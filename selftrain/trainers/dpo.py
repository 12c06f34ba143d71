"""TRL's trainer for preferences (DPO), in which the common prompt of the replies is read once.

Import this module only where torch, transformers, peft and trl are installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional
from trl import DPOConfig, DPOTrainer
from trl.trainer.utils import use_adapter

from housewise.selftrain.trainers.checkpoints import Checkpointing, ProgressCallback, StepReport
from housewise.selftrain.trainers.packing import shared_row
from housewise.selftrain.trainers.tokenization import IGNORED
from housewise.selftrain.trainers.trl_common import finish_setup, grouped_dataset, predict_labels, shares_rows

_REFERENCE = "ref"
"""Name of the adapter in which TRL keeps the reference weights."""

_LOGGED = ("loss", "rewards/accuracies", "rewards/margins")


class SharedPromptDPO(Checkpointing, DPOTrainer):  # type: ignore[misc]
    """DPO in which each pass is one row: the replies of one preference, or of several whose prompts begin alike.

    TRL reads the prompt of a preference four times: with either reply, by the model and by the reference. Here each of
    the two reads it once, and prompts of a pass share their common beginning.

    Args:
        network: The model with the adapter that is trained.
        settings: See trl_common.training_arguments.
        rows: Each with the tokens ``prompt``, ``chosen`` and ``rejected``.
        tokenizer: Tokenizer of the model.
        report: Called after every step.
        max_packed_examples: See TrainingConfig.

    Attributes:
        settings_class, compared: See SharedPromptSFT.
    """

    settings_class, compared = DPOConfig, "prompt"

    def __init__(
        self,
        network: Any,
        settings: DPOConfig,
        rows: Sequence[dict[str, list[int]]],
        tokenizer: Any,
        report: StepReport,
        max_packed_examples: int = 1,
    ) -> None:
        shared = shares_rows(
            network, [example for row in rows for example in _tokenized_replies(row)], 2 * max_packed_examples
        )
        settings.gradient_accumulation_steps *= settings.per_device_train_batch_size * (
            1 if shared else max_packed_examples
        )
        settings.per_device_train_batch_size = 1
        self._packed_examples = max_packed_examples if shared else 1
        self._sums = torch.zeros(1 + len(_LOGGED))
        super().__init__(
            model=network,
            args=settings,
            train_dataset=grouped_dataset(rows, self.compared, self._packed_examples),
            processing_class=tokenizer,
            data_collator=lambda groups: collate_preferences(groups[0]["group"], shared),
            callbacks=[ProgressCallback(report)],
        )
        finish_setup(self, network)

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """Return -log sigmoid(beta (log ratio of the chosen reply - that of the rejected one)); equation 7 of DPO."""
        now = self._logprobs(model, inputs)
        with torch.no_grad(), use_adapter(self.accelerator.unwrap_model(model), _REFERENCE):
            then = self._logprobs(model, inputs)
        rewards = self.beta * (now - then)
        margins = rewards[0] - rewards[1]
        # Each preference has the same weight, in whichever row it is.
        losses = -functional.logsigmoid(margins)
        self._add_to_log_sums(losses.detach(), margins.detach())
        loss = losses.sum() / self._packed_examples
        return (loss, {"rewards": rewards}) if return_outputs else loss

    def _add_to_log_sums(self, losses: torch.Tensor, margins: torch.Tensor) -> None:
        """Add the preferences of a row to the sums of the log; rows differ in their number of preferences."""
        sums = torch.stack([torch.ones_like(losses), losses, (margins > 0).float(), margins]).sum(1)
        self._sums += self.accelerator.reduce(sums, "sum").cpu()

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """See transformers.Trainer. The log has means over the preferences of a step, as in TRL."""
        count, *totals = self._sums.tolist()
        if count:
            logs = logs | {name: total / count for name, total in zip(_LOGGED, totals, strict=True)}
        self._sums.zero_()
        super().log(logs, *args, **kwargs)

    def _logprobs(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        return reply_logprobs(model, inputs, self.accelerator.unwrap_model(model).dtype)


def collate_preferences(group: Sequence[dict[str, Any]], shared: bool) -> dict[str, Any]:
    """Return preferences as rows, with the number of tokens of each reply, chosen before rejected.

    Args:
        group: Each with the tokens ``prompt``, ``chosen`` and ``rejected``.
        shared: Whether all replies are in one row.
    """
    examples = [example for each in group for example in _tokenized_replies(each)]
    rows = [shared_row(examples)] if shared else [shared_row([example]) for example in examples]
    lengths = [len(each[which]) for each in group for which in ("chosen", "rejected")]
    return {"rows": rows, "lengths": lengths}


def reply_logprobs(model: Any, inputs: dict[str, Any], dtype: torch.dtype) -> torch.Tensor:
    """Return the log-probabilities of the chosen replies and of the rejected ones (2, k).

    Args:
        model: Any causal model.
        inputs: See collate_preferences.
        dtype: Data type of the model.
    """
    logprobs = []
    for row in inputs["rows"]:
        _, logits, targets = predict_labels(model, row, dtype)
        logprobs.append(-functional.cross_entropy(logits, targets, reduction="none"))
    parts = torch.cat(logprobs).split(inputs["lengths"])
    return torch.stack([part.sum() for part in parts]).view(-1, 2).T


def _tokenized_replies(row: dict[str, list[int]]) -> list[dict[str, list[int]]]:
    """Return the chosen reply of a preference and the rejected one, each after the prompt."""
    prompt = row["prompt"]
    return [
        {"input_ids": prompt + row[which], "labels": [IGNORED] * len(prompt) + row[which]}
        for which in ("chosen", "rejected")
    ]
