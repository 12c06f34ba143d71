"""Rollout engines: they make the model of a phase ready to answer, and runs are played with it.

``VllmEngine`` loads the adapter of a phase into its servers and checks there that it is applied.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from housewise.core.console import print_note
from housewise.core.errors import UserError
from housewise.core.files import write_json
from housewise.core.text_files import read_json
from housewise.core.user_folders import expand_user
from housewise.language.adapters import adapter_folder
from housewise.language.base import ChatModelError, Message
from housewise.language.local.digests import weights_digest
from housewise.language.local.smollm2 import SMOLLM2, smollm2_folder
from housewise.language.local.tokens import has_chat_template, prompt_tokens, takes_system_role
from housewise.language.local.weights import load_outline
from housewise.language.messages import fold_system
from housewise.language.server.lora_server import LoraServer
from housewise.language.settings import ModelSettings
from housewise.rollout.run import Run
from housewise.selftrain.examples import Demonstration
from housewise.selftrain.rollouts.compared_pairs import choose_pairs
from housewise.selftrain.rollouts.served_adapter_check import compare_logprobs
from housewise.selftrain.rollouts.server_checks import check_servable, check_servers
from housewise.selftrain.rollouts.settings import RolloutsConfig
from housewise.selftrain.rollouts.vllm_process import VllmProcess, end_orphan, served_rank
from housewise.selftrain.trainers import ModelReference
from housewise.selftrain.trainers.logprobs import LogprobRequest, ScoredPair, read_scores, score_pairs
from housewise.selftrain.trainers.settings import TrainingConfig

T = TypeVar("T")

CHECK_FILE, LOGPROBS_FILE = "server_check.json", "logprobs.json"

# vLLM takes what a request leaves out from the model's generation_config.json.
NEUTRAL_SAMPLING = {
    "top_k": -1,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
QUANTIZED = (
    "the weights that are trained have 4 bits and those of the server more, so serve 4 bits as well "
    "(rollouts.options=[--quantization, bitsandbytes]), or raise rollouts.max_difference"
)
"""Remedy where a base model differs from the one that is trained in 4 bits."""
_DIGEST_LENGTH = 12
_BASE = "base"
_MAX_RESTARTS = 2


class RolloutEngine:
    """Where the model of a phase answers: in this program, unless a subclass says otherwise.

    Args:
        config: Settings of rollouts.
    """

    def __init__(self, config: RolloutsConfig) -> None:
        self._config = config

    def check(self, start: ModelReference) -> None:
        """Check everything that can be checked before an episode is played.

        Raises:
            UserError: The model cannot be served.
        """
        if unused := self._config.unused_keys:
            engine = self._config.key("engine")
            print_note(f"{', '.join(unused)}: without effect with {engine}={self._config.engine}; set {engine}=vllm")

    def training_config(self, config: TrainingConfig) -> TrainingConfig:
        """Return the settings of a training beside this engine."""
        return config

    def model_settings(self, phase: str, model: ModelReference) -> dict[str, Any]:
        """Return the settings of a run that asks the model of a phase."""
        return {"model": model.model, "adapter": model.adapter}

    def serve(self, phase: str, model: ModelReference, examples: Path) -> dict[str, Any]:
        """Make the model of a phase ready to answer.

        Args:
            phase: Name of the phase.
            model: The model.
            examples: File with the examples that the model has learned.

        Returns:
            Settings of a run that say where the model is; results do not depend on them.

        Raises:
            UserError: It cannot be served, or the server does not answer as the trained model does.
        """
        return {}

    def recover(self) -> bool:
        """Return whether a server has ended or lost the model, so that serving it again helps."""
        return False

    def pause(self) -> None:
        """Free the memory that a training needs."""

    def stop(self) -> None:
        """End what this engine has started."""


class VllmEngine(RolloutEngine):
    """The adapter of a phase is loaded into vLLM servers, each time under a new name.

    Args:
        config: Settings of rollouts.
        folder: Folder of the self-training.
        model: Settings of the model that is trained.
        training: Settings of its trainings.
        prefix: Beginning of the replies of prompts.
        ray: Address of the Ray cluster that plays the episodes, or None for this machine.

    Raises:
        UserError: The model is not trained on this machine, or it is not there.
    """

    def __init__(
        self,
        config: RolloutsConfig,
        folder: Path,
        model: ModelSettings,
        training: TrainingConfig,
        prefix: str,
        ray: str | None = None,
    ) -> None:
        super().__init__(config)
        self._folder, self._model, self._training = folder, model, training
        self._prefix, self._ray = prefix, ray
        if model.model.partition(":")[0] != "local" or training.trainer != "local":
            raise UserError(
                f"rollouts.engine=vllm: model {model.model} is not trained here; name a local model (--model "
                f"local:FOLDER_OR_HUB_NAME) and {training.key('trainer')}=local"
            )
        name = model.model.partition(":")[2] or SMOLLM2
        self._name = name
        source, rank = _source(name), served_rank(self._rank, training.key("rank"))
        self._own = None if config.servers else VllmProcess(folder, config, source, _BASE, rank, model.dtype)
        self._ready: tuple[str, dict[str, Any]] | None = None
        self._loaded: str | None = None

    @property
    def _rank(self) -> int:
        ranks = [self._training.rank]
        if self._model.adapter is not None:
            ranks.append(int(read_json(adapter_folder(self._model.adapter) / "adapter_config.json").get("r", 8)))
        return max(ranks)

    def check(self, start: ModelReference) -> None:
        """See RolloutEngine.check."""
        training = self._training
        if training.method != "lora":
            raise UserError(
                f"{training.key('method')}={training.method}: servers load adapters only; set {training.key('method')}"
                "=lora, or rollouts.engine=local"
            )
        if self._own is not None and self._ray is not None:
            raise UserError(
                "rollouts.engine=vllm: the server that is started answers this machine alone, not the others of Ray "
                f"cluster {self._ray}; start servers that all its machines reach, and name them in rollouts.servers"
            )
        if not has_chat_template(self._tokenizer):
            raise ChatModelError(
                f"model {self._name}: its tokenizer has no chat template, without which servers refuse conversations; "
                "train a model for chat, or set chat_template in its tokenizer_config.json"
            )
        if start.adapter is not None:
            check_servable(adapter_folder(start.adapter))
        if self._own is not None:
            self._own.check()
        check_servers(self._config.servers)
        self._note_short_servers()

    def training_config(self, config: TrainingConfig) -> TrainingConfig:
        """Return settings with which training has a process of its own, whose memory is free afterwards."""
        launcher = config.launcher or shlex.quote(sys.executable)
        return config.model_copy(update={"launcher": launcher})

    def model_settings(self, phase: str, model: ModelReference) -> dict[str, Any]:
        """See RolloutEngine.model_settings. The digest is a setting that results depend on; the name is not."""
        digest = self._digest(model)
        return {
            **super().model_settings(phase, model),
            "weights": digest,
            "served_as": _BASE if model.adapter is None else f"{phase}-{digest[:_DIGEST_LENGTH]}",
            "continue_prefix": True,
            "fold_system": not takes_system_role(self._tokenizer),
            "extra_body": {**NEUTRAL_SAMPLING, **self._model.extra_body},
        }

    def serve(self, phase: str, model: ModelReference, examples: Path) -> dict[str, Any]:
        """See RolloutEngine.serve."""
        name = self.model_settings(phase, model)["served_as"]
        if self._ready is not None and self._ready[0] == name and not self.recover():
            return self._ready[1]
        if self._own is not None:
            end_orphan(self._folder)
        expected = self._expected(phase, model, examples)
        urls = self._config.servers if self._own is None else (self._own.start(),)
        checks = {}
        for url in urls:
            with closing(LoraServer(url)) as server:
                checks[server.address] = self._load_and_check(server, name, model, expected)
        write_json(self._folder / phase / CHECK_FILE, {"name": name, "weights": expected.weights, "servers": checks})
        served_as = name if model.adapter is not None else self._base_name(urls[0])
        self._ready = (name, {"servers": urls, "served_as": served_as})
        self._loaded = name
        return self._ready[1]

    def recover(self) -> bool:
        """See RolloutEngine.recover. A server that has been restarted has none of its adapters."""
        if self._own is not None:
            return self._own.has_died
        if self._ready is None:
            return False
        is_lost = not all(_lists(url, self._ready[1]["served_as"]) for url in self._config.servers)
        self._ready = None if is_lost else self._ready
        return is_lost

    def pause(self) -> None:
        """See RolloutEngine.pause: the server that this engine has started is stopped, or sleeps."""
        self._ready = None
        if self._own is not None:
            self._own.rest()
            self._loaded = self._loaded if self._own.is_running else None

    def stop(self) -> None:
        """Stop the server that this engine has started."""
        self._ready = None
        if self._own is not None:
            self._own.stop()
            self._loaded = None

    def _load_and_check(
        self, server: LoraServer, name: str, model: ModelReference, expected: LogprobRequest
    ) -> dict[str, Any]:
        base = server.base_model().id
        if model.adapter is not None:
            if self._loaded not in (None, name, _BASE):
                server.unload(str(self._loaded))
            check_servable(adapter_folder(model.adapter))
            server.load(name, adapter_folder(model.adapter).resolve())

        def score(served: str) -> list[list[tuple[int, float]]]:
            return [
                server.score(served, self._sent(pair.pair), pair.pair.prefix + pair.pair.reply, expected.template)
                for pair in expected.pairs
            ]

        adapted = None if model.adapter is None else score(name)
        where = f"model {base if adapted is None else name} at {server.address}"
        remedy = None if expected.quantization is None else QUANTIZED
        return asdict(
            compare_logprobs(where, expected.pairs, score(base), adapted, self._config.max_difference, remedy)
        )

    def _sent(self, pair: Demonstration) -> Sequence[Message]:
        """Return the messages of a pair as rollouts send them, which is as the training reads them."""
        return pair.messages if takes_system_role(self._tokenizer) else fold_system(pair.messages)

    @cached_property
    def _tokenizer(self) -> Any:
        return load_outline(self._name, None)[1]

    def _served_lengths(self) -> dict[str, int]:
        """Return the largest number of tokens of a prompt with its reply at each server, as far as they are known."""
        lengths: dict[str, int | None] = {}
        if self._own is not None:
            lengths["rollouts.max_model_len"] = self._config.max_model_len
        for url in self._config.servers:
            with closing(LoraServer(url)) as server:
                lengths[server.address] = server.base_model().max_model_len
        return {where: length for where, length in lengths.items() if length is not None}

    def _note_short_servers(self) -> None:
        key, longest = self._training.key("max_example_tokens"), self._training.max_example_tokens
        for where, length in self._served_lengths().items():
            if length < longest:
                print_note(
                    f"{where}: the server takes {length} tokens, fewer than {key}={longest}; longer prompts fail in "
                    "rollouts, so raise its --max-model-len if there are any"
                )

    def _base_name(self, url: str) -> str:
        with closing(LoraServer(url)) as server:
            return server.base_model().id

    def _expected(self, phase: str, model: ModelReference, examples: Path) -> LogprobRequest:
        """Return what the trainer computes; while it does, a server of this engine is stopped or sleeps."""
        request = LogprobRequest(
            start=ModelReference(model=model.model, adapter=model.adapter),
            weights=self._digest(model),
            device=self._training.device,
            dtype=self._training.dtype,
            quantization=self._training.quantization,
            device_map=self._training.device_map,
            template=self._model.chat_template_kwargs,
            pairs=tuple(ScoredPair(pair=pair, tokens=self._tokens(pair)) for pair in self._pairs(examples)),
        )
        path = self._folder / phase / LOGPROBS_FILE
        if read_scores(path, request) is None:
            self.pause()
        return score_pairs(path, request)

    def _pairs(self, examples: Path) -> list[Demonstration]:
        """Return prompts with replies to compare, of those that were learned where there are any."""
        longest = self._training.max_example_tokens
        for length in self._served_lengths().values():
            # A server adds a token to what it scores.
            longest = min(longest, length - 1)

        return choose_pairs(
            examples, self._config.checked_pairs, self._prefix, lambda pair: len(self._tokens(pair)) <= longest
        )

    def _tokens(self, pair: Demonstration) -> tuple[int, ...]:
        turn, template = pair.prefix + pair.reply, self._model.chat_template_kwargs
        return tuple(prompt_tokens(self._tokenizer, pair.messages, turn, self._name, template))

    def _digest(self, model: ModelReference) -> str:
        source = str(adapter_folder(model.adapter)) if model.adapter else model.model.partition(":")[2] or SMOLLM2
        return weights_digest(source) or Path(source).name


def open_engine(
    config: RolloutsConfig,
    folder: Path,
    model: ModelSettings,
    training: TrainingConfig,
    prefix: str,
    ray: str | None = None,
) -> RolloutEngine:
    """Return the engine that settings name; see VllmEngine."""
    if config.engine == "local":
        return RolloutEngine(config)
    return VllmEngine(config, folder, model, training, prefix, ray)


def play_with_model(
    engine: RolloutEngine,
    phase: str,
    model: ModelReference,
    examples: Path,
    open_run: Callable[[Mapping[str, Any]], Run],
    play: Callable[[Run], T],
) -> T:
    """Play a run with the model of a phase. The engine makes the model ready only if episodes are left.

    A server that ends or loses the model during the run gets it again. The caller stops the engine.

    Args:
        engine: Where the model answers.
        phase: Phase that the model was trained in.
        model: The model.
        examples: File with the examples that the model has learned.
        open_run: Opens the run with further settings.
        play: Plays it.

    Raises:
        UserError: See RolloutEngine.serve and Run.play.
    """
    for restarts in range(_MAX_RESTARTS + 1):
        run = open_run({})
        if run.open_jobs:
            run = open_run(engine.serve(phase, model, examples))
        try:
            return play(run)
        except UserError as error:
            if restarts == _MAX_RESTARTS or not engine.recover():
                raise
            print_note(f"a server ended or lost the model ({error}); it is served again")
    raise AssertionError("the last attempt returns or raises")


def _lists(url: str, name: str) -> bool:
    with closing(LoraServer(url)) as server:
        return server.lists(name)


def _source(name: str) -> str:
    """Return the folder or the Hugging Face name with which vLLM finds a model."""
    folder = smollm2_folder() if name == SMOLLM2 else expand_user(name)
    return str(folder.resolve()) if folder.is_dir() else name
