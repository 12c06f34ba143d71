"""Trains a model behind OpenAI's fine-tuning API, or another server that speaks it: with pairs, or with preferences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from housewise.selftrain.personalize.pairs import Pair
from housewise.selftrain.personalize.settings import PreferenceConfig
from housewise.selftrain.preferences import Preference
from housewise.selftrain.trainers.fine_tuning import FineTuning, Turn
from housewise.selftrain.trainers.selection import CUT, SAME_REPLIES, ExclusionReason


class OpenAITrainer(FineTuning[Pair]):
    """Learns replies; see Trainer and FineTuning."""

    kind = "pair"

    def method(self, epochs: int) -> dict[str, Any]:
        """See FineTuning.method."""
        return {"type": "supervised", "supervised": {"hyperparameters": {"n_epochs": epochs}}}

    def replies(self, example: Pair) -> tuple[str, ...]:
        """See FineTuning.replies."""
        return (example.reply,)

    def unfit(self, example: Pair) -> ExclusionReason | None:
        """See FineTuning.unfit: the API puts the end of a turn behind every reply."""
        return CUT if example.cut else None

    def line(self, example: Pair, said: Sequence[Turn]) -> dict[str, Any]:
        """See FineTuning.line: a conversation."""
        # The API learns all that the assistant says, unless it is told otherwise.
        silent = {} if example.turns else {"weight": 0}
        prompt = [{**turn, **silent} if turn["role"] == "assistant" else turn for turn in example.prompt]
        return {"messages": [*prompt, *said]}


class OpenAIPreferenceTrainer(FineTuning[Preference]):
    """Learns preferences by DPO, with the model that the job starts from as the reference; see FineTuning.

    Args:
        config: also what it costs to differ from the reference (``beta``).
        seed, base_url, progress, wait: see FineTuning.
    """

    kind = "preference"

    def __init__(self, config: PreferenceConfig, *args: Any, **kwargs: Any) -> None:
        super().__init__(config, *args, **kwargs)
        self._beta = config.beta

    def method(self, epochs: int) -> dict[str, Any]:
        """See FineTuning.method."""
        return {"type": "dpo", "dpo": {"hyperparameters": {"beta": self._beta, "n_epochs": epochs}}}

    def replies(self, example: Preference) -> tuple[str, ...]:
        """See FineTuning.replies."""
        return example.chosen, example.rejected

    def unfit(self, example: Preference) -> ExclusionReason | None:
        """See FineTuning.unfit."""
        return SAME_REPLIES if example.chosen == example.rejected else None

    def line(self, example: Preference, said: Sequence[Turn]) -> dict[str, Any]:
        """See FineTuning.line: a conversation, and the better and the worse way to go on with it."""
        chosen, rejected = said
        return {
            "input": {"messages": list(example.prompt)},
            "preferred_output": [chosen],
            "non_preferred_output": [rejected],
        }
