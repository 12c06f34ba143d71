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
from housewise.selftrain.trainers.recipe import Report, Reporting, foretold, plain_attention, save

_REFERENCE = "ref"
"""The adapter in which TRL keeps what the trained one was."""


class SharedPromptDPO(DPOTrainer):  # type: ignore[misc]
    """Learns preferences, each pass one of them, its two replies in one row behind their prompt.

    TRL reads the prompt four times for each preference, with either reply and for the reference; here it is read twice.

    Args:
        network: the model with the adapter to be trained.
        settings: see recipe.arguments.
        rows: each with the tokens ``prompt``, ``chosen`` and ``rejected``.
        tokenizer: of the model.
        report: told of every step.
    """

    def __init__(
        self,
        network: Any,
        settings: DPOConfig,
        rows: Sequence[dict[str, list[int]]],
        tokenizer: Any,
        report: Report,
    ) -> None:
        settings.gradient_accumulation_steps *= settings.per_device_train_batch_size
        settings.per_device_train_batch_size = 1
        super().__init__(
            model=network,
            args=settings,
            train_dataset=Dataset.from_list(list(rows)),
            processing_class=tokenizer,
            data_collator=partial(_collated, shared=plain_attention(network)),
            callbacks=[Reporting(report)],
        )
        self.remove_callback(PrinterCallback)

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
        margin = rewards[0] - rewards[1]
        loss = -functional.logsigmoid(margin)
        metrics = self._metrics["train"]
        metrics["rewards/margins"].append(self.accelerator.reduce(margin.detach(), "mean").item())
        metrics["rewards/accuracies"].append(self.accelerator.reduce((margin > 0).float(), "mean").item())
        return (loss, {"rewards": rewards}) if return_outputs else loss

    def _logprobs(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        """Log-probability of either reply (2)."""
        dtype, found = self.accelerator.unwrap_model(model).dtype, []
        for row in inputs["rows"]:
            _, logits, targets = foretold(model, row, dtype)
            found.append(-functional.cross_entropy(logits, targets, reduction="none"))
        whole = torch.cat(found)
        return torch.stack([part.sum() for part in (whole[: inputs["chosen"]], whole[inputs["chosen"] :])])

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        save(self.accelerator.unwrap_model(self.model), output_dir or self.args.output_dir, state_dict)


def _collated(examples: Sequence[dict[str, list[int]]], shared: bool) -> dict[str, Any]:
    """One preference: its rows, and how many tokens the chosen reply has."""
    [example] = examples
    prompt = example["prompt"]
    replies = [
        {"input_ids": prompt + reply, "labels": [IGNORED] * len(prompt) + reply}
        for reply in (example["chosen"], example["rejected"])
    ]
    rows = [shared_row(replies)] if shared else [shared_row([reply]) for reply in replies]
    return {"rows": rows, "chosen": len(example["chosen"])}
