"""Measures whether a model gives the same results when computations are batched as when they are not.

Configurations do not tell all differences between architectures: some count distances by column, some accept no mask
for pairs of tokens. What a model cannot batch correctly is computed one by one, and a model with wrong results is
refused.
"""

from __future__ import annotations

import hashlib
import json
import logging
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import DynamicCache

from housewise.core.errors import UserError
from housewise.core.files import write_json
from housewise.core.text_files import read_json
from housewise.language.local.architecture import PLAIN_ATTENTION, BatchingSupport, context_length, longrope_switch
from housewise.language.local.libraries import is_out_of_memory
from housewise.language.local.smollm2 import cache_folder

logger = logging.getLogger(__name__)

_VERSION = 4
# A model with more weights is not measured in float32.
_MAX_WEIGHTS = 2_000_000_000
# Minimum and maximum length of the texts. A short text suffices for plain attention, whose windows are known.
_LENGTH, _MAX_LENGTH, _LENGTH_IF_PLAIN = 600, 6000, 48
# Tolerance for differences of log-probabilities: the largest one in float32; the mean in half precision, in which
# single differences may be larger than the effect of a wrong mask.
_LARGEST = 1e-3
_MEAN = {torch.bfloat16: 0.25, torch.float16: 0.05}
# If the noise of transformers' own results was measured, the mean may be this many times as large, and at least this.
_TIMES_NOISE, _LEAST_MEAN = 10, 0.02


def are_close(one: torch.Tensor, other: torch.Tensor, dtype: torch.dtype, noise: float | None = None) -> bool:
    """Whether two tensors of log-probabilities are equal up to rounding.

    Args:
        one: Log-probabilities; impossible tokens have -inf.
        other: Those to compare with, of the same shape.
        dtype: Type in which they were computed.
        noise: Mean difference between results that should be equal, if it was measured.
    """
    limit = _MEAN.get(dtype)
    if limit is None:
        return bool(_differences(one, other).max() <= _LARGEST)
    if noise is not None:
        limit = min(limit, max(_LEAST_MEAN, _TIMES_NOISE * noise))
    return bool(_differences(one, other).mean() <= limit)


def _differences(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    # Without tokens that are impossible in both.
    return (one.float() - other.float()).abs()[~(one.isneginf() & other.isneginf())]


def supported_batching(reader: Any) -> BatchingSupport:
    """Return which batched computations give a model's own results.

    They are measured when a model of this configuration is first opened, and then cached: they do not depend on its
    weights.

    Args:
        reader: A ``model_runner.ModelRunner``.

    Raises:
        ValueError: If the model has other results here than in transformers.
    """
    path = cache_folder() / "ways" / f"{_configuration_digest(reader.model)}.json"
    try:
        return _read_support(path)
    except (UserError, OSError, ValueError):
        ways = _measure_support(reader)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, asdict(ways))
    except (UserError, OSError):
        # It is measured again the next time.
        logger.debug("cannot keep %s", path)
    return ways


def _measure_support(reader: Any) -> BatchingSupport:
    possible = reader.ways
    with suppress(MemoryError, torch.cuda.OutOfMemoryError), _in_float32(reader.model):
        return _Measurement(reader, possible).ways()
    return _Measurement(reader, possible).ways()


@contextmanager
def _in_float32(network: Any) -> Iterator[None]:
    """Let a model compute in float32 for a while, so that an error cannot be taken for rounding.

    Models with plain attention, quantized models, and models for which memory might not suffice stay as they are.
    """
    tensors = [tensor for tensor in (*network.parameters(), *network.buffers()) if tensor.dtype in _MEAN]
    is_plain = network.config.get_text_config().model_type in PLAIN_ATTENTION
    is_large = sum(tensor.numel() for tensor in tensors) > _MAX_WEIGHTS
    is_fixed = getattr(network, "is_quantized", False) or any(tensor.is_inference() for tensor in tensors)
    if is_plain or is_large or is_fixed:
        tensors = []
    as_loaded = [tensor.data for tensor in tensors]
    try:
        with torch.inference_mode(False):
            for tensor in tensors:
                tensor.data = tensor.data.float()
        yield
    finally:
        for tensor, data in zip(tensors, as_loaded, strict=True):
            tensor.data = data


def _read_support(path: Path) -> BatchingSupport:
    kept = read_json(path)
    names = {field.name for field in fields(BatchingSupport)}
    if not isinstance(kept, dict) or kept.keys() != names or {type(each) for each in kept.values()} != {bool}:
        raise ValueError(f"{path}: does not tell all ways")
    return BatchingSupport(**kept)


def _configuration_digest(model: Any) -> str:
    """Return a digest of a configuration and of what computes it."""
    config = model.config.to_dict()
    for name in ("_name_or_path", "name_or_path"):
        config.pop(name, None)
    machine = [torch.__version__, transformers.__version__, model.device.type, str(model.dtype), _VERSION]
    return hashlib.sha256(json.dumps([machine, config], sort_keys=True, default=str).encode()).hexdigest()


def _own_window(config: Any) -> int:
    """Return the size of a local window that a configuration has under a name of its own, such as ``window_size``."""
    known = {"sliding_window", "max_window_layers"}
    sizes = [size for name, size in vars(config).items() if "window" in name and name not in known]
    return max((size for size in sizes if isinstance(size, int)), default=0)


class _Measurement:
    """Compares a model runner with the model that it runs.

    The texts are random tokens, since only the computation matters. They are shorter than the length at which positions
    are encoded differently, which the runner handles.
    """

    def __init__(self, reader: Any, possible: BatchingSupport) -> None:
        self._reader, self._model, self._possible = reader, reader.model, possible
        config = reader.model.config.get_text_config()
        length = (
            _LENGTH_IF_PLAIN
            if config.model_type in PLAIN_ATTENTION
            else min(max(_LENGTH, 3 * _own_window(config) // 2), _MAX_LENGTH)
        )
        longest = min(context_length(config), longrope_switch(config) or length)
        length = max(min(length, longest - 8), 8)
        draw = random.Random(0)
        # Special tokens are at the beginning or at the end of a vocabulary.
        vocabulary = range(config.vocab_size // 8, max(config.vocab_size // 2, config.vocab_size // 8 + 1))
        self._long = draw.choices(vocabulary, k=length)
        self._short = self._long[: length // 4] + draw.choices(vocabulary, k=length // 4)
        self._further, self._other = draw.choices(vocabulary, k=3), draw.choices(vocabulary, k=3)
        self._known: dict[tuple[int, ...], torch.Tensor] = {}
        self._noise = 0.0

    def ways(self) -> BatchingSupport:
        """See ``supported_batching``."""
        kind = self._model.config.model_type
        self._noise = self._measure_noise()
        for ways in (self._possible, replace(self._possible, masks=False, batches=False, trees=False)):
            if self._all_close(ways, self._compare_single_rows):
                break
        else:
            raise ValueError(f"a {kind} model comes to other results here than in transformers")
        together = {
            "batches": self._compare_batches,
            "holds": self._compare_cached_prefixes,
            "trees": self._compare_scores,
        }
        for name, compare in together.items():
            if getattr(ways, name) and not self._all_close(ways, compare):
                ways = replace(ways, **{name: False})
        if not self._all_close(ways, self._compare_scores):
            raise ValueError(f"a {kind} model has other log-probabilities here than in transformers")
        return ways

    def _all_close(
        self, ways: BatchingSupport, compare: Callable[[], Iterator[tuple[torch.Tensor, torch.Tensor]]]
    ) -> bool:
        """Whether all results of a comparison are equal; what cannot be computed is not."""
        self._reader.ways = ways
        self._reader.clear_cache()
        try:
            return all(are_close(*results, self._model.dtype, self._noise) for results in compare())
        except Exception as error:  # architectures raise different errors for unsupported arguments
            if is_out_of_memory(error):
                raise
            return False

    def _measure_noise(self) -> float:
        """Return the mean difference between transformers' results for a text read at once and in two parts."""
        differences = []
        for text in (self._long, self._short):
            cache = DynamicCache(config=self._model.config)
            for start, tokens in ((0, text), (len(text), self._further[:1])):
                ids = torch.tensor([tokens], device=self._model.device)
                read = self._model(input_ids=ids, use_cache=True, **{self._reader.cache_name: cache})
                found = read.logits[0, -1].float().log_softmax(-1)
                expected = self._reference_logprobs(text + self._further)[start + len(tokens) - 1]
                differences.append(_differences(found, expected).mean())
        return float(torch.stack(differences).mean())

    def _reference_logprobs(self, tokens: Sequence[int]) -> torch.Tensor:
        """Return the log-probabilities after every token of a text by the model alone, shape (tokens, vocabulary)."""
        key = tuple(tokens)
        if key not in self._known:
            ids = torch.tensor([tokens], device=self._model.device)
            self._known[key] = self._model(input_ids=ids, use_cache=False).logits[0].float().log_softmax(-1)
        return self._known[key]

    def _compare_single_rows(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Compare a prompt, and two tokens after it."""
        expected = self._reference_logprobs(self._long + self._further)
        for place, logits in enumerate(self._run_rows([self._long], [[self._further[:1]], [self._further[1:2]]])):
            yield logits[0], expected[len(self._long) - 1 + place]

    def _compare_batches(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Compare a long prompt twice and a short one, then different numbers of tokens after them."""
        prompts = [self._long, self._short, self._long]
        order, logits = self._reader.add_rows(prompts)
        taken = [0] * len(prompts)
        for count in (0, 1, 2):
            if count:
                new = [self._further[taken[index] :][: 1 + (index + count) % 2] for index in order]
                logits = self._reader.append_tokens(new)
                for index, own in zip(order, new, strict=True):
                    taken[index] += len(own)
            for index, found in zip(order, logits, strict=True):
                expected = self._reference_logprobs(prompts[index] + self._further)
                yield found.float().log_softmax(-1), expected[len(prompts[index]) + taken[index] - 1]

    def _compare_cached_prefixes(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Compare prompts that begin like earlier ones."""
        for text in (self._long[: len(self._long) // 2], self._short, self._long):
            for [logits] in self._run_rows([text], []):
                whole = next(known for known in (self._long, self._short) if known[: len(text)] == text)
                yield logits, self._reference_logprobs(whole + self._further)[len(text) - 1]

    def _compare_scores(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Compare texts after a prompt that differ at different positions."""
        texts = [self._further, [self._further[0], *self._other], self._other]
        for text, scores in zip(texts, self._reader.score(self._short, texts), strict=True):
            expected = self._reference_logprobs(self._short + text)[len(self._short) - 1 : -1]
            chosen = torch.tensor(text, device=expected.device).unsqueeze(1)
            yield torch.tensor(scores), expected.gather(1, chosen).squeeze(1).cpu()

    def _run_rows(self, prompts: list[list[int]], steps: list[list[list[int]]]) -> Iterator[torch.Tensor]:
        """Yield the log-probabilities after prompts, and after each further step; then remove the rows."""
        _, logits = self._reader.add_rows(prompts)
        yield logits.float().log_softmax(-1)
        for tokens in steps:
            yield self._reader.append_tokens(tokens).float().log_softmax(-1)
        for _ in prompts:
            self._reader.remove_row(0)
