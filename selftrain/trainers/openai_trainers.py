"""Trainers for OpenAI's fine-tuning API, or another server with the same protocol: demonstrations, or preferences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from housewise.selftrain.examples import Demonstration, Preference
from housewise.selftrain.trainers.exclusions import CUT, SAME_REPLIES, ExclusionReason
from housewise.selftrain.trainers.fine_tuning_job import FineTuningTrainer, Turn
from housewise.selftrain.trainers.settings import PreferenceConfig


class OpenAITrainer(FineTuningTrainer[Demonstration]):
    """Learns replies by supervised fine-tuning; see Trainer and FineTuningTrainer."""

    noun = Demonstration.noun

    def job_method(self, epochs: int) -> dict[str, Any]:
        """See FineTuningTrainer.job_method."""
        return {"type": "supervised", "supervised": {"hyperparameters": {"n_epochs": epochs}}}

    def replies(self, example: Demonstration) -> tuple[str, ...]:
        """See FineTuningTrainer.replies."""
        return (example.reply,)

    def exclusion_reason(self, example: Demonstration) -> ExclusionReason | None:
        """Exclude truncated replies: the API appends the end of a turn to every reply."""
        return CUT if example.cut else None

    def format_example(self, example: Demonstration, replies: Sequence[Turn]) -> dict[str, Any]:
        """Return a conversation; see FineTuningTrainer.format_example."""
        # The API learns all messages of the assistant, unless their weight is 0.
        ignored = {} if example.turns else {"weight": 0}
        prompt = [{**turn, **ignored} if turn["role"] == "assistant" else turn for turn in example.prompt]
        return {"messages": [*prompt, *replies]}


class OpenAIPreferenceTrainer(FineTuningTrainer[Preference]):
    """Learns preferences by DPO, with the model that the job starts from as the reference; see FineTuningTrainer.

    Args:
        config: Settings of the training, with ``beta``.
        *args, **kwargs: See FineTuningTrainer.
    """

    noun = Preference.noun

    def __init__(self, config: PreferenceConfig, *args: Any, **kwargs: Any) -> None:
        super().__init__(config, *args, **kwargs)
        self._beta = config.beta

    def job_method(self, epochs: int) -> dict[str, Any]:
        """See FineTuningTrainer.job_method."""
        return {"type": "dpo", "dpo": {"hyperparameters": {"beta": self._beta, "n_epochs": epochs}}}

    def replies(self, example: Preference) -> tuple[str, ...]:
        """See FineTuningTrainer.replies."""
        return example.chosen, example.rejected

    def exclusion_reason(self, example: Preference) -> ExclusionReason | None:
        """See FineTuningTrainer.exclusion_reason."""
        return SAME_REPLIES if example.chosen == example.rejected else None

    def format_example(self, example: Preference, replies: Sequence[Turn]) -> dict[str, Any]:
        """Return a conversation with its better and its worse continuation; see FineTuningTrainer.format_example."""
        chosen, rejected = replies
        return {
            "input": {"messages": list(example.prompt)},
            "preferred_output": [chosen],
            "non_preferred_output": [rejected],
        }
