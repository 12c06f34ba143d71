"""Reads prompts and writes replies with a causal language model: many rows at once, their shared beginning once.

Imported only by :mod:`agent.models.local`, because it needs torch and transformers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface, DynamicCache
from transformers.cache_utils import Cache, DynamicLayer
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

ATTENTION = "housewise_shared_prefix"

# Architectures with plain softmax attention over all earlier tokens, which pass on to it what they are called with.
# Others (windows, soft caps, sinks) keep their own attention and see the prefix copied in front of every row.
PLAIN_ATTENTION = frozenset({"llama", "mistral", "olmo2", "phi3", "qwen2", "qwen3", "smollm3"})

# Tokens of prompts read in one forward pass. More gain a CPU nothing but padding; other devices want PASS_FACTOR more.
READ_TOKENS = 1024
PASS_FACTOR = 16
# Scoring keeps the logits of every token, a vocabulary each.
SCORE_TOKENS = 1024
# Columns of keys and values set aside beyond those in use.
GROWTH = 256
# Likeliest tokens that a nucleus is looked for in before the whole vocabulary is sorted.
NUCLEUS = 1024


@dataclass
class _Window:
    """Where in a cache the next keys and values go; shared by the layers of that cache."""

    slots: int
    capacity: int
    rows: slice = field(default_factory=lambda: slice(0, 1))
    start: int = 0
    prefix: KeyValues | None = None
    prefix_length: int = 0
    joined: bool = False


class _Layer(DynamicLayer):  # type: ignore[misc]
    """Keys and values of one layer in memory set aside ahead, since growing by ``cat`` copies everything each token."""

    def __init__(self, window: _Window, prefix: _Layer | None) -> None:
        super().__init__()
        self.window, self.prefix = window, prefix

    def lazy_initialization(self, key_states: Any, value_states: Any) -> None:
        self.keys = self._reserve(key_states)
        self.values = self._reserve(value_states)
        self.is_initialized = True

    def _reserve(self, states: Any, held: Any = None) -> Any:
        _, heads, _, width = states.shape
        # Zeros, not empty: a masked column still meets a weight of 0, and 0 times a stray NaN is NaN.
        memory = states.new_zeros(self.window.slots, heads, self.window.capacity, width)
        if held is not None:
            memory[:, :, : held.shape[2]] = held
        return memory

    def update(self, key_states: Any, value_states: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        window = self.window
        end = window.start + key_states.shape[2]
        window.capacity = max(window.capacity, end if end <= window.capacity else end + GROWTH)
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        if self.keys.shape[2] < window.capacity:
            self.keys, self.values = self._reserve(key_states, self.keys), self._reserve(value_states, self.values)
        self.keys[window.rows, :, window.start : end] = key_states
        self.values[window.rows, :, window.start : end] = value_states
        keys, values = self.keys[window.rows, :, :end], self.values[window.rows, :, :end]
        return self.behind_prefix(keys, values) if window.joined else (keys, values)

    def behind_prefix(self, keys: Any, values: Any) -> tuple[Any, Any]:
        """The rows' keys and values with the shared prefix copied in front of each."""
        if self.prefix is None or not self.window.prefix_length:
            return keys, values
        ahead = (part.expand(keys.shape[0], -1, -1, -1) for part in self.shared())
        return torch.cat([next(ahead), keys], dim=2), torch.cat([next(ahead), values], dim=2)

    def shared(self) -> tuple[Any, Any]:
        """Keys and values of the shared prefix, one row."""
        assert self.prefix is not None
        length = self.window.prefix_length
        return self.prefix.keys[:, :, :length], self.prefix.values[:, :, :length]

    def get_seq_length(self) -> int:
        return self.window.prefix_length + self.window.start

    def get_mask_sizes(self, query_length: Any) -> tuple[int, int]:
        # Older releases of transformers hand over the positions instead of their number.
        new = query_length if isinstance(query_length, int) else query_length.shape[0]
        return self.get_seq_length() + new, 0


class KeyValues(Cache):  # type: ignore[misc]
    """What a model has read of some rows, behind a prefix that all of them share."""

    def __init__(
        self,
        layers: int,
        slots: int,
        capacity: int,
        prefix: KeyValues | None = None,
        length: int = 0,
        joined: bool = False,
    ) -> None:
        self.window = _Window(slots, capacity, slice(0, slots), prefix=prefix, prefix_length=length, joined=joined)
        super().__init__(
            layers=[_Layer(self.window, prefix.layers[index] if prefix else None) for index in range(layers)]
        )

    def repeat(self, first: int, sources: Sequence[int]) -> None:
        """Fill the slots from ``first`` on with what the slots ``sources`` hold."""
        targets, used = slice(first, first + len(sources)), slice(0, self.window.start)
        for memory in (part for layer in self.layers for part in (layer.keys, layer.values) if sources):
            memory[targets, :, used] = memory[list(sources), :, used]


def _attend(query: Any, key: Any, value: Any, mask: Any, scale: float | None) -> tuple[Any, Any]:
    """Softmax attention that also returns the logarithm of each query's normaliser."""
    if mask is not None:
        mask = torch.zeros_like(mask, dtype=query.dtype).masked_fill_(~mask, float("-inf"))
    if query.device.type == "cpu":
        # The public function does not return the normalisers.
        return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(  # type: ignore[no-any-return]
            query, key, value, attn_mask=mask, scale=scale
        )
    return _attend_anywhere(query, key, value, mask, scale)


def _attend_anywhere(query: Any, key: Any, value: Any, mask: Any, scale: float | None) -> tuple[Any, Any]:
    scores = (query @ key.transpose(-1, -2)).float() * (scale or query.shape[-1] ** -0.5)
    if mask is not None:
        scores = scores + mask
    normaliser = scores.logsumexp(-1, keepdim=True)
    return (scores - normaliser).exp().to(value.dtype) @ value, normaliser.squeeze(-1)


def shared_prefix_attention(
    module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: float | None = None, **kwargs: Any
) -> tuple[Any, None]:
    """Attention of rows that share a prefix, whose keys and values are read once for all rows instead of once per row.

    Both halves are ordinary attention; their outputs are weighed by how much of the softmax each half holds.
    """
    cache: KeyValues | None = kwargs.pop("key_values", None)
    layer = cache.layers[module.layer_idx] if cache is not None else None
    if layer is None or query.shape[2] > 1:
        if layer is not None:
            key, value = layer.behind_prefix(key, value)
        return sdpa_attention_forward(  # type: ignore[no-any-return]
            module, query, key, value, attention_mask, scaling=scaling, **kwargs
        )
    rows, heads, _, width = query.shape
    groups, length = key.shape[1], layer.window.prefix_length
    query = query.reshape(rows, groups, heads // groups, width)
    own_mask = None if attention_mask is None else attention_mask[..., length:]
    output, own = _attend(query, key, value, own_mask, scaling)
    if length:
        packed = query.transpose(0, 1).reshape(1, groups, -1, width)
        prefix_key, prefix_value = layer.shared()
        ahead, shared = _attend(packed, prefix_key, prefix_value, None, scaling)
        ahead = ahead.reshape(groups, rows, -1, width).transpose(0, 1)
        shared = shared.reshape(groups, rows, -1).transpose(0, 1)
        share = torch.sigmoid(shared - own).unsqueeze(-1)
        output = torch.lerp(output.float(), ahead.float(), share).to(output.dtype)
    return output.reshape(rows, 1, heads, width), None


@dataclass
class Rows:
    """Prompts that a model has read and whose replies it is writing, one slot each.

    Attributes:
        cache: keys and values of every slot.
        mask: False where a slot's column is padding.
        positions: position of every slot's next token.
        prompts: index of the prompt that every slot continues.
    """

    cache: KeyValues
    mask: Any
    positions: Any
    prompts: list[int]

    def widen(self, columns: int) -> None:
        """Make room for so many columns."""
        more = columns - self.mask.shape[1]
        if more > 0:
            room = torch.ones(len(self.mask), more + GROWTH, dtype=torch.bool, device=self.mask.device)
            self.mask = torch.cat([self.mask, room], dim=1)

    def drop(self, slot: int) -> None:
        """Free a slot; the row of the last slot moves into it."""
        last = len(self.prompts) - 1
        if slot < last:
            self.cache.repeat(slot, [last])
            self.mask[slot] = self.mask[last]
            self.positions[slot] = self.positions[last]
            self.prompts[slot] = self.prompts[last]
        self.prompts.pop()
        self.cache.window.rows = slice(0, last)


class Reader:
    """Runs a causal language model over batches of prompts.

    Args:
        model: a transformers causal language model.
        reuse_prefix: read what the prompts of a batch share once, and keep it for the next batch.

    Raises:
        ValueError: when the model carries a recurrent state, which cannot be shared between prompts.
    """

    def __init__(self, model: Any, reuse_prefix: bool = True) -> None:
        config = model.config
        layers = DynamicCache(config=config).layers
        if getattr(model, "_is_stateful", False) or not all(isinstance(layer, DynamicLayer) for layer in layers):
            raise ValueError(f"a {config.model_type} model keeps a recurrent state between tokens")
        self.model = model
        slides = _slides(config)
        # Behind a shared prefix a row's padding lies in its middle, where a window would count it as text.
        self.reuse_prefix = reuse_prefix and not slides
        self.split = config.model_type in PLAIN_ATTENTION and not slides
        if self.split:
            AttentionInterface.register(ATTENTION, shared_prefix_attention)
            AttentionMaskInterface.register(ATTENTION, sdpa_mask)
            model.set_attn_implementation(ATTENTION)
        # A CPU takes 50 times as long, or more, for the last columns of several rows in bfloat16 as for a copy of them.
        model.get_output_embeddings().register_forward_pre_hook(lambda _, inputs: (inputs[0].contiguous(),))
        self._pass_tokens = READ_TOKENS if model.device.type == "cpu" else READ_TOKENS * PASS_FACTOR
        self.forget()

    def forget(self) -> None:
        """Drop the prefix kept from earlier batches."""
        self._prefix = self._cache(1, GROWTH)
        self._prefix_ids: list[int] = []

    def read(self, prompts: Sequence[Sequence[int]], copies: Sequence[int], room: int) -> tuple[Rows, Any]:
        """Read prompts so that every copy of each can be continued.

        Args:
            prompts: token ids, none empty.
            copies: how many replies each prompt awaits.
            room: tokens that a reply takes at most.

        Returns:
            The rows, and the logits of each row's next token.
        """
        length = self._read_prefix(prompts)
        # Rows of like length side by side, so that a pass over some of them holds little padding.
        order = sorted(range(len(prompts)), key=lambda index: len(prompts[index]))
        extra = [slot for slot, index in enumerate(order) for _ in range(copies[index] - 1)]
        sources = [*range(len(order)), *extra]
        own = [prompts[index][length:] for index in order]
        cache = self._cache(len(sources), len(own[-1]) + min(room, GROWTH), self._prefix, length)
        mask = torch.ones(len(sources), length + len(own[-1]) + room, dtype=torch.bool, device=self.model.device)
        logits = torch.cat([part[:, -1] for _, part in self._passes(own, cache, mask, self._pass_tokens, keep=1)])
        cache.repeat(len(order), extra)
        mask[len(order) :] = mask[extra]
        cache.window.rows = slice(0, len(sources))
        positions = torch.tensor([length + len(own[source]) for source in sources], device=self.model.device)
        return Rows(cache, mask, positions, [order[source] for source in sources]), logits[sources]

    def step(self, rows: Rows, tokens: Sequence[Sequence[int]]) -> Any:
        """Append tokens to every row, padded on the left where others get more.

        Args:
            rows: the rows still being written.
            tokens: one or several for each row.

        Returns:
            The logits of each row's next token.
        """
        count, width = len(tokens), max(map(len, tokens))
        rows.widen(rows.cache.get_seq_length() + width)
        device, first = self.model.device, rows.cache.get_seq_length()
        pads = [width - len(own) for own in tokens]
        for row, pad in enumerate(pads):
            rows.mask[row, first : first + pad] = False
        ids = torch.tensor([[0] * pad + list(own) for pad, own in zip(pads, tokens, strict=True)], device=device)
        ahead = torch.arange(width, device=device) - torch.tensor(pads, device=device).unsqueeze(1)
        positions = rows.positions[:count].unsqueeze(1) + ahead.clamp(min=0)
        logits = self._run(ids, positions, rows.cache, rows.mask[:count], keep=1)
        rows.positions[:count] += torch.tensor([len(own) for own in tokens], device=device)
        return logits[:, -1]

    def score(self, prompt: Sequence[int], continuations: Sequence[Sequence[int]]) -> list[float]:
        """Log-probability of each continuation of one prompt.

        Args:
            prompt: token ids, not empty.
            continuations: token ids, none empty.

        Returns:
            The sum over each continuation's tokens, in nats.
        """
        length = self._read_prefix([prompt])
        order = sorted(range(len(continuations)), key=lambda index: len(continuations[index]))
        own = [[*prompt[length:], *continuations[index]] for index in order]
        keep = len(continuations[order[-1]]) + 1
        cache = self._cache(len(own), len(own[-1]), self._prefix, length)
        mask = torch.ones(len(own), length + len(own[-1]), dtype=torch.bool, device=self.model.device)
        scores = [0.0] * len(own)
        for first, logits in self._passes(own, cache, mask, SCORE_TOKENS, keep):
            for index, row in zip(order[first:], logits, strict=False):
                tokens = torch.tensor(continuations[index], device=row.device).unsqueeze(1)
                steps = row[-len(tokens) - 1 : -1].float().log_softmax(-1)
                scores[index] = float(steps.gather(1, tokens).sum())
        return scores

    def _read_prefix(self, prompts: Sequence[Sequence[int]]) -> int:
        """Have the prompts' common beginning read; every prompt keeps at least its last token to itself."""
        if not self.reuse_prefix:
            return 0
        common = list(_common(*(ids[:-1] for ids in prompts)))
        held = len(list(_common(common, self._prefix_ids)))
        if held < len(common):
            self._prefix_ids = self._prefix_ids[:held]
            mask = torch.ones(1, len(common), dtype=torch.bool, device=self.model.device)
            for start in range(held, len(common), self._pass_tokens):
                part = torch.tensor([common[start : start + self._pass_tokens]], device=self.model.device)
                positions = torch.arange(start, start + part.shape[1], device=self.model.device).unsqueeze(0)
                self._prefix.window.start = start
                self._run(part, positions, self._prefix, mask, keep=1)
            self._prefix_ids = common
        return len(common)

    def _passes(
        self, own: Sequence[Sequence[int]], cache: KeyValues, mask: Any, budget: int, keep: int
    ) -> Iterator[tuple[int, Any]]:
        """Read rows of ascending length, padded on the left, as many at once as the budget of tokens allows.

        Yields the first row of each pass and its logits. Afterwards all rows end in the same column.
        """
        length, longest, first = cache.window.prefix_length, len(own[-1]), 0
        while first < len(own):
            last = first + 1
            while last < len(own) and len(own[last]) * (last + 1 - first) <= budget:
                last += 1
            width = len(own[last - 1])
            pads = [width - len(ids) for ids in own[first:last]]
            for row, pad in enumerate(pads, first):
                mask[row, length : length + longest - width + pad] = False
            ids = [[0] * pad + list(ids) for pad, ids in zip(pads, own[first:last], strict=True)]
            positions = [[0] * pad + list(range(length, length + width - pad)) for pad in pads]
            cache.window.rows, cache.window.start = slice(first, last), longest - width
            device = self.model.device
            read = self._run(
                torch.tensor(ids, device=device), torch.tensor(positions, device=device), cache, mask[first:last], keep
            )
            yield first, read
            first = last

    def _run(self, ids: Any, positions: Any, cache: KeyValues, mask: Any, keep: int) -> Any:
        """One forward pass; the cache then ends behind the tokens read."""
        columns = cache.get_seq_length() + ids.shape[1]
        logits = self.model(
            input_ids=ids,
            position_ids=positions,
            attention_mask=mask[:, :columns],
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=keep,
            **({"key_values": cache} if self.split else {}),
        ).logits
        cache.window.start += ids.shape[1]
        return logits

    def _cache(self, slots: int, capacity: int, prefix: KeyValues | None = None, length: int = 0) -> KeyValues:
        layers = self.model.config.get_text_config().num_hidden_layers
        return KeyValues(layers, slots, capacity, prefix, length, joined=not self.split)


def choose(
    logits: Any,
    temperatures: Sequence[float],
    top_ps: Sequence[float],
    draws: Sequence[float],
    allowed: Any = None,
) -> tuple[list[int], list[float]]:
    """Choose the next token of every row.

    Args:
        logits: one row each.
        temperatures: 0 takes the likeliest token.
        top_ps: nucleus mass of each row.
        draws: a number in [0, 1) for each row, which alone decides what a row samples.
        allowed: False where a row may not take a token, an array like the logits; every row has to have a choice.

    Returns:
        The tokens, and their log-probabilities under the model as it is (before temperature, nucleus and what is not
        allowed).
    """
    logits = logits.float()
    normalisers = logits.logsumexp(-1, keepdim=True)
    if allowed is not None:
        logits = logits.masked_fill(~torch.as_tensor(allowed, device=logits.device), float("-inf"))
    tokens = logits.argmax(-1, keepdim=True)
    sampled = [row for row, temperature in enumerate(temperatures) if temperature > 0]
    if sampled:
        heat, mass, point = (
            torch.tensor([[values[row]] for row in sampled], dtype=torch.float64, device=logits.device)
            for values in (temperatures, top_ps, draws)
        )
        tokens[sampled] = _draw((logits[sampled] / heat.float()).softmax(-1), mass, point)
    logprobs = logits.gather(1, tokens) - normalisers
    return tokens.squeeze(1).tolist(), logprobs.squeeze(1).tolist()


def _draw(probabilities: Any, top_p: Any, draws: Any) -> Any:
    """Invert each row's cumulative distribution, cut to the nucleus, at its draw."""
    whole = (top_p >= 1).squeeze(1)
    if bool(whole.all()):
        return _invert(probabilities, draws)
    if bool(whole.any()):
        # Each in the order of tokens that it would have alone.
        tokens = torch.empty(len(whole), 1, dtype=torch.long, device=probabilities.device)
        for rows in (whole, ~whole):
            tokens[rows] = _draw(probabilities[rows], top_p[rows], draws[rows])
        return tokens
    # Sorting a whole vocabulary costs more than the model's own step; the nucleus is nearly always in the first few.
    ordered, tokens = probabilities.topk(min(NUCLEUS, probabilities.shape[-1]))
    if bool((ordered.sum(-1, keepdim=True) < top_p).any()):
        ordered, tokens = probabilities.sort(descending=True)
    before = ordered.cumsum(-1) - ordered
    return tokens.gather(1, _invert(ordered.masked_fill(before >= top_p, 0.0), draws))


def _invert(weights: Any, draws: Any) -> Any:
    cumulative = weights.double().cumsum(-1)
    total = cumulative[:, -1:].contiguous()
    found = torch.searchsorted(cumulative, draws * total, right=True)
    # A draw next to 1 may round up to the total; tokens behind the one that reaches it have no weight.
    return found.minimum(torch.searchsorted(cumulative, total))


def _common(*sequences: Sequence[int]) -> Iterator[int]:
    """The longest common beginning."""
    columns = takewhile(lambda column: len(set(column)) == 1, zip(*sequences, strict=False))
    return (column[0] for column in columns)


def _slides(config: Any) -> bool:
    """Whether some layers see only a window of the latest tokens."""
    kinds = getattr(config, "layer_types", None) or []
    window = getattr(config, "sliding_window", None) if getattr(config, "use_sliding_window", True) else None
    return any(kind != "full_attention" for kind in kinds) if kinds else window is not None
