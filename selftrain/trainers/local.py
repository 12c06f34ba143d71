"""Trains a language model on this machine with PEFT and TRL.

Several GPUs: ``accelerate launch -m housewise.selftrain.trainers.local FOLDER PROCESS``, which the setting
``training.launcher`` does; it ends with that process.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import importlib.util
import io
import json
import math
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from housewise.core.errors import UserError
from housewise.core.files import write_json, write_text
from housewise.core.reading import read_text
from housewise.language.local.encoding import token_spans
from housewise.language.local.tokens import prompt_tokens, reply_tokens
from housewise.language.local.weights import SMOLLM2, check_weights, load, out_of_memory, quiet, with_adapter
from housewise.selftrain.personalize.pairs import Pair, read_pairs, write_pairs
from housewise.selftrain.personalize.settings import PreferenceConfig, TrainingConfig
from housewise.selftrain.trainers.base import ADAPTER, MODEL, Progress, Start, TrainedModel

INSTALL = "pip install 'housewise[train]'"
_JOB, _CHECKPOINTS = "job.json", "checkpoints"
_GLANCE = 1.0
CURVE = ("step", "epoch", "loss", "mean_token_accuracy", "learning_rate", "grad_norm")
_OUT_OF_MEMORY = (
    "out of memory while training; go on with training.pairs_per_pass=1 (the batch stays as it is) and "
    "training.gradient_checkpointing=true, or begin in another folder with fewer training.most_tokens or a lower "
    "training.rank"
)


E = TypeVar("E", bound=BaseModel)


class _Job(BaseModel):
    """A training as a file: what its checkpoints belong to, and what processes carry out together.

    Attributes:
        pairs: digest of what is learned.
    """

    model_config = ConfigDict(extra="forbid")

    config: PreferenceConfig | TrainingConfig
    seed: int
    start: Start
    pairs: str

    def same(self, folder: Path) -> bool:
        """Whether the training that was begun in a folder is this one."""
        try:
            earlier = _Job.model_validate_json(read_text(folder / _JOB))
        except (UserError, ValidationError):
            return False
        alike = (earlier.seed, earlier.start, earlier.pairs) == (self.seed, self.start, self.pairs)
        return alike and earlier.config.identity == self.config.identity


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
    """

    curve: ClassVar[Sequence[str]] = CURVE

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
        finished = TrainedModel.load(folder)
        if finished is not None:
            return finished
        self.check(start)
        job = _Job(config=self.config, seed=self.seed, start=start, pairs=_digest(examples))
        if not job.same(folder):
            shutil.rmtree(folder / _CHECKPOINTS, ignore_errors=True)
        write_json(folder / _JOB, job.model_dump())
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
        fitting = [row for row in rows if _length(row) <= self.config.most_tokens]
        if not fitting:
            raise UserError(f"every pair is longer than training.most_tokens={self.config.most_tokens}; raise it")
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
            "tokens": sum(map(_length, fitting)),
            "steps": trainer.state.global_step,
            "first_loss": loss[0] if loss else 0.0,
            "last_loss": loss[-1] if loss else 0.0,
            "seconds": seconds,
        }
        trained = self._named(start, folder, metrics)
        trainer.accelerator.wait_for_everyone()
        if trainer.is_world_process_zero():
            weights = self._save(network, tokenizer, folder)
            write_text(weights / "README.md", _card(self.config, self.seed, start, metrics))
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

    def _named(self, start: Start, folder: Path, metrics: dict[str, float]) -> TrainedModel:
        if self.config.method == "full":
            return TrainedModel(model=f"local:{folder / MODEL}", metrics=metrics)
        return TrainedModel(model=start.model, adapter=str(folder / ADAPTER), metrics=metrics)

    def _save(self, network: Any, tokenizer: Any, folder: Path) -> Path:
        """Write the weights; returns their folder."""
        from housewise.selftrain.trainers.recipe import save

        if self.config.method == "full":
            tokenizer.save_pretrained(folder / MODEL)
        weights = folder / (MODEL if self.config.method == "full" else ADAPTER)
        save(network, str(weights))
        return weights

    def _reporter(self, folder: Path) -> Any:
        def report(step: int, total: int, history: list[dict[str, Any]]) -> None:
            write_text(folder / "curve.csv", _curve(history, self.curve))
            loss = next((entry["loss"] for entry in reversed(history) if "loss" in entry), None)
            self._progress(step, total, "" if loss is None else f"loss {loss:.3f}")

        return report


class LocalTrainer(LocalTraining[Pair]):
    """Learns replies; see Trainer and LocalTraining."""

    def rows(self, tokenizer: Any, examples: Sequence[Pair], name: str) -> list[dict[str, list[int]]]:
        """See LocalTraining.rows."""
        return [_example(tokenizer, pair, name) for pair in examples]

    def trainer(self, network: Any, tokenizer: Any, rows: list[dict[str, list[int]]], folder: Path, report: Any) -> Any:
        """See LocalTraining.trainer."""
        from housewise.selftrain.trainers.recipe import PairTrainer, arguments, plain_attention

        settings = arguments(self.config, folder, self.seed)
        return PairTrainer(network, settings, rows, tokenizer, plain_attention(network), report, self.config.together)

    def write(self, examples: Sequence[Pair], path: Path) -> None:
        """See LocalTraining.write."""
        write_pairs(path, examples)


def _length(row: dict[str, list[int]]) -> int:
    return sum(len(tokens) for name, tokens in row.items() if name != "labels")


def _digest(examples: Sequence[BaseModel]) -> str:
    return hashlib.sha256("\n".join(example.model_dump_json() for example in examples).encode()).hexdigest()


def _end_with(process: int) -> None:
    """End this process when the one that launched it is gone: a killed one cannot say so, and will train again."""
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        launched_by = psutil.Process(process)
        while launched_by.is_running() and launched_by.status() != psutil.STATUS_ZOMBIE:
            time.sleep(_GLANCE)
    os._exit(1)


def _example(tokenizer: Any, pair: Pair, name: str) -> dict[str, list[int]]:
    """A pair as tokens: the prompt as the model will be given it, the reply as it will write it."""
    prompt = prompt_tokens(tokenizer, pair.messages, pair.prefix, name)
    reply = reply_tokens(tokenizer, pair.reply)
    before = _earlier(tokenizer, pair, prompt, name) if pair.turns else [-100] * len(prompt)
    return {"input_ids": prompt + reply, "labels": before + _learned(tokenizer, pair, reply)}


def _earlier(tokenizer: Any, pair: Pair, prompt: list[int], name: str) -> list[int]:
    """Labels of a prompt in which every turn of the assistant is learned as a reply to what stands before it.

    Raises:
        UserError: when the model reads earlier turns otherwise than it writes them.
    """
    labels = [-100] * len(prompt)
    for index, message in enumerate(pair.messages):
        if message.role == "assistant":
            before = prompt_tokens(tokenizer, pair.messages[:index], pair.prefix, name)
            said = reply_tokens(tokenizer, message.content.removeprefix(pair.prefix))
            end = len(before) + len(said)
            if prompt[:end] != before + said:
                raise UserError(
                    f"model {name}: its chat template changes what was said in earlier turns, so that a whole "
                    "conversation cannot be learned at once; choose a model with another template"
                )
            labels[len(before) : end] = said
    return labels


def _learned(tokenizer: Any, pair: Pair, reply: list[int]) -> list[int]:
    """A reply's tokens, with -100 for those that are given."""
    if not pair.given:
        return reply
    spans = token_spans(tokenizer, pair.reply)
    given = [any(start <= first and last <= end for start, end in pair.given) for first, last in spans]
    return [-100 if known else token for token, known in zip(reply, [*given, False], strict=True)]


def _curve(history: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    """The training's log as CSV, a line for each optimiser step."""
    text = io.StringIO()
    table = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(entry for entry in history if "loss" in entry)
    return text.getvalue()


def _card(config: TrainingConfig, seed: int, start: Start, metrics: dict[str, float]) -> str:
    what = "A LoRA adapter" if config.method == "lora" else "A language model"
    front = {"library_name": "peft"} if config.method == "lora" else {}
    lines = [f"{key}: {value}" for key, value in {**front, "tags": "[housewise, household-robot]"}.items()]
    return "\n".join(
        [
            "---",
            *lines,
            "---",
            f"# {what} that plans for a household robot",
            "",
            f"Trained by Housewise on {metrics['pairs']:.0f} (prompt, reply) pairs, from `{start.model}`"
            + (f" with the adapter `{start.adapter}`." if start.adapter else "."),
            "The pairs are in `pairs.jsonl` of the phase's folder; `curve.csv` is the training curve.",
            "",
            "| figure | value |",
            "|---|---|",
            *(f"| {name} | {value:.4g} |" for name, value in metrics.items()),
            f"| seed | {seed} |",
            "",
            "```json",
            json.dumps(config.model_dump(), indent=1),
            "```",
            "",
        ]
    )


def launched(folder: Path, parent: int) -> tuple[PreferenceConfig | TrainingConfig, int, Start]:
    """The training that a folder's ``job.json`` describes, for a process of a launcher, which ends with its parent.

    Args:
        folder: of the training.
        parent: the process that called the launcher.
    """
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    job = _Job.model_validate_json(read_text(folder / _JOB))
    return job.config, job.seed, job.start


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
