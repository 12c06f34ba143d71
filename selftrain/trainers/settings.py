"""Settings of a training: how a model learns from demonstrations, or from preferences."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from housewise.core.setting_effects import settings_by_effect
from housewise.core.setting_marks import EXECUTION, SELECTION
from housewise.core.settings import MAX_COUNT, Command, Settings
from housewise.core.settings_loading import LoadableSettings
from housewise.language.settings import Dtype

MIN_API_EXAMPLES = 10
"""Smallest number of examples that a fine-tuning API accepts."""

_USED_BY_API = frozenset({"trainer", "epochs", "beta", "poll_seconds"})


class TrainingConfig(Settings):
    """How a model learns from demonstrations."""

    trainer: str = "local"
    """Where the model is trained: local (PEFT and TRL on this machine), or openai (a fine-tuning API at base_url, with
    the key in OPENAI_API_KEY; it uses epochs, rounded to whole passes, beta and poll_seconds alone)."""
    method: Literal["lora", "full"] = "lora"
    """What is trained: lora (a small adapter) or full (all weights)."""
    rank: int = Field(default=32, ge=1, le=MAX_COUNT)
    """Rank of the adapter."""
    alpha: int = Field(default=64, ge=1, le=MAX_COUNT)
    """Scale of the adapter (LoRA's alpha)."""
    targets: str | tuple[str, ...] = "all-linear"
    """Layers that get an adapter: all-linear, or their names, such as [q_proj, v_proj]. Of a model that also reads
    images, only the layers for text are trained."""
    learning_rate: float = Field(default=3e-4, gt=0)
    """Learning rate. It may change while a folder has phases that are not trained; a stopped phase then starts
    again."""
    epochs: float = Field(default=2.0, gt=0)
    """Number of passes over the examples."""
    batch: int = Field(default=8, ge=1, le=MAX_COUNT)
    """Number of examples per step of the optimiser."""
    micro_batch: Annotated[int | None, EXECUTION] = Field(default=None, ge=1, le=MAX_COUNT)
    """Number of examples in memory at once. null is 1 on a CPU, where more are not faster, and on a GPU as many as have
    together at most 8192 tokens, the longest ones taken, and fit into its memory. Preferences
    are computed one after another in any case."""
    max_packed_examples: int = Field(default=1, ge=1, le=MAX_COUNT)
    """Maximum number of successive examples with a common beginning that are packed into one sequence. They count as
    one example of the batch."""
    max_example_tokens: Annotated[int, SELECTION] = Field(default=2048, ge=1, le=MAX_COUNT)
    """Maximum number of tokens of an example. Longer ones are left out and counted. If they are more than half, the
    training fails."""
    gradient_checkpointing: Annotated[bool | None, EXECUTION] = None
    """Whether activations are computed again to save memory, which takes longer. null does so on a GPU for models of 1
    billion weights or more."""
    checkpoint_steps: Annotated[int, EXECUTION] = Field(default=10, ge=1, le=MAX_COUNT)
    """Number of steps between checkpoints. A stopped training resumes from the last one."""
    device: Annotated[str, EXECUTION] = "auto"
    """Device of the training, such as cpu or cuda. auto prefers a GPU."""
    dtype: Dtype = "auto"
    """Precision of the model. auto is the fastest on this machine."""
    quantization: Literal["4bit"] | None = None
    """4bit keeps the weights beside the adapter in 4 bits while it is trained (QLoRA, arXiv 2305.14314), which needs
    bitsandbytes. Runs with the adapter have all bits."""
    device_map: Annotated[Literal["auto"] | None, EXECUTION] = None
    """auto spreads the layers over all GPUs, for a model that does not fit on one. null trains on one device."""
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the model's chat template. A self-training uses those that its runs ask the model with."""
    launcher: Annotated[Command | None, EXECUTION] = None
    """Program that starts the training, such as accelerate launch --num_processes 4. null trains in this process."""
    poll_seconds: Annotated[float, EXECUTION] = Field(default=20.0, gt=0)
    """Seconds between two requests for the state of a job of the fine-tuning API."""

    @property
    def unused_keys(self) -> list[str]:
        """Keys of the settings that the user set and that have no effect with this trainer."""
        if self.trainer != "openai":
            return []
        return [self.key(name) for name in type(self).model_fields if name in self.set_by_user - _USED_BY_API]

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that a trained model depends on."""
        return settings_by_effect(self, {"result", "selection"})

    @property
    def resumable_identity(self) -> dict[str, Any]:
        """The settings that must stay the same to resume a folder of several trainings.

        Which examples are left out may change for the trainings that are left: only when everything is played is it
        known whether too many are too long.
        """
        return settings_by_effect(self, {"result"})


class OnePhaseSettings(LoadableSettings):
    """Settings of a training that trains one model, in a section ``training``.

    Attributes:
        fixed: Beginnings of the keys of settings that must stay the same to resume a folder.
    """

    fixed: ClassVar[tuple[str, ...]] = ()

    def identity(self, learned: bool) -> dict[str, Any]:
        """Return the settings that must stay the same to resume a folder, by dotted key.

        Args:
            learned: Whether the folder has a finished model. Until then the settings of the training may change.
        """
        fixed = (*self.fixed, *(["training."] if learned else []))
        found = settings_by_effect(self, {"result", "selection"})
        return {key: value for key, value in found.items() if key.startswith(fixed)}


class PreferenceConfig(TrainingConfig):
    """How a model learns which of two replies is better (DPO, arXiv 2305.18290)."""

    beta: float = Field(default=0.1, gt=0)
    """Strength of the penalty for differing from the reference model (DPO's beta)."""
