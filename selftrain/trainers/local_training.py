"""The base of all trainers of this machine: checking, resuming, launching and saving, with PEFT and TRL.

Several GPUs: ``accelerate launch -m housewise.selftrain.trainers.local FOLDER PROCESS``, which the setting
``training.launcher`` starts; it ends when that process ends.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from housewise.core.console import print_note
from housewise.core.errors import UserError
from housewise.core.files import remove_partial, write_json, write_text
from housewise.language.local.adapters import lora_settings, save_base_weights, wrap_with_adapter
from housewise.language.local.architecture import context_length
from housewise.language.local.libraries import (
    convert_save_errors,
    first_line,
    is_out_of_memory,
    release_memory,
    silence_transformers,
)
from housewise.language.local.smollm2 import SMOLLM2
from housewise.language.local.weights import load_model
from housewise.selftrain.examples import Example, write_examples
from housewise.selftrain.trainers.base import Progress, ignore_progress
from housewise.selftrain.trainers.exclusions import learnable_rows
from housewise.selftrain.trainers.launched_progress import run_launcher
from housewise.selftrain.trainers.launcher_environment import (
    choose_own_gpu,
    is_main_process,
    single_process,
    wait_for_all_processes,
)
from housewise.selftrain.trainers.model_card import curve_csv, model_card
from housewise.selftrain.trainers.settings import TrainingConfig
from housewise.selftrain.trainers.tokenization import row_length
from housewise.selftrain.trainers.trainability import check_trainable
from housewise.selftrain.trainers.trained_model import (
    ADAPTER,
    MODEL,
    MODEL_FILE,
    ModelReference,
    TrainedModel,
    check_finished_training,
)
from housewise.selftrain.trainers.training_job import JOB, TrainingJob, name_this_process

INSTALL = "pip install 'housewise[train]'"
_CHECKPOINTS = "checkpoints"
_WRITTEN = "trained.json"
"""Name of ``model.json`` until the checkpoints are removed; all weights are written."""

ExampleT = TypeVar("ExampleT", bound=Example)


class LocalTraining(ABC, Generic[ExampleT]):
    """Trains LoRA adapters, or all weights, of a causal language model.

    A training leaves in its folder ``curve.csv``, ``model.json``, and either ``adapter/`` in PEFT's format or
    ``model/`` with all weights; ``README.md`` in it is the model card.

    Args:
        config: Settings of the training.
        seed: Seed of the order of examples and of new adapters.
        progress: Called after every optimiser step.

    Attributes:
        kind: Class of the examples.
        curve: Columns of ``curve.csv``.
    """

    kind: type[ExampleT]
    curve: ClassVar[Sequence[str]]

    def __init__(self, config: TrainingConfig, seed: int = 0, progress: Progress | None = None) -> None:
        self.config = config
        self.seed = seed
        self._progress = progress or ignore_progress

    @abstractmethod
    def tokenize(self, tokenizer: Any, example: ExampleT, model: str) -> dict[str, list[int]]:
        """Return an example as tokens, in lists by name; all but ``labels`` count as its length.

        Args:
            tokenizer: Tokenizer of the model.
            example: What is learned.
            model: Name of the model, for errors.
        """

    @abstractmethod
    def trainer_class(self) -> Any:
        """Return the class of the trainer that optimises: SharedPromptSFT, or SharedPromptDPO."""

    def train(self, examples: Sequence[ExampleT], start: ModelReference, folder: Path) -> TrainedModel:
        """See Trainer.train."""
        if not examples:
            raise UserError(f"{folder}: there is no {self.kind.noun} to learn from")
        job = TrainingJob.create(self.config, self.seed, start, examples)
        changes, finished = job.changed_parts(folder), TrainedModel.load(folder, start.model)
        if finished is not None:
            check_finished_training(folder, finished, start, changes)
            return finished
        self.check(start)
        remove_partial(folder)
        if changes is None or changes:
            if (folder / _CHECKPOINTS).exists():
                changed = ", ".join(changes or ["settings"])
                print_note(f"{folder}: training begins anew, because it was begun with other {changed}")
            (folder / _WRITTEN).unlink(missing_ok=True)
            shutil.rmtree(folder / _CHECKPOINTS, ignore_errors=True)
        elif (folder / _WRITTEN).exists():
            return _finish(folder)
        write_json(folder / JOB, job.model_dump())
        if self.config.quantization is not None:
            print_note(
                f"{folder}: trained beside weights of 4 bits; runs with the adapter have all bits, unless a server "
                "keeps 4, so that log-probabilities differ a little"
            )
        if self.config.launcher is None:
            with single_process(self.config.key("launcher")):
                return self.train_in_process(examples, start, folder)
        # The processes read examples of this class, which has fewer fields than its subclasses.
        fields = set(self.kind.model_fields)
        write_examples(folder / "job.jsonl", (self.kind(**example.model_dump(include=fields)) for example in examples))
        command = [*shlex.split(self.config.launcher), "-m", type(self).__module__, str(folder), name_this_process()]
        try:
            run_launcher(command, folder, self._progress)
        except (OSError, subprocess.CalledProcessError) as error:
            raise UserError(f"training in {folder} failed ({error}); its output above says why") from error
        trained = TrainedModel.load(folder)
        if trained is None:
            raise UserError(f"training in {folder} ended without a model; check {self.config.key('launcher')}")
        return trained

    def check(self, start: ModelReference) -> None:
        """See Trainer.check."""
        kind, _, name = start.model.partition(":")
        if kind != "local":
            raise UserError(
                f"model {start.model}: only local models are trained here; see {self.config.key('trainer')}"
            )
        for package in ("torch", "transformers", "peft", "trl"):
            if importlib.util.find_spec(package) is None:
                raise UserError(f"{package} is not installed; run {INSTALL}")
        self._check_quantization()
        check_trainable(name or SMOLLM2, start.adapter, self.config)
        self._check_adapter_settings(start)

    def _check_quantization(self) -> None:
        """Check that weights can have 4 bits, if they are to.

        Raises:
            UserError: They cannot.
        """
        key = self.config.key
        if self.config.quantization is None:
            return
        if self.config.method == "full":
            raise UserError(
                f"{key('method')}=full: weights of 4 bits are not trained, only an adapter beside them; leave out "
                f"{key('method')} or {key('quantization')}"
            )
        if importlib.util.find_spec("bitsandbytes") is None:
            raise UserError(
                f"{key('quantization')}=4bit: bitsandbytes is not installed; run pip install 'housewise[quantized]'"
            )

    def _check_adapter_settings(self, start: ModelReference) -> None:
        """Check that the user has set nothing that the adapter to start from determines.

        Raises:
            UserError: The user has.
        """
        for key, value in self._adapter_settings(start).items():
            wanted = getattr(self.config, key)
            wanted = tuple(sorted(wanted)) if isinstance(wanted, tuple) else wanted
            # all-linear depends on the model; the adapter names the layers themselves.
            if key in self.config.set_by_user and wanted not in (value, "all-linear"):
                raise UserError(
                    f"{self.config.key(key)}={wanted}: training goes on from adapter {start.adapter}, whose {key} is "
                    f"{value}; leave {self.config.key(key)} out, or train without an adapter to begin with"
                )

    def _adapter_settings(self, start: ModelReference) -> dict[str, Any]:
        """Return the settings that the adapter to start from determines."""
        if start.adapter is None or self.config.method != "lora":
            return {}
        return lora_settings(start.adapter)

    def train_in_process(self, examples: Sequence[ExampleT], start: ModelReference, folder: Path) -> TrainedModel:
        """Train in this process; see Trainer.train."""
        try:
            with silence_transformers():
                return self._train(examples, start, folder)
        except ModuleNotFoundError as error:
            raise UserError(f"{error.name} is not installed; run {INSTALL}") from error
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            key = self.config.key
            raise UserError(
                f"out of memory while training; continue with {key('micro_batch')}=1 (the batch stays as it is) and "
                f"{key('gradient_checkpointing')}=true, or begin in another folder with fewer "
                f"{key('max_example_tokens')} or a lower {key('rank')}"
            ) from error
        finally:
            release_memory()

    def _train(self, examples: Sequence[ExampleT], start: ModelReference, folder: Path) -> TrainedModel:
        network, tokenizer = self._load_network(start)
        rows = [self.tokenize(tokenizer, example, start.model) for example in examples]
        context, setting = context_length(network.config), self.config.key("max_example_tokens")
        fitting, notes = learnable_rows(
            rows, self.kind.noun, f"model {start.model}", context, setting, self.config.max_example_tokens
        )
        if is_main_process():
            for note in notes:
                print_note(note)
        began = time.perf_counter()
        trainer = self._optimise(network, tokenizer, fitting, start, folder)
        seconds = time.perf_counter() - began
        loss = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
        metrics = {
            "pairs": len(fitting),
            "left_out": len(rows) - len(fitting),
            "tokens": sum(map(row_length, fitting)),
            "steps": trainer.state.global_step,
            "first_loss": loss[0] if loss else 0.0,
            "last_loss": loss[-1] if loss else 0.0,
            "seconds": seconds,
        }
        trained = self._describe_model(start, folder, metrics, notes)
        wait_for_all_processes()
        if trainer.is_world_process_zero():
            network = trainer.accelerator.unwrap_model(trainer.model)
            as_trained = self.config.model_copy(update=self._adapter_settings(start))
            self._save(network, tokenizer, model_card(as_trained, self.seed, start, metrics), folder, start)
            trained.save(folder, _WRITTEN)
            _finish(folder)
        wait_for_all_processes()
        return trained

    def _optimise(
        self, network: Any, tokenizer: Any, rows: list[dict[str, list[int]]], start: ModelReference, folder: Path
    ) -> Any:
        """Train from the last readable checkpoint, or from the beginning.

        Args:
            network: The untrained model.
            tokenizer: Tokenizer of the model.
            rows: See tokenize.
            start: Where the model comes from.
            folder: Folder of the training.

        Returns:
            The trainer with the trained model.

        Raises:
            UserError: A number is not finite, or nothing was learned.
        """
        from housewise.selftrain.trainers.checkpoints import (
            FiniteNumbers,
            describe_resumption,
            state_digests,
            usable_checkpoints,
        )

        checkpoints = usable_checkpoints(folder / _CHECKPOINTS, remove=is_main_process())
        while True:
            trainer = self._build_trainer(network, tokenizer, rows, folder)
            trainer.add_callback(FiniteNumbers(self.config))
            untrained = state_digests(trainer.model, rows[0])
            checkpoint = checkpoints.pop(0) if checkpoints else None
            try:
                trainer.train(resume_from_checkpoint=checkpoint)
                break
            except UserError:
                raise
            except Exception as error:  # a damaged file may raise anything
                if checkpoint is None or trainer.has_begun or is_out_of_memory(error):
                    raise
                reason = f"{checkpoint}: cannot be read ({first_line(error)})"
                if trainer.accelerator.num_processes > 1:
                    # The other processes may have read it.
                    raise UserError(f"{reason}; delete it to go on without it") from error
            print_note(f"{reason}; {describe_resumption(checkpoints)}")
            del trainer, network
            network, _ = self._load_network(start)
        if state_digests(trainer.model, rows[0]) & untrained:
            raise UserError(
                f"{folder}: {trainer.state.max_steps} steps of training have changed nothing, so that there is no "
                f"trained model; raise {self.config.key('learning_rate')}={self.config.learning_rate:g}, or teach "
                "something else"
            )
        return trainer

    def _build_trainer(self, network: Any, tokenizer: Any, rows: Sequence[dict[str, list[int]]], folder: Path) -> Any:
        from housewise.selftrain.trainers.packing import row_lengths
        from housewise.selftrain.trainers.trl_common import training_arguments

        kind, packed = self.trainer_class(), self.config.max_packed_examples
        lengths = row_lengths(rows, kind.compared, packed)
        settings = training_arguments(
            self.config, folder / _CHECKPOINTS, self.seed, kind.settings_class, network, lengths
        )
        return kind(network, settings, rows, tokenizer, self._make_reporter(folder), packed)

    def _load_network(self, start: ModelReference) -> tuple[Any, Any]:
        """Return the model, with its trained weights requiring gradients, and its tokenizer."""
        from housewise.selftrain.trainers.lora import add_adapter

        key, processes = self.config.key, int(os.environ.get("WORLD_SIZE", "1"))
        if self.config.device_map is not None and processes > 1:
            raise UserError(
                f"{key('device_map')}={self.config.device_map}: one process spreads the model over all GPUs, and "
                f"{key('launcher')} has started {processes}; leave one of the two settings out"
            )
        choose_own_gpu(self.config.device)
        model = start.model.partition(":")[2] or SMOLLM2
        full = self.config.method == "full"
        if full:
            # Small steps are lost in half precision, so all weights are kept in float32.
            network, tokenizer = load_model(
                model, start.adapter, self.config.device, "float32", device_map=self.config.device_map
            )
            return network.requires_grad_(True).train(), tokenizer
        network, tokenizer = load_model(
            model, None, self.config.device, self.config.dtype, self.config.quantization, self.config.device_map
        )
        if start.adapter is not None:
            return wrap_with_adapter(network, model, start.adapter, trainable=True).train(), tokenizer
        return add_adapter(network, self.config, self.seed).train(), tokenizer

    def _describe_model(
        self, start: ModelReference, folder: Path, metrics: dict[str, float], notes: tuple[str, ...]
    ) -> TrainedModel:
        if self.config.method == "full":
            return TrainedModel(model=f"local:{folder / MODEL}", metrics=metrics, notes=notes)
        return TrainedModel(model=start.model, adapter=str(folder / ADAPTER), metrics=metrics, notes=notes)

    def _save(self, network: Any, tokenizer: Any, card: str, folder: Path, start: ModelReference) -> None:
        """Write the weights and their card to a folder that gets its name when it is complete."""
        from housewise.selftrain.trainers.checkpoints import save_weights

        weights = folder / (MODEL if self.config.method == "full" else ADAPTER)
        partial = folder / f".{weights.name}.partial"
        with convert_save_errors(partial, weights):
            if self.config.method == "full":
                tokenizer.save_pretrained(partial)
            save_weights(network, str(partial))
            if self.config.method == "lora":
                save_base_weights(partial, start.model.partition(":")[2] or SMOLLM2)
            write_text(partial / "README.md", card)
        shutil.rmtree(weights, ignore_errors=True)
        partial.rename(weights)

    def _make_reporter(self, folder: Path) -> Any:
        def report(step: int, total: int, history: list[dict[str, Any]]) -> None:
            write_text(folder / "curve.csv", curve_csv(history, self.curve))
            loss = next((entry["loss"] for entry in reversed(history) if "loss" in entry), None)
            self._progress(step, total, "" if loss is None else f"loss {loss:.3f}")

        return report


def _finish(folder: Path) -> TrainedModel:
    """Remove the checkpoints of a training whose weights are written, and mark it as finished."""
    shutil.rmtree(folder / _CHECKPOINTS, ignore_errors=True)
    (folder / _WRITTEN).replace(folder / MODEL_FILE)
    trained = TrainedModel.load(folder)
    assert trained is not None
    return trained
