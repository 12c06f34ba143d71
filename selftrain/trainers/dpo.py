"""TRL's trainer for preferences, with the prompt of two replies read once.

Imported only by :mod:`housewise.selftrain.trainers.preferences`, because it needs torch, transformers, peft and trl.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from datasets import Dataset
from torch.nn import functional
from transformers import PrinterCallback
from trl import DPOConfig, DPOTrainer
from trl.trainer.utils import use_adapter

from housewise.selftrain.trainers.packing import IGNORED, shared_row
from housewise.selftrain.trainers.recipe import (
    Report,
    Reporting,
    foretold,
    groups,
    keep_routers_quiet,
    plain_attention,
    save,
)

_REFERENCE = "ref"
"""The adapter in which TRL keeps what the trained one was."""


class SharedPromptDPO(DPOTrainer):  # type: ignore[misc]
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
        report: Report,
        together: int = 1,
    ) -> None:
        shared = plain_attention(network)
        settings.gradient_accumulation_steps *= settings.per_device_train_batch_size * (1 if shared else together)
        settings.per_device_train_batch_size = 1
        self._together = together if shared else 1
        super().__init__(
            model=network,
            args=settings,
            train_dataset=groups(rows, "prompt", self._together),
            processing_class=tokenizer,
            data_collator=partial(_collated, shared=shared),
            callbacks=[Reporting(report)],
        )
        self.remove_callback(PrinterCallback)
        keep_routers_quiet(network)

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
        loss = -functional.logsigmoid(margins).sum() / self._together
        metrics = self._metrics["train"]
        metrics["rewards/margins"].append(self.accelerator.reduce(margins.detach().mean(), "mean").item())
        metrics["rewards/accuracies"].append(self.accelerator.reduce((margins > 0).float().mean(), "mean").item())
        return (loss, {"rewards": rewards}) if return_outputs else loss

    def _logprobs(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        """Log-probability of the chosen replies and of the rejected ones (2, k)."""
        dtype, found = self.accelerator.unwrap_model(model).dtype, []
        for row in inputs["rows"]:
            _, logits, targets = foretold(model, row, dtype)
            found.append(-functional.cross_entropy(logits, targets, reduction="none"))
        parts = torch.cat(found).split(inputs["lengths"])
        return torch.stack([part.sum() for part in parts]).view(-1, 2).T

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        save(self.accelerator.unwrap_model(self.model), output_dir or self.args.output_dir, state_dict)


def _collated(groups: Sequence[dict[str, Any]], shared: bool) -> dict[str, Any]:
    """Some preferences: their rows, and how many tokens each reply has, the chosen one before the rejected one."""
    [found] = groups
    replies = [(each["prompt"], each[which]) for each in found["group"] for which in ("chosen", "rejected")]
    examples = [{"input_ids": prompt + reply, "labels": [IGNORED] * len(prompt) + reply} for prompt, reply in replies]
    rows = [shared_row(examples)] if shared else [shared_row([example]) for example in examples]
    return {"rows": rows, "lengths": [len(reply) for _, reply in replies]}
