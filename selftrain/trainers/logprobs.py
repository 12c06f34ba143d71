"""Log-probabilities of replies under the model that was trained, as the trainer computes them.

``python -m housewise.selftrain.trainers.logprobs FILE PROCESS`` answers the request in a file, in a process of its own
whose memory on a GPU is free afterwards.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from housewise.core.errors import UserError
from housewise.core.files import write_json
from housewise.core.validation import StrictModel, read_model
from housewise.language.local.adapters import wrap_with_adapter
from housewise.language.local.libraries import silence_transformers
from housewise.language.local.smollm2 import SMOLLM2
from housewise.language.local.tokens import prompt_tokens
from housewise.language.local.weights import load_model
from housewise.selftrain.examples import Demonstration
from housewise.selftrain.trainers.launcher_environment import environment_for_launcher
from housewise.selftrain.trainers.trained_model import ModelReference
from housewise.selftrain.trainers.training_job import exit_with_parent, name_this_process


class ScoredPair(StrictModel):
    """A prompt with a reply and their tokens.

    Attributes:
        tokens: Ids of the tokens of both, as the chat template writes them now.
        reply: Number of tokens of the reply.
        model: Natural log-probability of each token of the reply.
        base: The same under the model without its adapter; None without an adapter.
    """

    pair: Demonstration
    tokens: tuple[int, ...] = ()
    reply: int = 0
    model: tuple[float, ...] = ()
    base: tuple[float, ...] | None = None


class LogprobRequest(StrictModel):
    """The content of a file with pairs, before and after they are scored.

    Attributes:
        start: The model.
        weights: Digest of its weights.
        device, dtype, quantization, device_map, template: As in the settings of the training.
    """

    start: ModelReference
    weights: str
    device: str = "auto"
    dtype: str = "auto"
    quantization: str | None = None
    device_map: str | None = None
    template: dict[str, Any] = Field(default_factory=dict)
    pairs: tuple[ScoredPair, ...] = ()


def read_scores(path: Path, request: LogprobRequest) -> LogprobRequest | None:
    """Return the scores of a request that are kept in a file; None without them.

    The tokens are compared too, because a chat template may write the date.

    Raises:
        UserError: The file is damaged.
    """
    if not path.exists():
        return None
    kept = read_model(path, LogprobRequest, "delete it to compute it again")
    then, now = (
        (each.weights, each.template, [(one.pair, one.tokens) for one in each.pairs]) for each in (kept, request)
    )
    return kept if then == now else None


def score_pairs(path: Path, request: LogprobRequest) -> LogprobRequest:
    """Return a request with scores. They are computed once, in a child process, and kept in a file.

    Args:
        path: The file.
        request: Pairs without scores.

    Raises:
        UserError: The model cannot be loaded; the child's output says why.
    """
    if (kept := read_scores(path, request)) is not None:
        return kept
    asked = path.with_suffix(".request.json")
    write_json(asked, request.model_dump())
    command = [sys.executable, "-m", "housewise.selftrain.trainers.logprobs", str(asked), name_this_process()]
    try:
        subprocess.run(command, check=True, env=environment_for_launcher())
    except (OSError, subprocess.CalledProcessError) as error:
        raise UserError(
            f"{path}: the log-probabilities of the trained model were not computed ({error}); the output above says why"
        ) from error
    asked.rename(path)
    return read_model(path, LogprobRequest)


def compute(request: LogprobRequest) -> LogprobRequest:
    """Return a request with scores, computed in this process."""
    name, adapter = request.start.model.partition(":")[2] or SMOLLM2, request.start.adapter
    network, tokenizer = load_model(name, None, request.device, request.dtype, request.quantization, request.device_map)
    wrapped = None if adapter is None else wrap_with_adapter(network, name, adapter).eval()
    scored = []
    for each in request.pairs:
        pair, template = each.pair, request.template
        prompt = prompt_tokens(tokenizer, pair.messages, pair.prefix, name, template)
        tokens = prompt_tokens(tokenizer, pair.messages, pair.prefix + pair.reply, name, template)
        reply = max(len(tokens) - len(prompt), 1)
        if wrapped is None:
            found = {"model": _logprobs(network, tokens, reply)}
        else:
            with wrapped.disable_adapter():
                base = _logprobs(wrapped, tokens, reply)
            found = {"model": _logprobs(wrapped, tokens, reply), "base": base}
        scored.append(each.model_copy(update={"tokens": tuple(tokens), "reply": reply, **found}))
    return request.model_copy(update={"pairs": tuple(scored)})


def _logprobs(network: Any, tokens: Sequence[int], reply: int) -> tuple[float, ...]:
    """Return the log-probability of each of the last tokens of a text."""
    import torch

    ids = torch.tensor([list(tokens)], device=network.device)
    with torch.no_grad():
        logits = network(input_ids=ids, use_cache=False, logits_to_keep=reply + 1).logits[0, :-1].float()
    chosen = torch.log_softmax(logits, dim=-1).gather(1, ids[0, -reply:, None])[:, 0]
    return tuple(chosen.tolist())


def main() -> None:
    """Answer the request in a file."""
    path = Path(sys.argv[1])
    exit_with_parent(sys.argv[2])
    try:
        with silence_transformers():
            write_json(path, compute(read_model(path, LogprobRequest)).model_dump())
    except UserError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
