"""Trainers of this machine: supervised fine-tuning on demonstrations, and DPO on preferences.

``python -m housewise.selftrain.trainers.local FOLDER PROCESS`` carries out the training that ``job.json`` in a folder
describes; every process of a launcher runs it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from housewise.core.errors import UserError
from housewise.selftrain.examples import Demonstration, Preference, read_examples
from housewise.selftrain.trainers.base import Progress
from housewise.selftrain.trainers.launched_progress import write_progress
from housewise.selftrain.trainers.local_training import LocalTraining
from housewise.selftrain.trainers.settings import PreferenceConfig
from housewise.selftrain.trainers.tokenization import tokenize_demonstration, tokenize_preference
from housewise.selftrain.trainers.training_job import load_launched_job


class LocalTrainer(LocalTraining[Demonstration]):
    """Learns replies by supervised fine-tuning; see LocalTraining."""

    kind = Demonstration
    curve: ClassVar[Sequence[str]] = ("step", "epoch", "loss", "mean_token_accuracy", "learning_rate", "grad_norm")

    def tokenize(self, tokenizer: Any, example: Demonstration, model: str) -> dict[str, list[int]]:
        """See LocalTraining.tokenize."""
        return tokenize_demonstration(tokenizer, example, model, self.config.chat_template_kwargs)

    def trainer_class(self) -> Any:
        """See LocalTraining.trainer_class."""
        from housewise.selftrain.trainers.sft import SharedPromptSFT

        return SharedPromptSFT


class LocalPreferenceTrainer(LocalTraining[Preference]):
    """Learns preferences by DPO (arXiv 2305.18290); see LocalTraining.

    The reference is the model that training starts from: its adapter as it was, or no adapter.

    Args:
        config: Settings of the training.
        seed: Seed of the order of preferences and of new adapters.
        progress: Called after every optimiser step.

    Raises:
        UserError: The settings ask for training all weights.
    """

    kind = Preference
    curve: ClassVar[Sequence[str]] = (
        *("step", "epoch", "loss", "rewards/accuracies", "rewards/margins"),
        *("learning_rate", "grad_norm"),
    )

    def __init__(self, config: PreferenceConfig, seed: int = 0, progress: Progress | None = None) -> None:
        super().__init__(config, seed, progress)
        if config.method != "lora":
            key = config.key("method")
            raise UserError(
                f"{key}=full: preferences are learned by adapters, which leave the reference unchanged; leave {key} out"
            )

    def tokenize(self, tokenizer: Any, example: Preference, model: str) -> dict[str, list[int]]:
        """See LocalTraining.tokenize."""
        return tokenize_preference(tokenizer, example, model, self.config.chat_template_kwargs)

    def trainer_class(self) -> Any:
        """See LocalTraining.trainer_class."""
        from housewise.selftrain.trainers.dpo import SharedPromptDPO

        return SharedPromptDPO


def main() -> None:
    """Carry out the training of a folder as one process of a launcher."""
    folder = Path(sys.argv[1])
    config, seed, start = load_launched_job(folder, sys.argv[2])
    data, progress = folder / "job.jsonl", write_progress(folder)
    try:
        if isinstance(config, PreferenceConfig):
            preferences = read_examples(data, Preference)
            LocalPreferenceTrainer(config, seed, progress).train_in_process(preferences, start, folder)
        else:
            demonstrations = read_examples(data, Demonstration)
            LocalTrainer(config, seed, progress).train_in_process(demonstrations, start, folder)
    except UserError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
