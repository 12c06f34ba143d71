"""Engines that continue the same tokens with the same model: the project's own, transformers' two, a llama.cpp server.

All of them write the likeliest token every time and never end before they have written what was asked for, so that
nothing but their speed differs.
"""

from __future__ import annotations

import json
import random
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol

from housewise.core.errors import UserError
from housewise.language.base import Sampling
from housewise.language.local.libraries import silence_transformers

PLAIN, CONTINUOUS, SERVER = "generate", "continuous", "llama.cpp"

_TIMEOUT = 600.0
_PAGE = 256


class Engine(Protocol):
    """Continues prompts, all at once."""

    def write(self, prompts: Sequence[list[int]], lengths: Sequence[int]) -> int:
        """Write so many tokens behind each prompt, and return how many tokens were written in all."""
        ...

    def close(self) -> None:
        """Release what the engine holds."""
        ...


class Own:
    """What is behind LocalChatModel, without its templates.

    Args:
        network: the model, this engine's alone.
        most: conversations at once.
    """

    def __init__(self, network: Any, most: int) -> None:
        from housewise.language.local.batch_generator import BatchGenerator
        from housewise.language.local.model_runner import ModelRunner

        self._writer = BatchGenerator(ModelRunner(network), frozenset(), lambda tokens: "", most)

    def write(self, prompts: Sequence[list[int]], lengths: Sequence[int]) -> int:
        """See Engine.write."""
        from housewise.language.local.batch_generator import PendingReply

        rows = [
            PendingReply(prompt, Sampling(temperature=0), length, random.Random(0))
            for prompt, length in zip(prompts, lengths, strict=True)
        ]
        self._writer.write(rows)
        return sum(len(row.tokens) for row in rows)

    def close(self) -> None:
        """See Engine.close."""
        self._writer.close()


class Plain:
    """transformers' ``generate``: prompts are padded, and all wait for the longest reply.

    Args:
        network: the model.
    """

    def __init__(self, network: Any) -> None:
        self._network = network

    def write(self, prompts: Sequence[list[int]], lengths: Sequence[int]) -> int:
        """See Engine.write."""
        import torch

        width, most = max(map(len, prompts)), max(lengths)
        ids = torch.tensor([[0] * (width - len(prompt)) + prompt for prompt in prompts])
        seen = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts])
        options = {"do_sample": False, "pad_token_id": 0, "min_new_tokens": most, "max_new_tokens": most}
        with silence_transformers(), torch.inference_mode():
            written = self._network.generate(ids, attention_mask=seen, **options)
        return sum(min(length, written.shape[1] - width) for length in lengths)

    def close(self) -> None:
        """See Engine.close."""


class Continuous:
    """transformers' continuous batching, kept running between calls, with room for the longest conversations.

    Args:
        network: the model, this engine's alone.
        most: conversations at once.
        longest: tokens of a conversation, prompt and reply.
    """

    def __init__(self, network: Any, most: int, longest: int) -> None:
        from transformers import ContinuousBatchingConfig, GenerationConfig

        # By default it takes nine tenths of the memory, and on a CPU every pass goes over what it takes.
        room = ContinuousBatchingConfig(
            num_blocks=most * (-(-longest // _PAGE) + 1), page_size=_PAGE, max_batch_tokens=1024, seed=0
        )
        greedy = GenerationConfig(do_sample=False, eos_token_id=-1, pad_token_id=0)
        with silence_transformers():
            self._manager = network.init_continuous_batching(generation_config=greedy, continuous_batching_config=room)
            self._manager.start()

    def write(self, prompts: Sequence[list[int]], lengths: Sequence[int]) -> int:
        """See Engine.write.

        Raises:
            UserError: when it has stopped, or could not do what was asked for.
        """
        for prompt, length in zip(prompts, lengths, strict=True):
            self._manager.add_request(prompt, max_new_tokens=length)
        written, left = 0, len(prompts)
        while left:
            result = self._manager.get_result(timeout=1)
            if result is None and not self._manager.is_running():
                raise UserError(f"{CONTINUOUS}: transformers' continuous batching has stopped; leave out this peer")
            if result is not None and result.error:
                raise UserError(f"{CONTINUOUS}: {result.error}; leave out this peer")
            if result is not None and result.is_finished():
                written, left = written + len(result.generated_tokens), left - 1
        return written

    def close(self) -> None:
        """See Engine.close."""
        self._manager.stop(block=True, timeout=5)


class LlamaServer:
    """A llama.cpp server (``llama-server``) that serves the same model.

    Args:
        address: of the server, as in ``http://127.0.0.1:8080``.

    Raises:
        UserError: when it does not answer as such a server does.
    """

    def __init__(self, address: str) -> None:
        if not address.startswith(("http://", "https://")):
            raise UserError(f"--peer {SERVER}={address}: is no address; say {SERVER}=http://127.0.0.1:8080")
        self._address = address.rstrip("/").removesuffix("/v1")
        told = self._ask("/props")
        self.facts = {"build": told.get("build_info"), "slots": told.get("total_slots")}

    def write(self, prompts: Sequence[list[int]], lengths: Sequence[int]) -> int:
        """See Engine.write.

        Raises:
            UserError: when the server does not answer.
        """
        with ThreadPoolExecutor(len(prompts)) as asking:
            return sum(asking.map(self._write, prompts, lengths))

    def close(self) -> None:
        """See Engine.close."""

    def _write(self, prompt: list[int], length: int) -> int:
        greedy = {"temperature": 0, "top_k": 1, "samplers": ["top_k"], "ignore_eos": True, "cache_prompt": True}
        told = self._ask("/completion", {"prompt": prompt, "n_predict": length, **greedy})
        return int(told.get("tokens_predicted") or 0)

    def _ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        sent = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._address + path, sent, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:
                told = json.load(answer)
        except (OSError, ValueError) as error:
            raise UserError(
                f"{SERVER} at {self._address}: {path} does not answer ({error}); start llama-server there with the "
                "same model"
            ) from None
        if not isinstance(told, dict):
            raise UserError(f"{SERVER} at {self._address}: {path} answers with no object; name a llama-server")
        return told


def tell_apart(peers: Sequence[str]) -> dict[str, str]:
    """Peers by name, with the address of a server.

    Args:
        peers: as on the command line: ``generate``, ``continuous`` or ``llama.cpp=ADDRESS``.

    Raises:
        UserError: when there is no such peer.
    """
    found = dict(peer.partition("=")[::2] for peer in peers)
    for name, address in found.items():
        if name not in (PLAIN, CONTINUOUS, SERVER) or bool(address) != (name == SERVER):
            raise UserError(f"--peer {name}: say {PLAIN}, {CONTINUOUS} or {SERVER}=http://127.0.0.1:8080")
    return found


@contextmanager
def closing_engines(engines: dict[str, Engine]) -> Iterator[dict[str, Engine]]:
    """Close engines in the end."""
    try:
        yield engines
    finally:
        for engine in engines.values():
            engine.close()
