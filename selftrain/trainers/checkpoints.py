"""Checkpoints of local trainings, and callbacks and mixins that both TRL trainers share.

Import this module only where torch, transformers, peft and trl are installed.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

from housewise.core.console import print_note
from housewise.core.errors import UserError
from housewise.core.files import open_regular, read_bytes, write_json
from housewise.language.local.libraries import convert_save_errors
from housewise.selftrain.trainers.launcher_environment import wait_for_all_processes
from housewise.selftrain.trainers.settings import TrainingConfig

StepReport = Callable[[int, int, list[dict[str, Any]]], None]
"""Called with the steps done, the steps in all, and the log so far."""

WARM_UP = 0.05
"""Share of the steps in which the learning rate rises."""

_STATE, _DIGESTS = "trainer_state.json", "digests.json"
_CHUNK = 1 << 22
_COMPARED = 16
_LOGGED = {"loss": "loss", "grad_norm": "gradient"}


class Checkpointing:
    """Mixin for TRL trainers: checkpoints with digests of their files, and examples that are tokens already.

    Attributes:
        has_begun: Whether a step has begun, so that an error does not come from reading a checkpoint.
    """

    has_begun = False

    def training_step(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        """See transformers.Trainer."""
        self.has_begun = True
        loss: torch.Tensor = super().training_step(*args, **kwargs)  # type: ignore[misc]
        return loss

    def create_scheduler(self, num_training_steps: int, *args: Any, **kwargs: Any) -> Any:
        """See transformers.Trainer. Short trainings have no warm-up, whose first step learns nothing."""
        if num_training_steps * WARM_UP <= 1:
            self.args.warmup_steps = 0  # type: ignore[attr-defined]
        return super().create_scheduler(num_training_steps, *args, **kwargs)  # type: ignore[misc]

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        """See trl. Checkpoints have no card; that of the trained model is written behind the last step."""

    def _prepare_dataset(self, dataset: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the data set as it is: its tokens are those of a prompt, which no chat template would produce."""
        return dataset

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        network = self.accelerator.unwrap_model(self.model)  # type: ignore[attr-defined]
        save_weights(network, output_dir or self.args.output_dir, state_dict)  # type: ignore[attr-defined]

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        folder = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"  # type: ignore[attr-defined]
        with convert_save_errors(folder):
            super()._save_checkpoint(model, trial)  # type: ignore[misc]
            # Each process writes its own file.
            wait_for_all_processes()
        if self.is_world_process_zero():  # type: ignore[attr-defined]
            write_json(folder / _DIGESTS, _file_digests(folder))


class ProgressCallback(TrainerCallback):  # type: ignore[misc]
    """Passes the log to a function as it grows."""

    def __init__(self, report: StepReport) -> None:
        self._report = report

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """See transformers.TrainerCallback."""
        if state.is_world_process_zero:
            self._report(state.global_step, state.max_steps, state.log_history)


class FiniteNumbers(TrainerCallback):  # type: ignore[misc]
    """Ends training at the first step whose loss, gradient or weights are not finite, before they are saved.

    Args:
        config: Settings of the training; the message names the one to change.
    """

    def __init__(self, config: TrainingConfig) -> None:
        self._config = config

    def on_log(self, args: Any, state: Any, control: Any, model: Any = None, logs: Any = None, **kwargs: Any) -> None:
        """See transformers.TrainerCallback.

        Raises:
            UserError: A number is not finite.
        """
        broken = [what for key, what in _LOGGED.items() if not math.isfinite((logs or {}).get(key, 0.0))]
        if not broken and has_finite_weights(model):
            return
        remedy = f"lower {self._config.key('learning_rate')}={self._config.learning_rate:g}"
        if broken and state.global_step == 1:
            remedy = (
                f"nothing was learned before it, so try {self._config.key('dtype')}=float32, or start from another "
                "model or adapter"
            )
        what = broken[0] if broken else "weight"
        raise UserError(f"step {state.global_step} of {state.max_steps}: the {what} is not a finite number; {remedy}")


def save_weights(network: Any, folder: str, state_dict: Any = None) -> None:
    """Save all weights of a model, or those of the adapter that is trained."""
    options: dict[str, Any] = {}
    if hasattr(network, "peft_config"):
        # PEFT's card takes longer to make than a small adapter to write, and ours takes its place.
        network.create_or_update_model_card = lambda folder: None
        # Embeddings are not trained, and checking whether they were would need the Hub.
        options = {"save_embedding_layers": False, "selected_adapters": ["default"]}
    network.save_pretrained(folder, state_dict=state_dict, **options)


def has_finite_weights(network: Any) -> bool:
    """Return whether all trained weights are finite numbers."""
    finite = [weight.isfinite().all() for weight in network.parameters() if weight.requires_grad]
    # The weights may be on several devices.
    return bool(torch.stack([each.to(finite[0].device) for each in finite]).all())


def state_digests(network: Any, row: Mapping[str, list[int]]) -> set[str]:
    """Return digests of a model's state: two equal states have a digest in common.

    The digests are those of the trained weights and, in float32, of the model's outputs. In half precision outputs may
    be equal although weights have changed.

    Args:
        network: The model.
        row: An example that it is trained with, as tokens.
    """
    weights = (weight for weight in network.parameters() if weight.requires_grad)
    return {_digest(weights)} | ({_digest([_last_logits(network, row)])} if network.dtype == torch.float32 else set())


def _last_logits(network: Any, row: Mapping[str, list[int]]) -> torch.Tensor:
    """Return the logits at the last tokens of an example."""
    tokens = row["input_ids"] if "input_ids" in row else row["prompt"] + row["chosen"]
    with evaluation_mode(network):
        ids = torch.tensor([tokens], device=network.device)
        logits: torch.Tensor = network(input_ids=ids, use_cache=False, logits_to_keep=_COMPARED).logits
    return logits


@contextmanager
def evaluation_mode(network: Any) -> Iterator[None]:
    """Set a model that is being trained to evaluation: without gradients, and without dropout."""
    was_training = network.training
    network.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        network.train(was_training)


def _digest(tensors: Iterable[torch.Tensor]) -> str:
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(tensor.detach().cpu().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def usable_checkpoints(folder: Path, remove: bool) -> list[str]:
    """Return the checkpoints that are complete and undamaged, the last one first.

    Args:
        folder: Folder of the checkpoints.
        remove: Whether to remove the other checkpoints, with a note about each.
    """
    found = sorted(folder.glob("checkpoint-*"), key=_step, reverse=True)
    # Checkpoints of earlier versions have no digests; one of this version without them was being written or removed.
    has_digests = any((path / _DIGESTS).exists() for path in found)
    damaged = [path for path in found if not _is_complete(path, has_digests)]
    usable = [str(path) for path in found if path not in damaged]
    for path in damaged if remove else ():
        shutil.rmtree(path, ignore_errors=True)
        earlier = [other for other in usable if _step(Path(other)) < _step(path)]
        print_note(f"{path}: damaged, or cut off while it was written, and removed; {describe_resumption(earlier)}")
    return usable


def describe_resumption(earlier: list[str]) -> str:
    """Return a phrase about where training resumes.

    Args:
        earlier: Usable checkpoints, the last one first.
    """
    return f"training goes on from {Path(earlier[0]).name}" if earlier else "training begins anew"


def _step(checkpoint: Path) -> int:
    step = checkpoint.name.rpartition("-")[2]
    return int(step) if step.isdecimal() else -1


def _is_complete(checkpoint: Path, has_digests: bool) -> bool:
    """Return whether a checkpoint has the file that transformers writes last, and all files match their digests."""
    try:
        json.loads(read_bytes(checkpoint / _STATE))
        return not has_digests or json.loads(read_bytes(checkpoint / _DIGESTS)) == _file_digests(checkpoint)
    except (OSError, ValueError):
        return False


def _file_digests(checkpoint: Path) -> Mapping[str, str]:
    """Return the digest of each file of a checkpoint, by name."""
    found: dict[str, str] = {}
    for path in sorted(checkpoint.rglob("[!.]*")):
        if path.name != _DIGESTS and not path.is_dir():
            digest = hashlib.sha256()
            with open_regular(path, largest=1 << 62) as stream:
                while chunk := stream.read(_CHUNK):
                    digest.update(chunk)
            found[path.relative_to(checkpoint).as_posix()] = digest.hexdigest()
    return found
