"""Estimates the memory of a GPU that training and serving a model need, and the time of a training, from its shape.

The estimates follow what PEFT, TRL and transformers keep for models like Llama: layers of attention with rotary
positions and a gated feed-forward network. They are pure functions of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

GIB = 2**30
_ADAM_BYTES = 16
"""A trained weight in float32, its gradient, and Adam's two averages."""
# NF4 with double quantisation: 4 bits, 8 bits for every 64 weights, and 32 bits for every 256 of these.
_NF4_BYTES = 0.5 + 1 / 64 + 4 / (64 * 256)
_RESERVE = 1 * GIB
"""What CUDA, its libraries and unused parts of allocated blocks take."""
_FRAGMENTATION = 0.1
_SERVER_RESERVE = 3 * GIB
"""vLLM's own peak while it reads a batch of prompts, with its graphs."""
_RANK = 32
"""Rank of an adapter by default."""
SERVER_SHARE = 0.9
"""Share of the memory that vLLM takes by default (--gpu-memory-utilization)."""


@dataclass(frozen=True)
class ModelShape:
    """What the estimates need to know of a model.

    Attributes:
        parameters: Number of all weights.
        layers: Number of layers.
        hidden: Width of the hidden states.
        intermediate: Width of the feed-forward network.
        query: Width of all query heads together.
        key_value: Width of all heads of keys together, which is that of values.
        vocabulary: Number of tokens in the vocabulary.
        is_tied: Whether the vocabulary has one matrix for reading and writing.
    """

    parameters: int
    layers: int
    hidden: int
    intermediate: int
    query: int
    key_value: int
    vocabulary: int
    is_tied: bool = False

    @classmethod
    def from_config(cls, config: Any, parameters: int | None = None) -> ModelShape:
        """Return the shape that a configuration of transformers describes.

        Args:
            config: Configuration of the text model.
            parameters: Number of all weights; by default that of a model like Llama.
        """
        hidden, heads = config.hidden_size, config.num_attention_heads
        width = getattr(config, "head_dim", None) or hidden // heads
        shape = cls(
            parameters=parameters or 0,
            layers=config.num_hidden_layers,
            hidden=hidden,
            intermediate=getattr(config, "intermediate_size", None) or 4 * hidden,
            query=heads * width,
            key_value=(getattr(config, "num_key_value_heads", None) or heads) * width,
            vocabulary=config.vocab_size,
            is_tied=bool(config.tie_word_embeddings),
        )
        return shape if parameters else cls(**{**vars(shape), "parameters": shape.counted_parameters})

    @property
    def counted_parameters(self) -> int:
        """Number of weights of a model like Llama with this shape."""
        matrices = sum(before * after for before, after in self.matrices.values())
        return self.layers * (matrices + 2 * self.hidden) + self.hidden + self.vocabulary_parameters

    @property
    def vocabulary_parameters(self) -> int:
        """Number of weights that belong to the vocabulary, which adapters and quantisation leave out."""
        return self.vocabulary * self.hidden * (1 if self.is_tied else 2)

    @property
    def matrices(self) -> dict[str, tuple[int, int]]:
        """Widths of what the matrices of a layer read and write, by their usual names."""
        hidden, between = self.hidden, self.intermediate
        return {
            "q_proj": (hidden, self.query),
            "k_proj": (hidden, self.key_value),
            "v_proj": (hidden, self.key_value),
            "o_proj": (self.query, hidden),
            "gate_proj": (hidden, between),
            "up_proj": (hidden, between),
            "down_proj": (between, hidden),
        }


@dataclass(frozen=True)
class TrainingLoad:
    """What a training computes at once, and in which form.

    Attributes:
        tokens: Tokens of a pass.
        learned_tokens: Those of them that are learned, whose logits are kept.
        weight_bytes: Bytes of a weight: 2 in bfloat16 and float16, 4 in float32.
        is_quantized: Whether the weights have 4 bits.
        is_checkpointed: Whether activations are computed again.
        rank: Rank of the adapter; 0 trains all weights.
        targets: Layers that get an adapter.
        has_reference: Whether a copy of the adapter is kept, as for DPO.
    """

    tokens: int
    learned_tokens: int
    weight_bytes: int = 2
    is_quantized: bool = False
    is_checkpointed: bool = False
    rank: int = _RANK
    targets: str | Sequence[str] = "all-linear"
    has_reference: bool = False


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes of a GPU's memory.

    Attributes:
        weights: The model's own.
        trained: Trained weights with gradients and the optimiser's averages; a server's adapters.
        activations: What a pass keeps; a server's keys and values.
        logits: Those of the learned tokens with their gradient.
        reserve: What libraries take.
    """

    weights: float
    trained: float
    activations: float
    logits: float = 0.0
    reserve: float = 0.0

    @property
    def total(self) -> float:
        """All of it."""
        return self.weights + self.trained + self.activations + self.logits + self.reserve


def estimate_training_memory(shape: ModelShape, load: TrainingLoad) -> MemoryEstimate:
    """Estimate the peak of a training's memory on one GPU."""
    adapter = adapter_parameters(shape, load.rank, load.targets)
    trained = _ADAM_BYTES * (adapter if load.rank else shape.parameters)
    activations = load.tokens * _activation_bytes(shape, load)
    # In half precision logits and their gradient exist there and in float32; beside them the softmax and its gradient.
    per_logit = 12 if load.weight_bytes == 4 else 16
    return MemoryEstimate(
        weights=_weight_bytes(shape, load.weight_bytes, load.is_quantized) if load.rank else 0.0,
        trained=trained + (4 * adapter if load.has_reference else 0),
        activations=activations,
        logits=load.learned_tokens * shape.vocabulary * per_logit,
        reserve=_RESERVE + _FRAGMENTATION * activations,
    )


def estimate_serving_memory(
    shape: ModelShape, context: int, cards: int = 1, is_quantized: bool = False
) -> MemoryEstimate:
    """Estimate the least memory that a vLLM server needs on each card, for one prompt with its reply at a time.

    Args:
        shape: The model.
        context: Tokens of the prompt with its reply (--max-model-len). More replies at once need more.
        cards: Number of cards among which the model is divided (--tensor-parallel-size).
        is_quantized: Whether the server keeps the weights in 4 bits.
    """
    adapter = 2 * adapter_parameters(shape, _RANK)
    cache = 2 * 2 * shape.layers * shape.key_value * context
    weights = _weight_bytes(shape, 2, is_quantized)
    return MemoryEstimate(weights / cards, adapter / cards, cache / cards, reserve=_SERVER_RESERVE)


def training_flops(shape: ModelShape, tokens: int, is_checkpointed: bool) -> float:
    """Return the floating-point operations of training an adapter: per weight, forward 2 and inputs' gradients 2.

    The frozen model needs no gradients of its weights; checkpointing computes the forward pass twice.
    """
    passes = 3 if is_checkpointed else 2
    return 2.0 * passes * shape.parameters * tokens


def adapter_parameters(shape: ModelShape, rank: int, targets: str | Sequence[str] = "all-linear") -> int:
    """Return the number of weights of a LoRA adapter."""
    return shape.layers * rank * sum(map(sum, _adapted(shape, targets).values()))


def _adapted(shape: ModelShape, targets: str | Sequence[str]) -> dict[str, tuple[int, int]]:
    chosen = {name: widths for name, widths in shape.matrices.items() if name in targets}
    # Other names, such as those of fused matrices, count as all.
    return chosen or shape.matrices


def _weight_bytes(shape: ModelShape, weight_bytes: int, is_quantized: bool) -> float:
    if not is_quantized:
        return float(shape.parameters * weight_bytes)
    matrices = shape.parameters - shape.vocabulary_parameters
    # One matrix at a time is computed in half precision.
    largest = max(before * after for before, after in shape.matrices.values())
    return matrices * _NF4_BYTES + (shape.vocabulary_parameters + largest) * weight_bytes


def _activation_bytes(shape: ModelShape, load: TrainingLoad) -> float:
    """Return the bytes that a token's activations take at the peak."""
    hidden, between, size = shape.hidden, shape.intermediate, load.weight_bytes
    # The layers' sums in float32 for both norms, queries, keys, values and outputs of attention, and three of the
    # feed-forward network.
    layer = 2 * 4 * hidden + size * (2 * shape.query + 2 * shape.key_value + 3 * between)
    adapted = _adapted(shape, load.targets) if load.rank else shape.matrices
    if load.rank and size < 4:
        # Each adapter converts its input to float32 for itself.
        layer += sum(4 * before for before, _ in adapted.values())
    else:
        # Matrices that read the same share it.
        shared = {"k_proj": "q_proj", "v_proj": "q_proj", "up_proj": "gate_proj"}
        layer += size * sum(shape.matrices[name][0] for name in {shared.get(name, name) for name in adapted})
    layer += 4 * load.rank * len(adapted)
    # What a layer's backward pass computes before it frees what the layer has kept.
    passing = 3 * 4 * between
    if load.is_checkpointed:
        return shape.layers * size * hidden + layer + passing
    return shape.layers * layer + passing
