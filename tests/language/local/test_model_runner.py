"""Reading and writing in batches, against transformers' own generate, on small random networks."""

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from housewise.language.base import ChatModelError  # noqa: E402
from housewise.language.local.architecture import PLAIN_ATTENTION  # noqa: E402
from housewise.language.local.kv_cache import attention_with_logsumexp, eager_attention_with_logsumexp  # noqa: E402
from housewise.language.local.model_runner import ModelRunner  # noqa: E402
from housewise.language.local.token_sampling import sample_tokens  # noqa: E402
from tests.language.architectures import VOCABULARY, network, tokens  # noqa: E402

KINDS = (
    *("llama", "qwen2", "qwen3", "olmo2", "phi3", "smollm3", "stablelm", "mistral", "mistral with a window"),
    *("gemma", "gemma 2", "granitemoehybrid without a recurrent state", "gpt2"),
)


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    with torch.inference_mode():
        yield


def generated(model: Any, prompt: list[int], count: int) -> list[int]:
    """What transformers writes."""
    ids = torch.tensor([prompt])
    options = {"max_new_tokens": count, "min_new_tokens": count, "do_sample": False, "pad_token_id": 0}
    written: list[int] = model.generate(ids, attention_mask=torch.ones_like(ids), **options)[0, len(prompt) :].tolist()
    return written


def written(
    reader: ModelRunner, prompts: list[list[int]], copies: list[int], counts: list[int]
) -> list[list[list[int]]]:
    """What the reader writes: for each prompt its copies, each of the prompt's count of tokens."""
    which = [index for index, count in enumerate(copies) for _ in range(count)]
    order, logits = reader.add_rows([prompts[index] for index in which])
    active: list[tuple[int, list[int]]] = [(which[index], []) for index in order]
    done: list[list[list[int]]] = [[] for _ in prompts]
    while active:
        logits[:, 2] = float("-inf")
        for (_, text), token in zip(active, logits.argmax(-1).tolist(), strict=True):
            text.append(token)
        for slot in reversed(range(len(active))):
            prompt, text = active[slot]
            if len(text) == counts[prompt]:
                done[prompt].append(text)
                reader.remove_row(slot)
                active[slot] = active[-1]
                active.pop()
        if active:
            assert reader.rows == len(active)
            logits = reader.append_tokens([[text[-1]] for _, text in active])
    return done


def test_every_fast_architecture_is_tested() -> None:
    assert set(KINDS) >= PLAIN_ATTENTION


def test_a_kept_prefix_serves_every_later_prompt() -> None:
    model = network("llama")
    reader, base = ModelRunner(model), tokens(40, seed=1)
    for prompt in [base, base[:25] + tokens(9, 2), base[:10], base, base + tokens(5, 3), tokens(8, 4), base[:1]]:
        assert written(reader, [prompt], [1], [8]) == [[generated(model, prompt, 8)]]


def test_a_kept_prefix_is_not_read_again() -> None:
    model = network("llama")
    reader, base = ModelRunner(model), tokens(100, seed=1)
    read: list[int] = []
    model.register_forward_pre_hook(lambda _, args, kwargs: read.append(kwargs["input_ids"].numel()), with_kwargs=True)
    reader.add_rows([base + tokens(5, 2), base + tokens(3, 3)])
    assert sum(read) == 100 + 2 * 5
    read.clear()
    reader.add_rows([base + tokens(4, 4), base + tokens(4, 5)] * 8)
    assert sum(read) == 2 * 4
    reader.clear_cache()
    read.clear()
    reader.add_rows([base])
    assert sum(read) == 100


@pytest.mark.parametrize("reuse", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_come_and_go(kind: str, reuse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("housewise.language.local.kv_cache.GROWTH", 4)
    model, chance = network(kind), random.Random(0)
    reader, shared = ModelRunner(model, reuse), tokens(20, seed=1)
    waiting = [(shared[: chance.choice([0, 12, 20])] + tokens(1 + index, index), chance.randrange(1, 9))
               for index in range(14)]  # fmt: skip
    # Conversations that go on, and one that is asked again.
    waiting += [(waiting[3][0] + tokens(5, 30), 4), (waiting[9][0] + tokens(2, 31), 4), waiting[5]]
    wanted = [generated(model, prompt, count) for prompt, count in waiting]
    logits, active, texts = torch.empty(0, VOCABULARY), list[int](), [list[int]() for _ in waiting]
    ahead = list(range(len(waiting)))
    while ahead or active:
        count = chance.choice([1, 2, 3]) if len(active) < 4 else 0
        new, ahead = ahead[:count], ahead[count:]
        order, read = reader.add_rows([waiting[index][0] for index in new]) if new else ([], logits[:0])
        logits, active = torch.cat([logits, read]), active + [new[index] for index in order]
        logits[:, 2] = float("-inf")
        for index, token in zip(active, logits.argmax(-1).tolist(), strict=True):
            texts[index].append(token)
        for slot in reversed(range(len(active))):
            if len(texts[active[slot]]) == waiting[active[slot]][1]:
                reader.remove_row(slot)
                active[slot] = active[-1]
                active.pop()
        logits = reader.append_tokens([texts[index][-1:] for index in active]) if active else logits[:0]
    assert texts == wanted


def test_conversations_that_go_on_by_turns_are_not_read_again() -> None:
    model = network("llama")
    reader, begun = ModelRunner(model), [tokens(20, 1) + tokens(60, 10 + each) for each in range(3)]
    read: list[int] = []
    model.register_forward_pre_hook(lambda _, args, kwargs: read.append(kwargs["input_ids"].numel()), with_kwargs=True)
    for number in range(3):
        read.clear()
        for prompt in begun:
            reader.score(prompt, [[1, 2], [1, 3], [4]])
            prompt += [5 + number]
        # The prompt's end and the one token that two of the texts go on from.
        assert sum(read) == 3 * 2 + (20 + 3 * 60 - 3 if number == 0 else 0)


def test_a_conversation_that_goes_on_is_not_read_again() -> None:
    model = network("llama")
    reader, talks = ModelRunner(model), [tokens(60, seed=seed) for seed in range(3)]
    for _, text in zip(range(3), talks, strict=True):
        reader.add_rows([text])
    for _ in range(3):
        reader.remove_row(0)
    read: list[int] = []
    model.register_forward_pre_hook(lambda _, args, kwargs: read.append(kwargs["input_ids"].numel()), with_kwargs=True)
    reader.add_rows([talks[2] + tokens(3, 7), talks[0] + tokens(3, 8)])
    reader.add_rows([talks[1] + tokens(4, 9)])
    assert read == [2 * 3, 4]


def test_more_tokens_than_one_pass_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("housewise.language.local.model_runner.READ_TOKENS", 16)
    monkeypatch.setattr("housewise.language.local.kv_cache.GROWTH", 4)
    model = network("llama")
    prompts = [tokens(45, 1) + tokens(own, own) for own in (3, 11, 20, 5, 8)]
    wanted = [[generated(model, prompt, 12)] for prompt in prompts]
    assert written(ModelRunner(model), prompts, [1] * 5, [12] * 5) == wanted
    assert written(ModelRunner(model, reuse_prefix=False), prompts, [1] * 5, [12] * 5) == wanted


def test_attention_is_the_same_on_every_device() -> None:
    query, key, value = torch.randn(2, 3, 4, 8), torch.randn(2, 3, 9, 8), torch.randn(2, 3, 9, 8)
    mask = torch.zeros(2, 1, 1, 9).masked_fill_(torch.rand(2, 1, 1, 9) < 0.3, float("-inf"))
    for added in (None, mask):
        parts = zip(
            attention_with_logsumexp(query, key, value, added, 0.3),
            eager_attention_with_logsumexp(query, key, value, added, 0.3),
            strict=True,
        )
        for one, other in parts:
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("trunk", [4, 32])
@pytest.mark.parametrize("reuse", [True, False])
@pytest.mark.parametrize("kind", ["llama", "gemma 2"])
def test_scores_are_sums_of_log_probabilities(
    kind: str, reuse: bool, trunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("housewise.language.local.model_runner.TRUNK_TOKENS", trunk)
    monkeypatch.setattr("housewise.language.local.model_runner.SCORE_TOKENS", 30)
    model = network(kind)
    prompt, continuations = tokens(20, 1), [tokens(count, count) for count in (6, 1, 9, 3)]
    # Some begin alike, one is the beginning of another, and one is there twice.
    continuations += [[*continuations[0], 5], continuations[0][:3] + [7, 8], continuations[0][:2], continuations[1]]
    wanted = []
    for continuation in continuations:
        steps = model(torch.tensor([prompt + continuation])).logits[0].log_softmax(-1)[len(prompt) - 1 : -1]
        wanted.append(sum(float(step[token]) for step, token in zip(steps, continuation, strict=True)))
    steps = model(torch.tensor([prompt])).logits[0].log_softmax(-1)
    whole = sum(float(step[token]) for step, token in zip(steps, prompt[1:], strict=False))
    reader = ModelRunner(model, reuse)
    for _ in range(2):
        assert [sum(each) for each in reader.score(prompt, continuations)] == pytest.approx(wanted, abs=1e-3)
        # What a tree has left behind its trunk is not taken for what comes next.
        assert reader.score([*prompt, 5, 6], [[7]]) == [
            [pytest.approx(float(model(torch.tensor([[*prompt, 5, 6]])).logits[0, -1].log_softmax(-1)[7]), abs=1e-3)]
        ]
    assert [sum(each) for each in reader.score(prompt[:1], [prompt[1:]])] == pytest.approx([whole], abs=1e-3)


def test_draws_follow_the_distribution() -> None:
    probabilities = [0.5, 0.3, 0.15, 0.05]
    draws = [(index + 0.5) / 1000 for index in range(1000)]
    logits = torch.tensor([probabilities]).log().expand(1000, -1)
    chosen, logprobs = sample_tokens(logits, [1.0] * 1000, [1.0] * 1000, draws)
    assert Counter(chosen) == {0: 500, 1: 300, 2: 150, 3: 50}
    assert logprobs[-1] == pytest.approx(torch.tensor(0.05).log().item(), abs=1e-5)
    hotter, _ = sample_tokens(logits, [2.0] * 1000, [1.0] * 1000, draws)
    assert Counter(hotter)[3] > 100
    nucleus, _ = sample_tokens(logits, [1.0] * 1000, [0.7] * 1000, draws)
    assert Counter(nucleus) == {0: 625, 1: 375}


def test_rows_are_drawn_each_their_own_way() -> None:
    logits = torch.tensor([[2.0, 1.0, 0.0]] * 4)
    chosen, _ = sample_tokens(logits, [0.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.1, 1.0], [0.999, 0.999, 0.999, 0.0])
    assert chosen == [0, 2, 0, 0]


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.7, 1.0]), st.sampled_from([0.3, 0.9, 1.0]), st.floats(0, 0.999)),
             min_size=1, max_size=6),
    st.integers(0, 99),
)  # fmt: skip
def test_a_row_is_drawn_as_it_would_be_alone(rows: list[tuple[float, float, float]], seed: int) -> None:
    logits = torch.randn(len(rows), 12, generator=torch.Generator().manual_seed(seed))
    together, _ = sample_tokens(logits, *([row[part] for row in rows] for part in range(3)))
    alone = [
        sample_tokens(logits[index : index + 1], *([part] for part in row))[0][0] for index, row in enumerate(rows)
    ]
    assert together == alone


def test_tokens_of_no_weight_are_never_drawn() -> None:
    logits = torch.tensor([[float("-inf"), 0.0, float("-inf")]] * 2)
    assert sample_tokens(logits, [1.0, 1.0], [1.0, 0.5], [0.0, 1.0 - 1e-12])[0] == [1, 1]


def test_a_nucleus_wider_than_the_first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("housewise.language.local.token_sampling.NUCLEUS", 2)
    draws = [(index + 0.5) / 100 for index in range(100)]
    chosen, _ = sample_tokens(torch.zeros(100, 8), [1.0] * 100, [0.99] * 100, draws)
    assert len(set(chosen)) == 8


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_logits_that_are_no_numbers_are_told_in_a_line(temperature: float) -> None:
    logits = torch.zeros(2, 5)
    logits[1, 3] = float("nan")
    with pytest.raises(ChatModelError, match="not finite numbers"):
        sample_tokens(logits, [temperature] * 2, [1.0] * 2, [0.5] * 2)
