"""Trains a language model on this machine with PEFT and TRL.

Several GPUs: ``accelerate launch -m housewise.selftrain.trainers.local FOLDER PROCESS``, which the setting
``training.launcher`` does; it ends with that process.
"""

from __future__ import annotations

import importlib.util
import math
import os
import shlex
import shutil
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, ClassVar, Generic, TypeVar

from housewise.core.console import print_note
from housewise.core.errors import UserError
from housewise.core.files import write_json, write_text
from housewise.language.local.adapters import lora_settings, save_base_weights, with_adapter
from housewise.language.local.context import context_length
from housewise.language.local.libraries import out_of_memory, quiet
from housewise.language.local.smollm2 import SMOLLM2
from housewise.language.local.weights import check_weights, load
from housewise.selftrain.datasets import Prompted
from housewise.selftrain.personalize.pairs import Pair, read_pairs, write_pairs
from housewise.selftrain.personalize.settings import TrainingConfig
from housewise.selftrain.trainers.base import ADAPTER, MODEL, Progress, Start, TrainedModel, refuse_finished
from housewise.selftrain.trainers.card import curve_csv, model_card
from housewise.selftrain.trainers.examples import learnable_rows, pair_tokens, row_length
from housewise.selftrain.trainers.jobs import JOB, Job, launched

INSTALL = "pip install 'housewise[train]'"
_CHECKPOINTS = "checkpoints"
CURVE = ("step", "epoch", "loss", "mean_token_accuracy", "learning_rate", "grad_norm")
_OUT_OF_MEMORY = (
    "out of memory while training; go on with training.pairs_per_pass=1 (the batch stays as it is) and "
    "training.gradient_checkpointing=true, or begin in another folder with fewer training.most_tokens or a lower "
    "training.rank"
)


E = TypeVar("E", bound=Prompted)


class LocalTraining(ABC, Generic[E]):
    """Trains LoRA adapters, or all weights, of a causal language model.

    Every training leaves in its folder: ``curve.csv``, ``model.json``, and either ``adapter/`` in PEFT's format or
    ``model/`` with all weights, in which ``README.md`` is the model card.

    Args:
        config: how.
        seed: of the order of examples and of fresh adapters.
        progress: told of every optimiser step.

    Attributes:
        curve: columns of ``curve.csv``.
        called: What an example is called.
        section: Of the settings, for messages.
    """

    curve: ClassVar[Sequence[str]] = CURVE
    called: ClassVar[str] = "pair"
    section: ClassVar[str] = "training"

    def __init__(self, config: TrainingConfig, seed: int = 0, progress: Progress | None = None) -> None:
        self.config = config
        self.seed = seed
        self._progress = progress or (lambda done, total, words: None)

    @abstractmethod
    def rows(self, tokenizer: Any, examples: Sequence[E], name: str) -> list[dict[str, list[int]]]:
        """Examples as tokens, in lists by name; how long one is is told by all of them but its labels.

        Args:
            tokenizer: of the model.
            examples: what is to be learned.
            name: of the model, for errors.
        """

    @abstractmethod
    def trainer(self, network: Any, tokenizer: Any, rows: list[dict[str, list[int]]], folder: Path, report: Any) -> Any:
        """What optimises: a trainer of transformers.

        Args:
            network: the model; what is to be trained of it requires gradients.
            tokenizer: of the model.
            rows: see rows.
            folder: of checkpoints.
            report: told of every step; see recipe.Report.
        """

    @abstractmethod
    def write(self, examples: Sequence[E], path: Path) -> None:
        """Keep examples for the processes of a launcher."""

    def train(self, examples: Sequence[E], start: Start, folder: Path) -> TrainedModel:
        """See Trainer.train."""
        job = Job.of(self.config, self.seed, start, examples)
        changes, finished = job.changes(folder), TrainedModel.load(folder, start.model)
        if finished is not None:
            refuse_finished(folder, finished, start, changes)
            return finished
        self.check(start)
        if changes is None or changes:
            shutil.rmtree(folder / _CHECKPOINTS, ignore_errors=True)
        write_json(folder / JOB, job.model_dump())
        if self.config.launcher is None:
            return self.carry_out(examples, start, folder)
        self.write(examples, folder / "job.jsonl")
        command = [*shlex.split(self.config.launcher), "-m", type(self).__module__, str(folder), str(os.getpid())]
        try:
            subprocess.run(command, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise UserError(f"training in {folder} failed ({error}); see what it printed") from error
        trained = TrainedModel.load(folder)
        if trained is None:
            raise UserError(f"training in {folder} ended without a model; check training.launcher")
        return trained

    def check(self, start: Start) -> None:
        """See Trainer.check."""
        kind, _, name = start.model.partition(":")
        if kind != "local":
            raise UserError(f"model {start.model}: only local models are trained here; see training.trainer")
        for package in ("torch", "transformers", "peft", "trl"):
            if importlib.util.find_spec(package) is None:
                raise UserError(f"{package} is not installed; run {INSTALL}")
        check_weights(name or SMOLLM2, start.adapter)
        self._check_adapter_settings(start)

    def _check_adapter_settings(self, start: Start) -> None:
        """Check that nobody set what the adapter that training goes on from has settled already.

        Raises:
            UserError: when somebody did.
        """
        for key, value in self._settled(start).items():
            wanted = getattr(self.config, key)
            wanted = tuple(sorted(wanted)) if isinstance(wanted, tuple) else wanted
            # Which layers all-linear means, the model tells; the card has those of the adapter.
            if key in self.config.set_by_user and wanted not in (value, "all-linear"):
                raise UserError(
                    f"{self.section}.{key}={wanted}: training goes on from adapter {start.adapter}, whose {key} is "
                    f"{value}; leave {self.section}.{key} out, or train without an adapter to begin with"
                )

    def _settled(self, start: Start) -> dict[str, Any]:
        """The settings that an adapter has from the one that training goes on from."""
        if start.adapter is None or self.config.method != "lora":
            return {}
        return lora_settings(start.adapter)

    def carry_out(self, examples: Sequence[E], start: Start, folder: Path) -> TrainedModel:
        """Train in this process; see Trainer.train."""
        try:
            with quiet():
                return self._train(examples, start, folder)
        except ModuleNotFoundError as error:
            raise UserError(f"{error.name} is not installed; run {INSTALL}") from error
        except (MemoryError, RuntimeError) as error:
            if not out_of_memory(error):
                raise
            raise UserError(_OUT_OF_MEMORY) from error

    def _train(self, examples: Sequence[E], start: Start, folder: Path) -> TrainedModel:
        from safetensors import SafetensorError

        from housewise.selftrain.trainers.recipe import last_checkpoint

        checkpoints = folder / _CHECKPOINTS
        network, tokenizer = self._network(start)
        rows = self.rows(tokenizer, examples, start.model)
        context, setting = context_length(network.config), f"{self.section}.most_tokens"
        fitting, notes = learnable_rows(
            rows, self.called, f"model {start.model}", context, setting, self.config.most_tokens
        )
        if os.environ.get("RANK", "0") == "0":
            for note in notes:
                print_note(note)
        trainer = self.trainer(network, tokenizer, fitting, checkpoints, self._reporter(folder))
        began = time.perf_counter()
        checkpoint = last_checkpoint(checkpoints)
        try:
            trainer.train(resume_from_checkpoint=checkpoint)
        except (UnpicklingError, EOFError, SafetensorError) as error:
            # Checkpoints are pickled; PyTorch reads tensors and numbers of them alone, and refuses the rest.
            what = str(error).partition("\n")[0]
            raise UserError(f"{checkpoint}: cannot be read ({what}); delete it to go on without it") from error
        seconds = time.perf_counter() - began
        history = trainer.state.log_history
        loss = [entry["loss"] for entry in history if "loss" in entry]
        if not all(map(math.isfinite, loss)):
            raise UserError("the loss is not a number any more; lower training.learning_rate")
        metrics = {
            "pairs": len(fitting),
            "left_out": len(rows) - len(fitting),
            "tokens": sum(map(row_length, fitting)),
            "steps": trainer.state.global_step,
            "first_loss": loss[0] if loss else 0.0,
            "last_loss": loss[-1] if loss else 0.0,
            "seconds": seconds,
        }
        trained = self._named(start, folder, metrics, notes)
        trainer.accelerator.wait_for_everyone()
        if trainer.is_world_process_zero():
            weights = self._save(network, tokenizer, folder, start)
            as_trained = self.config.model_copy(update=self._settled(start))
            write_text(weights / "README.md", model_card(as_trained, self.seed, start, metrics))
            trained.save(folder)
            shutil.rmtree(checkpoints, ignore_errors=True)
        trainer.accelerator.wait_for_everyone()
        return trained

    def _network(self, start: Start) -> tuple[Any, Any]:
        """The model with what is to be trained in it, and its tokenizer."""
        from housewise.selftrain.trainers.recipe import fresh_adapter

        model = start.model.partition(":")[2] or SMOLLM2
        full = self.config.method == "full"
        if full:
            # Small steps vanish in half the precision, so that all weights are kept in float32.
            network, tokenizer = load(model, start.adapter, self.config.device, "float32")
            return network.requires_grad_(True).train(), tokenizer
        network, tokenizer = load(model, None, self.config.device, self.config.dtype)
        if start.adapter is not None:
            return with_adapter(network, model, start.adapter, trainable=True).train(), tokenizer
        return fresh_adapter(network, self.config, self.seed).train(), tokenizer

    def _named(self, start: Start, folder: Path, metrics: dict[str, float], notes: tuple[str, ...]) -> TrainedModel:
        if self.config.method == "full":
            return TrainedModel(model=f"local:{folder / MODEL}", metrics=metrics, notes=notes)
        return TrainedModel(model=start.model, adapter=str(folder / ADAPTER), metrics=metrics, notes=notes)

    def _save(self, network: Any, tokenizer: Any, folder: Path, start: Start) -> Path:
        """Write the weights; returns their folder."""
        from housewise.selftrain.trainers.recipe import save

        if self.config.method == "full":
            tokenizer.save_pretrained(folder / MODEL)
        weights = folder / (MODEL if self.config.method == "full" else ADAPTER)
        save(network, str(weights))
        if self.config.method == "lora":
            save_base_weights(weights, start.model.partition(":")[2] or SMOLLM2)
        return weights

    def _reporter(self, folder: Path) -> Any:
        def report(step: int, total: int, history: list[dict[str, Any]]) -> None:
            write_text(folder / "curve.csv", curve_csv(history, self.curve))
            loss = next((entry["loss"] for entry in reversed(history) if "loss" in entry), None)
            self._progress(step, total, "" if loss is None else f"loss {loss:.3f}")

        return report


class LocalTrainer(LocalTraining[Pair]):
    """Learns replies; see Trainer and LocalTraining."""

    def rows(self, tokenizer: Any, examples: Sequence[Pair], name: str) -> list[dict[str, list[int]]]:
        """See LocalTraining.rows."""
        return [pair_tokens(tokenizer, pair, name) for pair in examples]

    def trainer(self, network: Any, tokenizer: Any, rows: list[dict[str, list[int]]], folder: Path, report: Any) -> Any:
        """See LocalTraining.trainer."""
        from housewise.selftrain.trainers.recipe import PairTrainer, arguments, plain_attention

        settings = arguments(self.config, folder, self.seed)
        return PairTrainer(network, settings, rows, tokenizer, plain_attention(network), report, self.config.together)

    def write(self, examples: Sequence[Pair], path: Path) -> None:
        """See LocalTraining.write."""
        write_pairs(path, examples)


def main() -> None:
    """Carry out the training of a folder; every process of a launcher calls this."""
    folder = Path(sys.argv[1])
    config, seed, start = launched(folder, int(sys.argv[2]))
    try:
        LocalTrainer(config, seed).carry_out(read_pairs(folder / "job.jsonl"), start, folder)
    except UserError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
