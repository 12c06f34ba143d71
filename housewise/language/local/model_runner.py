"""Reads prompts and writes replies with a causal language model: many rows at once, what they share once.

It needs torch and transformers, and is imported when a model is opened.
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
from housewise.language.local.token_tree import TokenTree

ATTENTION = "housewise_shared_prefix"

# Tokens of prompts read in one forward pass. More gain a CPU nothing but padding; other devices want PASS_FACTOR more.
READ_TOKENS = 1024
PASS_FACTOR = 16
# Conversations that go on by turns, each read where it was left.
KEPT = 16
# Scoring keeps the logits of every token, a vocabulary each.
SCORE_TOKENS = 1024
# As many tokens of a prompt are read together with what is scored behind it.
TRUNK_TOKENS = 32


def check_architecture(model: Any) -> None:
    """Check that what a model keeps of the tokens it has read are their keys and values.

    Raises:
        ValueError: when it carries a recurrent state, or has attention of a kind that is not known here.
    """
    config = model.config.get_text_config()
    # Architectures with a recurrent state may have none in this model; then it lists its layers.
    listed = set(getattr(config, "layer_types", None) or ["unknown"])
    may_carry = getattr(model, "_is_stateful", False) and not listed <= KNOWN_ATTENTION
    if may_carry or not all(isinstance(layer, DynamicLayer) for layer in DynamicCache(config=model.config).layers):
        raise ValueError(f"a {model.config.model_type} model keeps a recurrent state between tokens")
    attention_windows(config)


class ModelRunner:
    """Runs a causal language model over many rows at once, each at a place of its own in its text.

    Rows come and go while others are being written. A slot keeps what it holds after its row is dropped, until another
    row needs the room; a new prompt that begins like what some slot holds is read only from where they part.

    Args:
        model: a transformers causal language model.
        reuse_prefix: read what prompts share once.

    Attributes:
        rows: how many rows are being written; they are in the first slots.
        ways: what may be computed together; measured at the first use of a model.
        cache_name: the model's argument for what it has read.

    Raises:
        ValueError: when the model carries a recurrent state, which cannot be shared between prompts, or has attention
            of a kind that is not known here or comes to other results here than in transformers.
    """

    def __init__(self, model: Any, reuse_prefix: bool = True) -> None:
        check_architecture(model)
        self.model = model
        self.reuse_prefix = reuse_prefix
        # As transformers called it before 5.24.
        takes = inspect.signature(model.forward).parameters
        self.cache_name = "cache" if "cache" in takes else "past_key_values"
        config = model.config.get_text_config()
        self._windows, self._switch = attention_windows(config), longrope_switch(config)
        self._split = model.config.model_type in PLAIN_ATTENTION and not any(self._windows.values())
        if self._split:
            AttentionInterface.register(ATTENTION, shared_prefix_attention)
            AttentionMaskInterface.register(ATTENTION, sdpa_mask)
            model.set_attn_implementation(ATTENTION)
        # A CPU takes 50 times as long, or more, for the last columns of rows in bfloat16 as for a copy of them: it
        # copies the weights. Those of one row say that they are contiguous, but have the strides of all columns.
        model.get_output_embeddings().register_forward_pre_hook(
            lambda _, inputs: (inputs[0].clone(memory_format=torch.contiguous_format),)
        )
        self._pass_tokens = READ_TOKENS if model.device.type == "cpu" else READ_TOKENS * PASS_FACTOR
        self.ways = possible_batching(config, takes)
        self.forget()
        with torch.inference_mode():
            self.ways = supported_batching(self)
        self.forget()

    def forget(self) -> None:
        """Drop all rows and what has been read."""
        self._cache = KVCache(self.model.config.get_text_config().num_hidden_layers, self.model.device)
        self.rows = self._shared = self._clock = 0

    def admit(self, prompts: Sequence[Sequence[int]]) -> tuple[list[int], Any]:
        """Read prompts into new rows behind those being written.

        Args:
            prompts: token ids, none empty; equal ones are read once.

        Returns:
            Which of the prompts each new row holds, as an index, and the logits of each new row's next token.
        """
        equal: dict[tuple[int, ...], list[int]] = {}
        for index, prompt in enumerate(prompts):
            equal.setdefault(tuple(prompt), []).append(index)
        whole = list(map(list, equal))
        slots = self._hold(whole, [len(prompt) - 1 for prompt in whole])
        logits: dict[int, Any] = {}
        for part, read in self._read(slots, whole, self._pass_tokens, keep=1):
            logits |= zip((slots[index] for index in part), read[:, -1], strict=True)
        holds = {slot: same[0] for slot, same in zip(slots, equal.values(), strict=True)}
        self._cache.reserve(self.rows + len(prompts))
        for slot, same in zip(slots, equal.values(), strict=True):
            for index in same[1:]:
                twin = self.rows + len(holds)
                self._cache.copy(slot, twin, len(prompts[index]))
                holds[twin], logits[twin] = index, logits[slot]
        self.rows += len(holds)
        self._share()
        rows = sorted(holds)
        return [holds[slot] for slot in rows], torch.stack([logits[slot] for slot in rows])

    def step(self, tokens: Sequence[Sequence[int]]) -> Any:
        """Append tokens to every row.

        Args:
            tokens: one or several for each row.

        Returns:
            The logits of each row's next token.
        """
        return self._run(range(self.rows), tokens, keep=1, shared=self._shared)[:, -1]

    def drop(self, row: int) -> None:
        """End a row; the last row moves to its place."""
        self.rows -= 1
        if row < self.rows:
            self._cache.swap(row, self.rows)
        self._share()

    def clear(self) -> None:
        """Drop what has been read, but for the rows being written."""
        if not self.rows:
            # What is read next is then computed as in a model that was just opened, to the last digit.
            self.forget()
        for held in self._cache.tokens[self.rows :]:
            held.clear()

    def score(self, prompt: Sequence[int], continuations: Sequence[Sequence[int]]) -> list[list[float]]:
        """Log-probability of every token of each continuation of one prompt.

        Args:
            prompt: token ids, not empty.
            continuations: token ids, none empty.

        Returns:
            For each continuation its tokens' natural-log probabilities.
        """
        most = SCORE_TOKENS if self.ways.trees else 0
        return [score for part in self._parts(prompt, continuations, most) for score in self._score(list(prompt), part)]

    def _score(self, prompt: list[int], continuations: Sequence[Sequence[int]]) -> list[list[float]]:
        """Scores of as many continuations as one pass takes."""
        switches = self._is_beyond(self._read_length(prompt, continuations[0]))
        (slot,) = self._hold([prompt], [0 if switches else len(prompt) - 1])
        held = self._cache.tokens[slot]
        # A few tokens are read with the tree: on a CPU it is weights that take the time of a pass so short.
        if len(prompt) - 1 - len(held) > TRUNK_TOKENS and (not switches or self._is_beyond(len(prompt) - 1)):
            for _ in self._read([slot], [prompt[:-1]], self._pass_tokens, keep=1):
                pass
        tree = TokenTree.of(prompt[len(held) :], continuations)
        logprobs = self._branch(slot, tree).float().log_softmax(-1)
        if switches:
            held.clear()
        return [
            logprobs[nodes, torch.tensor(tokens, device=logprobs.device)].tolist()
            for nodes, tokens in zip(tree.paths, continuations, strict=True)
        ]

    def _hold(self, prompts: Sequence[list[int]], most: Sequence[int]) -> list[int]:
        """Give each prompt one of the slots behind the rows, holding as much of it as has been read, up to the most."""
        cache = self._cache
        # Nothing that is held serves a prompt beyond the length up to which it was read.
        wanted = [
            prompt[: 0 if self._is_beyond(len(prompt)) else limit] for prompt, limit in zip(prompts, most, strict=True)
        ]
        cache.reserve(self.rows + len(prompts), max(map(len, prompts)))
        # Those of which most has been read come first, before what they need is written over.
        order = sorted(range(len(wanted)), key=lambda index: -self._longest(wanted[index])[1])
        lengths = {slot: self._place(slot, wanted[index]) for slot, index in enumerate(order, self.rows)}
        for slot, length in lengths.items():
            del cache.tokens[slot][length:]
        slots = [self.rows + order.index(index) for index in range(len(prompts))]
        common = _common_prefix_length(*wanted)
        if self._holds and len(prompts) > 1 and common > min(lengths.values()):
            for _ in self._read(slots[:1], [prompts[0][:common]], self._pass_tokens, keep=1):
                pass
            for slot in slots[1:]:
                if len(cache.tokens[slot]) < common:
                    cache.copy(slots[0], slot, common)
        return slots

    def _place(self, slot: int, prompt: list[int]) -> int:
        """Have a slot hold the beginning of a prompt, as much as has been read; how many tokens that is.

        A conversation that goes on takes its slot along; another begins in the one that was not used for longest.
        """
        cache = self._cache
        source, length = self._longest(prompt)
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

    def _longest(self, prompt: list[int]) -> tuple[int, int]:
        """The slot that holds most of the beginning of a prompt, and how many tokens that is."""
        if not self._holds:
            return 0, 0
        lengths = [
            0 if self._is_beyond(len(held)) else _common_prefix_length(prompt, held) for held in self._cache.tokens
        ]
        return max(enumerate(lengths), key=lambda found: found[1])

    def _read(
        self, slots: Sequence[int], prompts: Sequence[Sequence[int]], budget: int, keep: int
    ) -> Iterator[tuple[list[int], Any]]:
        """Read what slots do not hold yet of their prompts, as many at once as the budget of tokens allows.

        Yields the prompts of each pass, as indices, and their last logits.
        """
        held = self._cache.tokens
        for slot, prompt in zip(slots, prompts, strict=True):
            most = budget
            if self._is_beyond(len(prompt)):
                most = max(budget, 1 + (self._switch or 0) - len(held[slot]))
            while len(prompt) - len(held[slot]) >= most + keep:
                self._run([slot], [prompt[len(held[slot]) :][:most]], keep=1)
                most = budget
        rests = [prompt[len(held[slot]) :] for slot, prompt in zip(slots, prompts, strict=True)]
        # Rests of like length in one pass, so that it holds little padding.
        order = sorted(range(len(rests)), key=lambda index: len(rests[index]))
        while order:
            count = 1
            while count < len(order) and len(rests[order[count]]) * (count + 1) <= budget:
                count += 1
            part, order = sorted(order[:count], key=slots.__getitem__), order[count:]
            yield part, self._run([slots[index] for index in part], [rests[index] for index in part], keep)

    def _run(self, slots: Sequence[int], tokens: Sequence[Sequence[int]], keep: int, shared: int = 0) -> Any:
        """Read what comes next in some slots; the logits of its last tokens."""
        held = self._cache.tokens
        tokens = list(tokens)
        for index, (slot, own) in enumerate(zip(slots, tokens, strict=True)):
            if self._is_beyond(len(held[slot]) + len(own)) and not self._is_beyond(len(held[slot])):
                tokens[index] = [*held[slot], *own]
                held[slot].clear()
        ends = [len(held[slot]) + len(own) for slot, own in zip(slots, tokens, strict=True)]
        parts = self._passes(ends)
        if len(parts) == 1:
            return self._pass(slots, tokens, keep, shared)
        logits: dict[int, Any] = {}
        for part in parts:
            read = self._pass([slots[index] for index in part], [tokens[index] for index in part], keep)
            logits |= zip(part, read, strict=True)
        return torch.stack([logits[index] for index in range(len(slots))])

    def _passes(self, ends: Sequence[int]) -> list[list[int]]:
        """Which rows are read together, as indices.

        Args:
            ends: how many tokens each row then holds.
        """
        if not self.ways.batches:
            return [[index] for index in range(len(ends))]
        parts: dict[bool, list[int]] = {}
        for index, end in enumerate(ends):
            parts.setdefault(self._is_beyond(end), []).append(index)
        return list(parts.values())

    def _pass(self, slots: Sequence[int], tokens: Sequence[Sequence[int]], keep: int, shared: int = 0) -> Any:
        """One forward pass over what comes next in some slots, padded on the left; the logits of its last tokens."""
        width = max(map(len, tokens))
        pads = [width - len(own) for own in tokens]
        positions = self._cache.aim(slots, pads, width)
        self._cache.place.shared = shared
        ids = [[0] * pad + list(own) for pad, own in zip(pads, tokens, strict=True)]
        columns = torch.arange(self._cache.place.end, device=positions.device)
        logits = self._forward(ids, positions, columns, columns <= positions.unsqueeze(-1), keep)
        for slot, own in zip(slots, tokens, strict=True):
            self._cache.tokens[slot] += own
        return logits

    def _branch(self, slot: int, tree: TokenTree) -> Any:
        """One forward pass over a tree behind what a slot holds, which keeps the trunk; the logits of every node."""
        start, device = len(self._cache.tokens[slot]), self.model.device
        self._cache.aim([slot], [0], len(tree.tokens))
        positions = start + torch.tensor([tree.depths], device=device)
        columns = torch.cat([torch.arange(start, device=device), positions[0]])
        seen = torch.ones(1, len(tree.tokens), len(columns), dtype=torch.bool, device=device)
        seen[0, :, start:] = torch.tensor(tree.seen(), device=device)
        logits = self._forward([tree.tokens], positions, columns, seen, len(tree.tokens))[0]
        self._cache.tokens[slot] += tree.tokens[: tree.trunk]
        return logits

    def _forward(self, ids: Sequence[Sequence[int]], positions: Any, columns: Any, seen: Any, keep: int) -> Any:
        """One forward pass over tokens for which there is room in the cache.

        Args:
            ids: of the tokens, shape (rows, tokens).
            positions: where in their texts they are, the same shape.
            columns: where in its text the token of each column of the cache is, shape (columns,).
            seen: which columns a token may look at, shape (rows, tokens, columns).
            keep: of how many of the last tokens logits are kept.
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

    def _parts(self, prompt: Sequence[int], texts: Sequence[Sequence[int]], most: int) -> Iterator[list[Sequence[int]]]:
        """Texts in their order, as many at a time as have the most tokens together, or a longer one by itself."""
        part: list[Sequence[int]] = []
        for text in texts:
            is_full = sum(map(len, part)) + len(text) > most
            ends = [self._is_beyond(self._read_length(prompt, each)) for each in (text, *part[:1])]
            if part and (is_full or len(set(ends)) > 1):
                yield part
                part = []
            part.append(text)
        if part:
            yield part

    def _is_beyond(self, length: int) -> bool:
        """Whether a text so long is read in another way than shorter ones; see rope_switch."""
        return self._switch is not None and length > self._switch

    @staticmethod
    def _read_length(prompt: Sequence[int], text: Sequence[int]) -> int:
        """How many tokens are read to tell how likely a text is behind a prompt."""
        return len(prompt) + len(text) - 1

    @property
    def _holds(self) -> bool:
        return self.reuse_prefix and self.ways.holds

    def _share(self) -> None:
        """See how many columns all rows have in common."""
        rows = self._cache.tokens[: self.rows]
        shares = self._split and self._holds and len(rows) > 1
        self._shared = _common_prefix_length(*rows) if shares else 0


def _common_prefix_length(one: list[int], *others: list[int]) -> int:
    """How many leading tokens are the same in all of some sequences."""
    low, high = 0, min(map(len, (one, *others)))
    while low < high:
        middle = (low + high + 1) // 2
        if all(one[low:middle] == other[low:middle] for other in others):
            low = middle
        else:
            high = middle - 1
    return low
