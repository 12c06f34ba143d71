"""The keys and values of many sequences, and attention over them.

Only ``language.local.model_runner`` imports this module, because it needs torch and transformers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicLayer
from transformers.integrations.sdpa_attention import sdpa_attention_forward

# Number of columns that are allocated beyond those in use.
GROWTH = 256


@dataclass
class _PassLayout:
    """Where in the cache the tokens of a pass are stored; shared by all layers.

    Attributes:
        slots: Number of sequences that memory is allocated for.
        capacity: Number of tokens per sequence. The last column takes padding and is never attended to.
        rows: Slots being read, as an index.
        slot: Slot of every token, shape (rows, 1).
        column: Column of every token, shape (rows, tokens).
        end: Number of columns that the tokens may attend to.
        width: Number of those columns that hold the tokens of the pass.
        shared: Number of leading columns in which all rows are equal.
    """

    slots: int = 0
    capacity: int = 0
    rows: Any = None
    slot: Any = None
    column: Any = None
    end: int = 0
    width: int = 0
    shared: int = 0


class _Layer(DynamicLayer):  # type: ignore[misc]
    """Keys and values of one layer in preallocated memory; growing by ``cat`` would copy everything for each token."""

    def __init__(self, layout: _PassLayout) -> None:
        super().__init__()
        self.layout = layout

    def lazy_initialization(self, key_states: Any, value_states: Any) -> None:
        self.keys, self.values = self._reserve(key_states), self._reserve(value_states)
        self.is_initialized = True

    def _reserve(self, states: Any) -> Any:
        _, heads, _, width = states.shape
        # Zeros instead of uninitialised memory: a masked column has weight 0, but 0 times NaN is NaN.
        return states.new_zeros(self.layout.slots, heads, self.layout.capacity, width)

    def grow(self) -> None:
        """Allocate memory for as much as the layout says."""
        if self.is_initialized:
            self.keys, self.values = (self._enlarge(memory) for memory in (self.keys, self.values))

    def _enlarge(self, memory: Any) -> Any:
        room = self._reserve(memory)
        room[: memory.shape[0], :, : memory.shape[2]] = memory
        return room

    def update(self, key_states: Any, value_states: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        layout = self.layout
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        self.keys[layout.slot, :, layout.column] = key_states.transpose(1, 2)
        self.values[layout.slot, :, layout.column] = value_states.transpose(1, 2)
        return self.keys[layout.rows, :, : layout.end], self.values[layout.rows, :, : layout.end]

    def get_seq_length(self) -> int:
        return self.layout.end - self.layout.width

    def get_mask_sizes(self, query_length: Any) -> tuple[int, int]:
        return self.layout.end, 0


class KVCache(Cache):  # type: ignore[misc]
    """Keys and values of sequences: each in its own slot, with token ``t`` in column ``t``.

    Args:
        layers: Number of layers of the model.
        device: Device of the model.

    Attributes:
        tokens: Sequence in every slot.
        used: When each slot was last used, by the runner's counter.
    """

    def __init__(self, layers: int, device: Any) -> None:
        self.tokens: list[list[int]] = []
        self.used: list[int] = []
        self.layout, self._device = _PassLayout(), device
        super().__init__(layers=[_Layer(self.layout) for _ in range(layers)])

    def prepare_pass(self, slots: Sequence[int], pads: Sequence[int], width: int) -> Any:
        """Prepare a pass over the columns after the content of some slots.

        Args:
            slots: Slots to be read, consecutive if possible, which saves a copy.
            pads: Number of leading padding tokens in each slot.
            width: Number of tokens in each slot, including padding.

        Returns:
            Positions of the tokens, shape (slots, width); padding has position 0.
        """
        begins = [len(self.tokens[slot]) for slot in slots]
        end = max(begin + width - pad for begin, pad in zip(begins, pads, strict=True))
        self.reserve(len(self.tokens), end)
        layout, consecutive = self.layout, list(slots) == list(range(slots[0], slots[0] + len(slots)))
        index = torch.tensor(slots, device=self._device)
        order = torch.arange(width, device=self._device)
        starts = torch.tensor([[begin - pad] for begin, pad in zip(begins, pads, strict=True)], device=self._device)
        padding = order < torch.tensor(pads, device=self._device).unsqueeze(1)
        layout.rows = slice(slots[0], slots[0] + len(slots)) if consecutive else index
        layout.slot, layout.column = index.unsqueeze(1), (starts + order).masked_fill(padding, layout.capacity - 1)
        layout.end, layout.width, layout.shared = end, width, 0
        return (starts + order).masked_fill(padding, 0)

    def reserve(self, slots: int, columns: int = 0) -> None:
        """Allocate memory for at least this many slots and columns."""
        layout = self.layout
        self.tokens += [[] for _ in range(slots - len(self.tokens))]
        self.used += [0] * (slots - len(self.used))
        if slots > layout.slots or columns >= layout.capacity:
            layout.slots = max(layout.slots, slots)
            layout.capacity = layout.capacity if columns < layout.capacity else columns + GROWTH
            for layer in self.layers:
                layer.grow()

    def copy(self, source: int, target: int, length: int) -> None:
        """Copy the beginning of a slot to another slot."""
        self.tokens[target] = self.tokens[source][:length]
        for memory in self._memories():
            memory[target, :, :length] = memory[source, :, :length]

    def swap(self, one: int, other: int) -> None:
        """Exchange the content of two slots."""
        if one == other:
            return
        self.tokens[one], self.tokens[other] = self.tokens[other], self.tokens[one]
        self.used[one], self.used[other] = self.used[other], self.used[one]
        used = max(len(self.tokens[one]), len(self.tokens[other]))
        for memory in self._memories():
            memory[[one, other], :, :used] = memory[[other, one], :, :used]

    def _memories(self) -> list[Any]:
        return [memory for layer in self.layers if layer.is_initialized for memory in (layer.keys, layer.values)]


def shared_prefix_attention(
    module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: float | None = None, **kwargs: Any
) -> tuple[Any, None]:
    """Attention of rows with a common prefix, whose keys and values are read once for all rows.

    The prefix and the rest are ordinary attention; their outputs are weighted by their shares of the softmax.
    """
    cache: KVCache | None = kwargs.pop("key_values", None)
    if cache is None or query.shape[2] > 1:
        return sdpa_attention_forward(  # type: ignore[no-any-return]
            module, query, key, value, attention_mask, scaling=scaling, **kwargs
        )
    rows, heads, _, width = query.shape
    groups, length = key.shape[1], cache.layout.shared
    query = query.reshape(rows, groups, heads // groups, width)
    output, own = attention_with_logsumexp(
        query, key[:, :, length:], value[:, :, length:], attention_mask[..., length:], scaling
    )
    if length:
        packed = query.transpose(0, 1).reshape(1, groups, -1, width)
        ahead, shared = attention_with_logsumexp(packed, key[:1, :, :length], value[:1, :, :length], None, scaling)
        ahead = ahead.reshape(groups, rows, -1, width).transpose(0, 1)
        shared = shared.reshape(groups, rows, -1).transpose(0, 1)
        share = torch.sigmoid(shared - own).unsqueeze(-1)
        output = torch.lerp(output.float(), ahead.float(), share).to(output.dtype)
    return output.reshape(rows, 1, heads, width), None


def attention_with_logsumexp(query: Any, key: Any, value: Any, mask: Any, scale: float | None) -> tuple[Any, Any]:
    """Softmax attention that also returns the log of each query's normaliser; the mask is added to the scores."""
    if query.device.type == "cpu":
        # The public function does not return the normalisers.
        return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(  # type: ignore[no-any-return]
            query, key, value, attn_mask=mask, scale=scale
        )
    return eager_attention_with_logsumexp(query, key, value, mask, scale)


def eager_attention_with_logsumexp(query: Any, key: Any, value: Any, mask: Any, scale: float | None) -> tuple[Any, Any]:
    """The same in elementary operations."""
    scores = (query @ key.transpose(-1, -2)).float() * (scale or query.shape[-1] ** -0.5)
    if mask is not None:
        scores = scores + mask
    normaliser = scores.logsumexp(-1, keepdim=True)
    return (scores - normaliser).exp().to(value.dtype) @ value, normaliser.squeeze(-1)
