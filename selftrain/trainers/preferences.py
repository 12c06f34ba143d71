"""Trains a language model on this machine to prefer one of two replies (DPO, arXiv 2305.18290), with PEFT and TRL.

Several GPUs: as housewise.selftrain.trainers.local.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from housewise.core.errors import UserError
from housewise.language.local.tokens import prompt_tokens, reply_tokens
from housewise.selftrain.personalize.settings import PreferenceConfig
from housewise.selftrain.preferences import Preference, read_preferences, write_preferences
from housewise.selftrain.trainers.base import Progress, ModelReference, TrainedModel
from housewise.selftrain.trainers.jobs import load_launched_job
from housewise.selftrain.trainers.local import LocalTraining

CURVE = ("step", "epoch", "loss", "rewards/accuracies", "rewards/margins", "learning_rate", "grad_norm")


class PreferenceTrainer(LocalTraining[Preference]):
    """Learns preferences; see LocalTraining.

    The reference is the model that training starts from: its adapter as it was, or no adapter.

    Args:
        config: how.
        seed: of the order of preferences and of fresh adapters.
        progress: told of every optimiser step.

    Raises:
        UserError: when all weights are to be trained.
    """

    curve: ClassVar[Sequence[str]] = CURVE
    called: ClassVar[str] = "preference"

    def __init__(self, config: PreferenceConfig, seed: int = 0, progress: Progress | None = None) -> None:
        super().__init__(config, seed, progress)
        if config.method != "lora":
            raise UserError(
                "method=full: preferences are learned by adapters, beside which the model stays what it was"
            )
        self._beta = config.beta

    def train(self, examples: Sequence[Preference], start: ModelReference, folder: Path) -> TrainedModel:
        """See Trainer.train.

        Raises:
            UserError: also when there is nothing to learn.
        """
        if not examples:
            raise UserError(f"{folder}: there is no preference to learn from; let the student cook more often")
        return super().train(examples, start, folder)

    def rows(self, tokenizer: Any, examples: Sequence[Preference], name: str) -> list[dict[str, list[int]]]:
        """See LocalTraining.rows."""
        return [
            {
                "prompt": prompt_tokens(tokenizer, each.messages, each.prefix, name),
                "chosen": reply_tokens(tokenizer, each.chosen),
                "rejected": reply_tokens(tokenizer, each.rejected),
            }
            for each in examples
        ]

    def trainer(self, network: Any, tokenizer: Any, rows: list[dict[str, list[int]]], folder: Path, report: Any) -> Any:
        """See LocalTraining.trainer."""
        from trl import DPOConfig

        from housewise.selftrain.trainers.dpo import SharedPromptDPO
        from housewise.selftrain.trainers.recipe import training_arguments

        settings = training_arguments(self.config, folder, self.seed, DPOConfig, beta=self._beta)
        return SharedPromptDPO(network, settings, rows, tokenizer, report, self.config.together)

    def write(self, examples: Sequence[Preference], path: Path) -> None:
        """See LocalTraining.write."""
        write_preferences(path, examples)


def main() -> None:
    """Carry out the training of a folder; every process of a launcher calls this."""
    folder = Path(sys.argv[1])
    config, seed, start = load_launched_job(folder, int(sys.argv[2]))
    assert isinstance(config, PreferenceConfig)
    try:
        PreferenceTrainer(config, seed).train_in_process(read_preferences(folder / "job.jsonl"), start, folder)
    except UserError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
