"""What the trainers of this machine have in common: their learning rate, their checkpoints, and numbers that break.

Imported only where torch, transformers, peft and trl are there.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

from housewise.core.console import print_note
from housewise.core.errors import UserError
from housewise.core.files import open_regular, read_bytes, write_json
from housewise.language.local.libraries import convert_save_errors
from housewise.selftrain.personalize.settings import TrainingConfig
from housewise.selftrain.trainers.launching import wait_for_all_processes

WARM_UP = 0.05
"""Share of the steps in which the learning rate rises."""

_STATE, _DIGESTS = "trainer_state.json", "digests.json"
_CHUNK = 1 << 22
_COMPARED = 16
_LOGGED = {"loss": "loss", "grad_norm": "gradient"}


class Checkpointing:
    """Mixin of a trainer of transformers: checkpoints of which it can be seen whether they are whole.

    Attributes:
        has_begun: whether a step was begun, so that what fails is no longer the reading of a checkpoint.
    """

    has_begun = False

    def training_step(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        """See transformers.Trainer."""
        self.has_begun = True
        loss: torch.Tensor = super().training_step(*args, **kwargs)  # type: ignore[misc]
        return loss

    def create_scheduler(self, num_training_steps: int, *args: Any, **kwargs: Any) -> Any:
        """See transformers.Trainer. Few steps have no warm-up: its first step learns nothing, and may be the last."""
        if num_training_steps * WARM_UP <= 1:
            self.args.warmup_steps = 0  # type: ignore[attr-defined]
        return super().create_scheduler(num_training_steps, *args, **kwargs)  # type: ignore[misc]

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        folder = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"  # type: ignore[attr-defined]
        with convert_save_errors(folder):
            super()._save_checkpoint(model, trial)  # type: ignore[misc]
            # Each process writes a file of its own.
            wait_for_all_processes()
        if self.is_world_process_zero():  # type: ignore[attr-defined]
            write_json(folder / _DIGESTS, _file_digests(folder))


class FiniteNumbers(TrainerCallback):  # type: ignore[misc]
    """Ends training at the step whose loss, gradient or weights are no finite numbers, before they are kept.

    Args:
        config: the settings, of which the message names what to change.
    """

    def __init__(self, config: TrainingConfig) -> None:
        self._config = config

    def on_log(self, args: Any, state: Any, control: Any, model: Any = None, logs: Any = None, **kwargs: Any) -> None:
        """See transformers.TrainerCallback.

        Raises:
            UserError: when a number is not finite.
        """
        broken = [what for key, what in _LOGGED.items() if not math.isfinite((logs or {}).get(key, 0.0))]
        if not broken and has_finite_weights(model):
            return
        remedy = f"lower {self._config.key('learning_rate')}={self._config.learning_rate:g}"
        if broken and state.global_step == 1:
            remedy = (
                f"nothing was learned before it, so try {self._config.key('dtype')}=float32, or begin with another "
                "model or adapter"
            )
        what = broken[0] if broken else "weight"
        raise UserError(f"step {state.global_step} of {state.max_steps}: the {what} is not a finite number; {remedy}")


def has_finite_weights(network: Any) -> bool:
    """Whether all weights that are trained are finite numbers."""
    finite = [weight.isfinite().all() for weight in network.parameters() if weight.requires_grad]
    return bool(torch.stack(finite).all())


def state_digests(network: Any, row: Mapping[str, list[int]]) -> set[str]:
    """Tell a model from what it is before or after training: the sets of two that are the same have a digest in common.

    They are those of the weights that are trained and, in float32, of what the model says. In half precision it may say
    the same where weights have changed.

    Args:
        network: the model.
        row: an example that it is trained with.
    """
    weights = (weight for weight in network.parameters() if weight.requires_grad)
    return {_digest(weights)} | ({_digest([_last_logits(network, row)])} if network.dtype == torch.float32 else set())


def _last_logits(network: Any, row: Mapping[str, list[int]]) -> torch.Tensor:
    """The logits behind the last tokens of an example."""
    tokens = row["input_ids"] if "input_ids" in row else row["prompt"] + row["chosen"]
    with evaluation_mode(network):
        ids = torch.tensor([tokens], device=network.device)
        logits: torch.Tensor = network(input_ids=ids, use_cache=False, logits_to_keep=_COMPARED).logits
    return logits


@contextmanager
def evaluation_mode(network: Any) -> Iterator[None]:
    """Have a model that is being trained answer as it is: without gradients, and without what training draws."""
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
    """The checkpoints that were written to their end and are as they were written, the last one first.

    Args:
        folder: of all of them.
        remove: whether the others are removed, and it is said.
    """
    found = sorted(folder.glob("checkpoint-*"), key=_step, reverse=True)
    # No checkpoint of an earlier version has digests; one of this version without them was being written or removed.
    has_digests = any((path / _DIGESTS).exists() for path in found)
    damaged = [path for path in found if not _is_complete(path, has_digests)]
    usable = [str(path) for path in found if path not in damaged]
    for path in damaged if remove else ():
        shutil.rmtree(path, ignore_errors=True)
        earlier = [other for other in usable if _step(Path(other)) < _step(path)]
        print_note(f"{path}: damaged, or cut off while it was written, and removed; {describe_resumption(earlier)}")
    return usable


def describe_resumption(earlier: list[str]) -> str:
    """What training goes on from, in words.

    Args:
        earlier: checkpoints, the last one first.
    """
    return f"training goes on from {Path(earlier[0]).name}" if earlier else "training begins anew"


def _step(checkpoint: Path) -> int:
    step = checkpoint.name.rpartition("-")[2]
    return int(step) if step.isdecimal() else -1


def _is_complete(checkpoint: Path, has_digests: bool) -> bool:
    """Whether a checkpoint has the file that transformers writes last, and all files are those of its digests."""
    try:
        json.loads(read_bytes(checkpoint / _STATE))
        return not has_digests or json.loads(read_bytes(checkpoint / _DIGESTS)) == _file_digests(checkpoint)
    except (OSError, ValueError):
        return False


def _file_digests(checkpoint: Path) -> Mapping[str, str]:
    """The digest of each file of a checkpoint, by name."""
    found: dict[str, str] = {}
    for path in sorted(checkpoint.rglob("[!.]*")):
        if path.name != _DIGESTS and not path.is_dir():
            digest = hashlib.sha256()
            with open_regular(path, largest=1 << 62) as stream:
                while chunk := stream.read(_CHUNK):
                    digest.update(chunk)
            found[path.relative_to(checkpoint).as_posix()] = digest.hexdigest()
    return found
