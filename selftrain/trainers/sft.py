"""TRL's trainer for demonstrations, with several replies to a common prompt in one row.

Import this module only where torch, transformers, peft and trl are installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.nn import functional
from trl import SFTConfig, SFTTrainer

from housewise.selftrain.trainers.checkpoints import Checkpointing, ProgressCallback, StepReport
from housewise.selftrain.trainers.packing import shared_row
from housewise.selftrain.trainers.trl_common import finish_setup, grouped_dataset, predict_labels, shares_rows


class SharedPromptSFT(Checkpointing, SFTTrainer):  # type: ignore[misc]
    """Supervised fine-tuning in which each pass is one row, with logits for the learned tokens only.

    Args:
        network: The model; its trained weights require gradients.
        settings: See trl_common.training_arguments.
        examples: Each with ``input_ids`` and ``labels``.
        tokenizer: Tokenizer of the model.
        report: Called after every step.
        max_packed_examples: See TrainingConfig.

    Attributes:
        settings_class: Class of the settings.
        compared: Name of the list of tokens by which examples are packed.
    """

    settings_class, compared = SFTConfig, "input_ids"

    def __init__(
        self,
        network: Any,
        settings: SFTConfig,
        examples: Sequence[dict[str, list[int]]],
        tokenizer: Any,
        report: StepReport,
        max_packed_examples: int = 1,
    ) -> None:
        shared = shares_rows(network, examples, settings.per_device_train_batch_size * max_packed_examples)
        if not shared:
            settings.gradient_accumulation_steps *= settings.per_device_train_batch_size * max_packed_examples
            settings.per_device_train_batch_size = 1
        super().__init__(
            model=network,
            args=settings,
            train_dataset=grouped_dataset(examples, self.compared, max_packed_examples if shared else 1),
            processing_class=tokenizer,
            data_collator=lambda groups: shared_row([example for each in groups for example in each["group"]]),
            callbacks=[ProgressCallback(report)],
        )
        finish_setup(self, network)

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """Return the cross entropy of the learned tokens, divided by their number in the whole batch.

        Without a GPU, TRL computes logits for prompts as well. For a vocabulary of 49 thousand and prompts of 600
        tokens, that takes a quarter of the time.
        """
        outputs, logits, targets = predict_labels(model, inputs, self.accelerator.unwrap_model(model).dtype)
        total = functional.cross_entropy(logits, targets, reduction="sum")
        accuracy = (logits.argmax(-1) == targets).float().mean()
        self._metrics["train"]["mean_token_accuracy"].append(self.accelerator.reduce(accuracy, "mean").item())
        loss = total / (len(targets) if num_items_in_batch is None else num_items_in_batch)
        if num_items_in_batch is not None and self.args.average_tokens_across_devices:
            loss = loss * self.accelerator.num_processes
        return (loss, outputs) if return_outputs else loss
