"""Engines that continue the same tokens with the same model: the project's own, transformers' two, a llama.cpp server.

All of them write the likeliest token every time and never end before they have written as much as asked, so that
nothing but their speed differs.
"""

from __future__ import annotations

import json
import random
import urllib.request
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, Protocol

from housewise.core.console import print_note
from housewise.core.errors import UserError
from housewise.language.base import Sampling
from housewise.language.local.libraries import silence_transformers

GENERATE, CONTINUOUS, LLAMA_CPP = "generate", "continuous_batching", "llama_cpp"

_TIMEOUT = 600.0
_PAGE = 256


class TokenPrompt(NamedTuple):
    """A prompt that is continued.

    Attributes:
        tokens: Its tokens.
        reply: Number of tokens to write.
    """

    tokens: list[int]
    reply: int


class Engine(Protocol):
    """Continues prompts."""

    def write(self, prompts: Sequence[TokenPrompt]) -> int:
        """Continue some prompts at once, and return how many tokens were written in all."""
        ...

    def close(self) -> None:
        """Release what the engine holds."""
        ...


class OwnEngine:
    """The engine of ``LocalChatModel``.

    Args:
        network: The model, which no other engine uses.
        conversations: Greatest number of conversations at once.
    """

    def __init__(self, network: Any, conversations: int) -> None:
        from housewise.language.local.batch_generator import BatchGenerator
        from housewise.language.local.model_runner import ModelRunner

        self._generator = BatchGenerator(ModelRunner(network), frozenset(), lambda tokens: "", conversations)

    def write(self, prompts: Sequence[TokenPrompt]) -> int:
        """See Engine.write."""
        from housewise.language.local.batch_generator import PendingReply

        greedy = Sampling(temperature=0)
        rows = [PendingReply(prompt.tokens, greedy, prompt.reply, random.Random(0)) for prompt in prompts]
        self._generator.write(rows)
        return sum(len(row.tokens) for row in rows)

    def close(self) -> None:
        """See Engine.close."""
        self._generator.close()


class Generate:
    """transformers' ``generate``: prompts are padded, and all wait for the longest reply.

    Args:
        network: The model.
    """

    def __init__(self, network: Any) -> None:
        self._network = network

    def write(self, prompts: Sequence[TokenPrompt]) -> int:
        """See Engine.write."""
        import torch

        width, longest = max(len(each.tokens) for each in prompts), max(each.reply for each in prompts)
        padding = [width - len(each.tokens) for each in prompts]
        ids = torch.tensor([[0] * pad + each.tokens for pad, each in zip(padding, prompts, strict=True)])
        mask = torch.tensor([[0] * pad + [1] * (width - pad) for pad in padding])
        options = {"do_sample": False, "pad_token_id": 0, "min_new_tokens": longest, "max_new_tokens": longest}
        with silence_transformers(), torch.inference_mode():
            written = self._network.generate(ids, attention_mask=mask, **options)
        return sum(min(each.reply, written.shape[1] - width) for each in prompts)

    def close(self) -> None:
        """See Engine.close."""


class ContinuousBatching:
    """transformers' continuous batching, which keeps running between calls.

    Args:
        network: The model, which no other engine uses.
        conversations: Greatest number of conversations at once.
        longest: Greatest number of tokens of a conversation, prompt and reply.
    """

    def __init__(self, network: Any, conversations: int, longest: int) -> None:
        from transformers import ContinuousBatchingConfig, GenerationConfig

        # By default it takes nine tenths of the memory, and on a CPU every pass goes over what it takes.
        room = ContinuousBatchingConfig(
            num_blocks=conversations * (-(-longest // _PAGE) + 1), page_size=_PAGE, max_batch_tokens=1024, seed=0
        )
        greedy = GenerationConfig(do_sample=False, eos_token_id=-1, pad_token_id=0)
        with silence_transformers():
            self._manager = network.init_continuous_batching(generation_config=greedy, continuous_batching_config=room)
            self._manager.start()

    def write(self, prompts: Sequence[TokenPrompt]) -> int:
        """See Engine.write.

        Raises:
            UserError: It has stopped, or could not continue a prompt.
        """
        for prompt in prompts:
            self._manager.add_request(prompt.tokens, max_new_tokens=prompt.reply)
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
    """A llama.cpp server (``llama-server``) with the same model.

    Args:
        address: Its address, such as ``http://127.0.0.1:8080``.

    Raises:
        UserError: It does not answer as such a server does.
    """

    def __init__(self, address: str) -> None:
        if not address.startswith(("http://", "https://")):
            raise UserError(f"server={address}: is not an address; write server=http://127.0.0.1:8080")
        self._address = address.rstrip("/").removesuffix("/v1")
        self._ask("/props")

    def write(self, prompts: Sequence[TokenPrompt]) -> int:
        """See Engine.write.

        Raises:
            UserError: The server does not answer.
        """
        with ThreadPoolExecutor(len(prompts)) as threads:
            return sum(threads.map(self._write, prompts))

    def close(self) -> None:
        """See Engine.close."""

    def _write(self, prompt: TokenPrompt) -> int:
        greedy = {"temperature": 0, "top_k": 1, "samplers": ["top_k"], "ignore_eos": True, "cache_prompt": True}
        answer = self._ask("/completion", {"prompt": prompt.tokens, "n_predict": prompt.reply, **greedy})
        return int(answer.get("tokens_predicted") or 0)

    def _ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        sent = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._address + path, sent, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
                answer = json.load(response)
        except (OSError, ValueError) as error:
            raise UserError(
                f"server={self._address}: {path} does not answer ({error}); start a llama-server with the same model"
            ) from None
        if not isinstance(answer, dict):
            raise UserError(f"server={self._address}: {path} does not answer with an object; name a llama-server")
        return answer


@contextmanager
def open_engines(
    model: str, peers: Collection[str], server: str | None, conversations: int, longest: int
) -> Iterator[dict[str, Engine]]:
    """Open the project's engine and others, each with weights of its own, and close them in the end.

    Args:
        model: The model.
        peers: Names of the engines of transformers.
        server: Address of a llama.cpp server. Without one, it is left out.
        conversations: Greatest number of conversations at once.
        longest: Greatest number of tokens of a conversation.

    Raises:
        UserError: There is no such engine, or one cannot be opened.
    """
    from housewise.language.local.weights import load_model

    def network() -> Any:
        return load_model(model, None, "cpu", "auto")[0]

    with ExitStack() as stack:
        engines: dict[str, Engine] = {"housewise": OwnEngine(network(), conversations)}
        for name in peers:
            if name not in (GENERATE, CONTINUOUS):
                raise UserError(f"peers: no {name!r}; available: {GENERATE}, {CONTINUOUS}")
            is_plain = name == GENERATE
            engines[name] = Generate(network()) if is_plain else ContinuousBatching(network(), conversations, longest)
        if server:
            engines[LLAMA_CPP] = LlamaServer(server)
        else:
            print_note("llama.cpp is left out; start llama-server with the same model and give server=ADDRESS")
        for engine in engines.values():
            stack.callback(engine.close)
        yield engines
