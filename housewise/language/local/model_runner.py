"""Runs a causal language model over a batch of rows; what they share is read once.

This module needs torch and transformers, and is imported when a model is opened.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface, DynamicCache
from transformers.cache_utils import DynamicLayer
from transformers.masking_utils import sdpa_mask

from housewise.language.local.architecture import (
    KNOWN_ATTENTION,
    PLAIN_ATTENTION,
    additive_masks,
    attention_windows,
    longrope_switch,
    possible_batching,
)
from housewise.language.local.equivalence_check import supported_batching
from housewise.language.local.kv_cache import KVCache, shared_prefix_attention
from housewise.language.local.token_tree import TokenTree, common_prefix_length, tree_visibility

ATTENTION = "housewise_shared_prefix"

# Tokens of prompts per forward pass. On a CPU more only add padding; other devices take PASS_FACTOR times as many.
READ_TOKENS = 1024
PASS_FACTOR = 16
# Number of conversations that are kept in the cache.
KEPT = 16
# Tokens per scoring pass, which keeps the logits of every token.
SCORE_TOKENS = 1024
# Up to this many tokens of a prompt are read together with the continuations.
TRUNK_TOKENS = 32


def check_architecture(model: Any) -> None:
    """Check that a model's state consists of keys and values.

    Raises:
        ValueError: If the model has a recurrent state, or an unknown kind of attention.
    """
    config = model.config.get_text_config()
    # A model may have no recurrent layers although its architecture can; its configuration then lists the layers.
    listed = set(getattr(config, "layer_types", None) or ["unknown"])
    may_carry = getattr(model, "_is_stateful", False) and not listed <= KNOWN_ATTENTION
    if may_carry or not all(isinstance(layer, DynamicLayer) for layer in DynamicCache(config=model.config).layers):
        raise ValueError(f"a {model.config.model_type} model keeps a recurrent state between tokens")
    attention_windows(config)


class ModelRunner:
    """Runs a causal language model over many rows at once, each at its own position in its text.

    Rows are added and removed while others are being written. A slot of the cache keeps its content after its row is
    removed, until another row needs the room. A new prompt with the same beginning as the content of a slot is read
    only from where they differ.

    Args:
        model: A causal language model of transformers.
        reuse_prefix: Whether to read what prompts share once.

    Attributes:
        rows: Number of rows being written; they are in the first slots.
        ways: Which computations are batched; measured when a model is first used.
        cache_name: The model's argument for the cache.

    Raises:
        ValueError: If the model has a recurrent state, which cannot be shared between prompts, an unknown kind of
            attention, or other results here than in transformers.
    """

    def __init__(self, model: Any, reuse_prefix: bool = True) -> None:
        check_architecture(model)
        self.model = model
        self.reuse_prefix = reuse_prefix
        # Name before transformers 5.24: past_key_values.
        takes = inspect.signature(model.forward).parameters
        self.cache_name = "cache" if "cache" in takes else "past_key_values"
        config = model.config.get_text_config()
        self._windows, self._switch = attention_windows(config), longrope_switch(config)
        self._split = model.config.model_type in PLAIN_ATTENTION and not any(self._windows.values())
        if self._split:
            AttentionInterface.register(ATTENTION, shared_prefix_attention)
            AttentionMaskInterface.register(ATTENTION, sdpa_mask)
            model.set_attn_implementation(ATTENTION)
        # In bfloat16 a CPU multiplies a strided slice of the rows at least 50 times slower than a contiguous copy,
        # because it copies the weights. A slice of one row claims to be contiguous but keeps its strides.
        model.get_output_embeddings().register_forward_pre_hook(
            lambda _, inputs: (inputs[0].clone(memory_format=torch.contiguous_format),)
        )
        self._pass_tokens = READ_TOKENS if model.device.type == "cpu" else READ_TOKENS * PASS_FACTOR
        self.ways = possible_batching(config, takes)
        self.clear_cache()
        with torch.inference_mode():
            self.ways = supported_batching(self)
        self.clear_cache()

    def clear_cache(self) -> None:
        """Remove all rows and clear the cache."""
        self._cache = KVCache(self.model.config.get_text_config().num_hidden_layers, self.model.device)
        self.rows = self._shared = self._clock = 0

    def add_rows(self, prompts: Sequence[Sequence[int]]) -> tuple[list[int], Any]:
        """Read prompts into new rows after those being written.

        Args:
            prompts: Token ids, none empty; equal prompts are read once.

        Returns:
            The index of the prompt in each new row, and the logits of each new row's next token.
        """
        equal: dict[tuple[int, ...], list[int]] = {}
        for index, prompt in enumerate(prompts):
            equal.setdefault(tuple(prompt), []).append(index)
        whole = list(map(list, equal))
        slots = self._assign_slots(whole, [len(prompt) - 1 for prompt in whole])
        logits: dict[int, Any] = {}
        for part, read in self._read_prompts(slots, whole):
            logits |= zip((slots[index] for index in part), read[:, -1], strict=True)
        holds = {slot: same[0] for slot, same in zip(slots, equal.values(), strict=True)}
        self._cache.reserve(self.rows + len(prompts))
        for slot, same in zip(slots, equal.values(), strict=True):
            for index in same[1:]:
                twin = self.rows + len(holds)
                self._cache.copy(slot, twin, len(prompts[index]))
                holds[twin], logits[twin] = index, logits[slot]
        self.rows += len(holds)
        self._update_shared_columns()
        rows = sorted(holds)
        return [holds[slot] for slot in rows], torch.stack([logits[slot] for slot in rows])

    def append_tokens(self, tokens: Sequence[Sequence[int]]) -> Any:
        """Append tokens to every row.

        Args:
            tokens: One or several for each row.

        Returns:
            The logits of each row's next token.
        """
        return self._forward_slots(range(self.rows), tokens, self._shared)[:, -1]

    def remove_row(self, row: int) -> None:
        """Remove a row; the last row moves to its place."""
        self.rows -= 1
        if row < self.rows:
            self._cache.swap(row, self.rows)
        self._update_shared_columns()

    def clear(self) -> None:
        """Clear the cache except for the rows being written."""
        if not self.rows:
            # The next results are then equal to those of a newly opened model, to the last digit.
            self.clear_cache()
        for held in self._cache.tokens[self.rows :]:
            held.clear()

    def score(self, prompt: Sequence[int], continuations: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the log-probability of every token of each continuation of a prompt.

        Args:
            prompt: Token ids, not empty.
            continuations: Token ids, none empty.

        Returns:
            For each continuation the natural log-probabilities of its tokens.
        """
        most = SCORE_TOKENS if self.ways.trees else 0
        return [
            score
            for part in self._split_texts(prompt, continuations, most)
            for score in self._score(list(prompt), part)
        ]

    def _score(self, prompt: list[int], continuations: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the scores of as many continuations as fit in one pass."""
        switches = self._is_beyond_switch(len(prompt) + len(continuations[0]) - 1)
        (slot,) = self._assign_slots([prompt], [0 if switches else len(prompt) - 1])
        held = self._cache.tokens[slot]
        # A few tokens are read with the tree: the time of such a short pass on a CPU depends on the weights.
        if len(prompt) - 1 - len(held) > TRUNK_TOKENS and (not switches or self._is_beyond_switch(len(prompt) - 1)):
            for _ in self._read_prompts([slot], [prompt[:-1]]):
                pass
        tree = TokenTree.from_texts(prompt[len(held) :], continuations)
        logprobs = self._forward_tree(slot, tree).float().log_softmax(-1)
        if switches:
            held.clear()
        return [
            logprobs[nodes, torch.tensor(tokens, device=logprobs.device)].tolist()
            for nodes, tokens in zip(tree.paths, continuations, strict=True)
        ]

    def _assign_slots(self, prompts: Sequence[list[int]], most: Sequence[int]) -> list[int]:
        """Assign each prompt a slot after the rows that holds as much of it as was read, up to a limit per prompt."""
        cache = self._cache
        # Cached keys cannot be used for a prompt beyond the length at which positions are encoded differently.
        wanted = [
            prompt[: 0 if self._is_beyond_switch(len(prompt)) else limit]
            for prompt, limit in zip(prompts, most, strict=True)
        ]
        cache.reserve(self.rows + len(prompts), max(map(len, prompts)))
        # Prompts with the longest cached prefix come first, before it is overwritten.
        order = sorted(range(len(wanted)), key=lambda index: -self._longest_prefix(wanted[index])[1])
        lengths = {slot: self._fill_slot(slot, wanted[index]) for slot, index in enumerate(order, self.rows)}
        for slot, length in lengths.items():
            del cache.tokens[slot][length:]
        slots = [self.rows + order.index(index) for index in range(len(prompts))]
        common = common_prefix_length(*wanted)
        if self._reuses_prefixes and len(prompts) > 1 and common > min(lengths.values()):
            for _ in self._read_prompts(slots[:1], [prompts[0][:common]]):
                pass
            for slot in slots[1:]:
                if len(cache.tokens[slot]) < common:
                    cache.copy(slots[0], slot, common)
        return slots

    def _fill_slot(self, slot: int, prompt: list[int]) -> int:
        """Fill a slot with the cached beginning of a prompt, and return its length.

        A conversation that continues keeps its slot; another takes the slot that was least recently used.
        """
        cache = self._cache
        source, length = self._longest_prefix(prompt)
        if source < slot or 2 * length < len(cache.tokens[source]):
            if len(cache.tokens) < KEPT and all(cache.tokens[slot:]):
                cache.reserve(len(cache.tokens) + 1)
            oldest = min(range(slot, len(cache.tokens)), key=cache.used.__getitem__)
            cache.swap(oldest, slot)
            source = {slot: oldest, oldest: slot}.get(source, source)
            if source != slot:
                cache.copy(source, slot, length)
        else:
            cache.swap(source, slot)
        cache.used[slot] = self._clock = self._clock + 1
        return length

    def _longest_prefix(self, prompt: list[int]) -> tuple[int, int]:
        """Return the slot with the longest common prefix with a prompt, and the length of the prefix."""
        if not self._reuses_prefixes:
            return 0, 0
        lengths = [
            0 if self._is_beyond_switch(len(held)) else common_prefix_length(prompt, held)
            for held in self._cache.tokens
        ]
        return max(enumerate(lengths), key=lambda found: found[1])

    def _read_prompts(self, slots: Sequence[int], prompts: Sequence[Sequence[int]]) -> Iterator[tuple[list[int], Any]]:
        """Read what slots lack of their prompts, in passes of a limited number of tokens.

        Yields the indices of the prompts in each pass, and their last logits.
        """
        held = self._cache.tokens
        for slot, prompt in zip(slots, prompts, strict=True):
            most = self._pass_tokens
            if self._is_beyond_switch(len(prompt)):
                most = max(most, 1 + (self._switch or 0) - len(held[slot]))
            while len(prompt) - len(held[slot]) > most:
                self._forward_slots([slot], [prompt[len(held[slot]) :][:most]])
                most = self._pass_tokens
        rests = [prompt[len(held[slot]) :] for slot, prompt in zip(slots, prompts, strict=True)]
        # Rests of similar length share a pass, which keeps padding small.
        order = sorted(range(len(rests)), key=lambda index: len(rests[index]))
        while order:
            count = 1
            while count < len(order) and len(rests[order[count]]) * (count + 1) <= self._pass_tokens:
                count += 1
            part, order = sorted(order[:count], key=slots.__getitem__), order[count:]
            yield part, self._forward_slots([slots[index] for index in part], [rests[index] for index in part])

    def _forward_slots(self, slots: Sequence[int], tokens: Sequence[Sequence[int]], shared: int = 0) -> Any:
        """Read the next tokens of some slots, and return the logits of the last ones."""
        held = self._cache.tokens
        tokens = list(tokens)
        for index, (slot, own) in enumerate(zip(slots, tokens, strict=True)):
            if self._is_beyond_switch(len(held[slot]) + len(own)) and not self._is_beyond_switch(len(held[slot])):
                tokens[index] = [*held[slot], *own]
                held[slot].clear()
        ends = [len(held[slot]) + len(own) for slot, own in zip(slots, tokens, strict=True)]
        parts = self._group_rows(ends)
        if len(parts) == 1:
            return self._forward_padded(slots, tokens, shared)
        logits: dict[int, Any] = {}
        for part in parts:
            read = self._forward_padded([slots[index] for index in part], [tokens[index] for index in part])
            logits |= zip(part, read, strict=True)
        return torch.stack([logits[index] for index in range(len(slots))])

    def _group_rows(self, ends: Sequence[int]) -> list[list[int]]:
        """Return which rows are read in each pass, as indices.

        Args:
            ends: Number of tokens that each row will hold.
        """
        if not self.ways.batches:
            return [[index] for index in range(len(ends))]
        parts: dict[bool, list[int]] = {}
        for index, end in enumerate(ends):
            parts.setdefault(self._is_beyond_switch(end), []).append(index)
        return list(parts.values())

    def _forward_padded(self, slots: Sequence[int], tokens: Sequence[Sequence[int]], shared: int = 0) -> Any:
        """Run one forward pass over the next tokens of some slots, padded on the left; return the last logits."""
        width = max(map(len, tokens))
        pads = [width - len(own) for own in tokens]
        positions = self._cache.prepare_pass(slots, pads, width)
        self._cache.layout.shared = shared
        ids = [[0] * pad + list(own) for pad, own in zip(pads, tokens, strict=True)]
        columns = torch.arange(self._cache.layout.end, device=positions.device)
        logits = self._forward(ids, positions, columns, columns <= positions.unsqueeze(-1), 1)
        for slot, own in zip(slots, tokens, strict=True):
            self._cache.tokens[slot] += own
        return logits

    def _forward_tree(self, slot: int, tree: TokenTree) -> Any:
        """Return the logits of all nodes of a tree after the content of a slot, which keeps the trunk."""
        start, device = len(self._cache.tokens[slot]), self.model.device
        self._cache.prepare_pass([slot], [0], len(tree.tokens))
        positions = start + torch.tensor([tree.depths], device=device)
        columns = torch.cat([torch.arange(start, device=device), positions[0]])
        seen = torch.ones(1, len(tree.tokens), len(columns), dtype=torch.bool, device=device)
        seen[0, :, start:] = torch.tensor(tree_visibility(tree.parents), device=device)
        logits = self._forward([tree.tokens], positions, columns, seen, len(tree.tokens))[0]
        self._cache.tokens[slot] += tree.tokens[: tree.trunk]
        return logits

    def _forward(self, ids: Sequence[Sequence[int]], positions: Any, columns: Any, seen: Any, keep: int) -> Any:
        """Run one forward pass over tokens for which the cache has room.

        Args:
            ids: Token ids, shape (rows, tokens).
            positions: Positions of the tokens in their texts, same shape.
            columns: Position of the token in each column of the cache, shape (columns,).
            seen: Which columns a token may attend to, shape (rows, tokens, columns).
            keep: Number of last tokens whose logits are returned.
        """
        if self.ways.masks:
            lowest = float("-inf")
            mask = additive_masks(self._windows, positions, columns, seen, self.model.dtype, lowest)
        else:
            mask = torch.ones(1, len(columns), dtype=torch.long, device=self.model.device)
        return self.model(
            input_ids=torch.tensor(ids, device=self.model.device),
            position_ids=positions,
            attention_mask=mask,
            use_cache=True,
            logits_to_keep=keep,
            **{self.cache_name: self._cache},
            **({"key_values": self._cache} if self._split else {}),
        ).logits

    def _split_texts(
        self, prompt: Sequence[int], texts: Sequence[Sequence[int]], most: int
    ) -> Iterator[list[Sequence[int]]]:
        """Split texts, in order, into parts of at most ``most`` tokens; a longer text is a part by itself."""
        part: list[Sequence[int]] = []
        for text in texts:
            is_full = sum(map(len, part)) + len(text) > most
            ends = [self._is_beyond_switch(len(prompt) + len(each) - 1) for each in (text, *part[:1])]
            if part and (is_full or len(set(ends)) > 1):
                yield part
                part = []
            part.append(text)
        if part:
            yield part

    def _is_beyond_switch(self, length: int) -> bool:
        """Whether a text of this length is encoded differently from shorter ones; see ``longrope_switch``."""
        return self._switch is not None and length > self._switch

    @property
    def _reuses_prefixes(self) -> bool:
        return self.reuse_prefix and self.ways.holds

    def _update_shared_columns(self) -> None:
        """Update the number of leading columns that all rows share."""
        rows = self._cache.tokens[: self.rows]
        shares = self._split and self._reuses_prefixes and len(rows) > 1
        self._shared = common_prefix_length(*rows) if shares else 0
