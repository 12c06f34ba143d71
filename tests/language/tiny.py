"""A model of random weights with a tokenizer of its own, small enough to be made in a test."""

import json
from pathlib import Path
from typing import Any, Literal

WORDS = (
    "go to look at pick up place on mission complete step kitchen bedroom counter table shelf mug plate book 0123456789"
)
SPECIAL = ["<unk>", "<|end|>"]


def save_tiny_model(
    folder: Path, kind: Literal["bytes", "words"] = "bytes", positions: int = 2048, seed: int = 0
) -> Path:
    """Make a model that LocalChatModel opens.

    Args:
        folder: where it goes.
        kind: whether tokens are of bytes, as in GPT-2 and SmolLM2, or of words led by a mark with single bytes to fall
            back on, as in Llama 2.
        positions: how many tokens it reads.
        seed: of its weights.
    """
    import torch
    import transformers

    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=_bytes() if kind == "bytes" else _words(), eos_token=SPECIAL[1], unk_token=SPECIAL[0]
    )
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        # More than the tokenizer has, as in models whose vocabulary was rounded up.
        vocab_size=len(tokenizer) + 5,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=positions,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _bytes() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator([WORDS] * 10, trainer)
    return made


def _words() -> Any:
    from tokenizers import Tokenizer, decoders, models, normalizers

    pieces = sorted({f"▁{word}"[:length] for word in WORDS.split() for length in range(1, 9)} | set("▁:") | set(WORDS))
    tokens = [*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256)), *pieces]
    made = Tokenizer(models.BPE(dict(zip(tokens, range(len(tokens)), strict=True)), [], byte_fallback=True))
    made.normalizer = normalizers.Replace(" ", "▁")
    made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return made


def change_json(path: Path, **changes: object) -> None:
    """Change some keys of a JSON object in a file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def save_tiny_adapter(model: Path, folder: Path, seed: int = 0) -> Path:
    """Make a random LoRA adapter of a model, saved by PEFT.

    Args:
        model: folder of save_tiny_model.
        folder: where it goes.
        seed: of its weights.
    """
    import peft
    import torch
    import transformers

    network = transformers.AutoModelForCausalLM.from_pretrained(model)
    torch.manual_seed(seed)
    config = peft.LoraConfig(r=2, target_modules=["q_proj", "v_proj"], init_lora_weights=False, task_type="CAUSAL_LM")
    peft.get_peft_model(network, config).save_pretrained(folder, save_embedding_layers=False)
    return folder
