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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from housewise.core.errors import UserError
from housewise.core.files import write_json, write_text
from housewise.language.local.tokens import prompt_tokens, reply_tokens
from housewise.language.local.weights import SMOLLM2, check_weights, load, out_of_memory, quiet, with_adapter
from housewise.selftrain.personalize.pairs import Pair, read_pairs, write_pairs
from housewise.selftrain.personalize.settings import TrainingConfig
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


class _Job(BaseModel):
    """A training as a file: what its checkpoints belong to, and what processes carry out together.

    Attributes:
        pairs: digest of what is learned.
    """

    model_config = ConfigDict(extra="forbid")

    config: TrainingConfig
    seed: int
    start: Start
    pairs: str

    def same(self, folder: Path) -> bool:
        """Whether the training that was begun in a folder is this one."""
        try:
            earlier = _Job.model_validate_json((folder / _JOB).read_text(encoding="utf-8"))
        except (OSError, ValidationError):
            return False
        alike = (earlier.seed, earlier.start, earlier.pairs) == (self.seed, self.start, self.pairs)
        return alike and earlier.config.identity == self.config.identity


class LocalTrainer:
    """Trains LoRA adapters, or all weights, of a causal language model; see Trainer.

    Every training leaves in its folder: ``curve.csv``, ``model.json``, and either ``adapter/`` in PEFT's format or
    ``model/`` with all weights, in which ``README.md`` is the model card.

    Args:
        config: how.
        seed: of the order of pairs and of fresh adapters.
        progress: told of every optimiser step.
    """

    def __init__(self, config: TrainingConfig, seed: int = 0, progress: Progress | None = None) -> None:
        self.config = config
        self.seed = seed
        self._progress = progress or (lambda done, total, words: None)

    def train(self, pairs: Sequence[Pair], start: Start, folder: Path) -> TrainedModel:
        """See Trainer.train."""
        finished = TrainedModel.load(folder)
        if finished is not None:
            return finished
        self.check(start)
        job = _Job(config=self.config, seed=self.seed, start=start, pairs=_digest(pairs))
        if not job.same(folder):
            shutil.rmtree(folder / _CHECKPOINTS, ignore_errors=True)
        write_json(folder / _JOB, job.model_dump())
        if self.config.launcher is None:
            return self.carry_out(pairs, start, folder)
        write_pairs(folder / "job.jsonl", pairs)
        command = [
            *shlex.split(self.config.launcher),
            "-m",
            "housewise.selftrain.trainers.local",
            str(folder),
            str(os.getpid()),
        ]
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

    def carry_out(self, pairs: Sequence[Pair], start: Start, folder: Path) -> TrainedModel:
        """Train in this process; see Trainer.train."""
        try:
            with quiet():
                return self._train(pairs, start, folder)
        except ModuleNotFoundError as error:
            raise UserError(f"{error.name} is not installed; run {INSTALL}") from error
        except (MemoryError, RuntimeError) as error:
            if not out_of_memory(error):
                raise
            raise UserError(_OUT_OF_MEMORY) from error

    def _train(self, pairs: Sequence[Pair], start: Start, folder: Path) -> TrainedModel:
        from housewise.selftrain.trainers.recipe import (
            PairTrainer,
            arguments,
            last_checkpoint,
            plain_attention,
            quick_attention,
        )

        checkpoints = folder / _CHECKPOINTS
        settings = arguments(self.config, checkpoints, self.seed)
        network, tokenizer = self._network(start)
        quick_attention(network)
        examples = [_example(tokenizer, pair, start.model) for pair in pairs]
        fitting = [example for example in examples if len(example["input_ids"]) <= self.config.most_tokens]
        if not fitting:
            raise UserError(f"every pair is longer than training.most_tokens={self.config.most_tokens}; raise it")
        trainer = PairTrainer(
            network, settings, fitting, tokenizer, shared=plain_attention(network), report=self._reporter(folder)
        )
        began = time.perf_counter()
        trainer.train(resume_from_checkpoint=last_checkpoint(checkpoints))
        seconds = time.perf_counter() - began
        history = trainer.state.log_history
        loss = [entry["loss"] for entry in history if "loss" in entry]
        if not all(map(math.isfinite, loss)):
            raise UserError("the loss is not a number any more; lower training.learning_rate")
        metrics = {
            "pairs": len(fitting),
            "left_out": len(examples) - len(fitting),
            "tokens": sum(len(example["input_ids"]) for example in fitting),
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
        if self.config.method == "full":
            network.save_pretrained(folder / MODEL)
            tokenizer.save_pretrained(folder / MODEL)
            return folder / MODEL
        # Embeddings are not trained, and telling whether they were would need the Hub.
        network.save_pretrained(folder / ADAPTER, save_embedding_layers=False)
        return folder / ADAPTER

    def _reporter(self, folder: Path) -> Any:
        def report(step: int, total: int, history: list[dict[str, Any]]) -> None:
            write_text(folder / "curve.csv", _curve(history))
            loss = next((entry["loss"] for entry in reversed(history) if "loss" in entry), None)
            self._progress(step, total, "" if loss is None else f"loss {loss:.3f}")

        return report


def _digest(pairs: Sequence[Pair]) -> str:
    return hashlib.sha256("\n".join(pair.model_dump_json() for pair in pairs).encode()).hexdigest()


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
    return {"input_ids": prompt + reply, "labels": [-100] * len(prompt) + _learned(tokenizer, pair, reply)}


def _learned(tokenizer: Any, pair: Pair, reply: list[int]) -> list[int]:
    """A reply's tokens, with -100 for those that are given."""
    if not pair.given:
        return reply
    spans = tokenizer(pair.reply, add_special_tokens=False, return_offsets_mapping=True).offset_mapping
    given = [any(start <= first and last <= end for start, end in pair.given) for first, last in spans]
    return [-100 if known else token for token, known in zip(reply, [*given, False], strict=True)]


def _curve(history: Sequence[dict[str, Any]]) -> str:
    """The training's log as CSV, a line for each optimiser step."""
    text = io.StringIO()
    table = csv.DictWriter(text, CURVE, extrasaction="ignore", lineterminator="\n")
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


def main() -> None:
    """Carry out the training that a folder's ``job.json`` describes; every process of a launcher calls this."""
    folder, parent = Path(sys.argv[1]), int(sys.argv[2])
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    job = _Job.model_validate_json((folder / _JOB).read_text(encoding="utf-8"))
    try:
        LocalTrainer(job.config, job.seed).carry_out(read_pairs(folder / "job.jsonl"), job.start, folder)
    except UserError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
