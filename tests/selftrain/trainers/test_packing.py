from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="the extra housewise[train] is not installed")

from housewise.selftrain.trainers.branch_attention import enable_branches, split_branches  # noqa: E402
from housewise.selftrain.trainers.packing import group_sizes, shared_row  # noqa: E402
from housewise.selftrain.trainers.tokenization import IGNORED  # noqa: E402
from housewise.selftrain.trainers.trl_common import predict_labels  # noqa: E402
from tests.selftrain.tiny import save_learner  # noqa: E402

Example = dict[str, list[int]]


@st.composite
def batches(draw: st.DrawFn) -> list[Example]:
    """Prompts that may begin alike, be the same, or go on from an earlier one, with replies, partly given."""
    tokens = st.lists(st.integers(2, 20), min_size=1, max_size=6)
    beginnings = [draw(st.lists(st.integers(2, 20), max_size=8))]
    examples = []
    for _ in range(draw(st.integers(1, 4))):
        prompt, reply = [*draw(st.sampled_from(beginnings)), *draw(tokens)], draw(tokens)
        beginnings.append(prompt + reply)
        learned = [IGNORED if draw(st.booleans()) else token for token in reply[:-1]] + reply[-1:]
        examples.append({"input_ids": prompt + reply, "labels": [IGNORED] * len(prompt) + learned})
    return examples


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from transformers import AutoModelForCausalLM

    loaded = AutoModelForCausalLM.from_pretrained(save_learner(tmp_path_factory.mktemp("tiny")))
    yield loaded.eval()


def gradient(network: Any, rows: list[dict[str, Any]]) -> tuple[float, Any]:
    """The summed loss of the replies' tokens, and its gradient."""
    network.zero_grad()
    total = 0.0
    for row in rows:
        _, logits, targets = predict_labels(network, row, network.dtype)
        loss = torch.nn.functional.cross_entropy(logits, targets, reduction="sum")
        loss.backward()
        total += loss.item()
    return total, torch.cat([part.grad.flatten() for part in network.parameters()])


@given(batches())
@settings(max_examples=30)
def test_a_shared_row_teaches_what_its_examples_teach_one_by_one(network: Any, examples: list[Example]) -> None:
    loss, slope = gradient(network, [shared_row(examples)])
    alone, slopes = gradient(network, [shared_row([example]) for example in examples])
    assert loss == pytest.approx(alone, rel=1e-4)
    assert torch.allclose(slope, slopes, atol=1e-5)


@given(batches())
@settings(max_examples=30)
def test_attention_branch_by_branch_teaches_the_same(network: Any, examples: list[Example]) -> None:
    masked = gradient(network, [shared_row(examples)])
    try:
        enable_branches(network)
        found = gradient(network, [shared_row(examples)])
    finally:
        network.set_attn_implementation("sdpa")
    assert found[0] == pytest.approx(masked[0], rel=1e-4)
    assert torch.allclose(found[1], masked[1], atol=1e-5)


def test_branches_need_masks_of_their_own_tokens_alone() -> None:
    """Two replies of 3 tokens to a prompt of 4, and an example that begins otherwise."""
    parents = [0, 0, 1, 2, 3, 4, 5, 3, 7, 8, 10, 10, 11]
    trunk, reply, other = split_branches(parents, "cpu", torch.float32)
    assert (trunk.start, trunk.end, trunk.columns, other.columns, other.mask) == (0, 7, None, None, None)
    assert reply.columns.tolist() == [0, 1, 2, 3, 7, 8, 9] and reply.mask.shape == (1, 1, 3, 7)
    assert (reply.mask[0, 0] == 0).sum(1).tolist() == [5, 6, 7]


@given(batches())
def test_what_is_shared_is_read_once(examples: list[Example]) -> None:
    row = shared_row(examples)
    conversations = [example["input_ids"] for example in examples]
    beginnings = {tuple(tokens[:length]) for tokens in conversations for length in range(1, len(tokens))}
    assert row["input_ids"].shape[1] == len(beginnings)
    learned = [label for example in examples for label in example["labels"] if label != IGNORED]
    assert row["labels"][0, 1:].tolist() == learned


def test_conversations_that_go_on_share_a_row_and_others_do_not() -> None:
    first, other = [1, 2, 3, 4], [1, 9, 9, 9]
    going_on = [[*first, *range(number)] for number in range(3)]
    assert group_sizes([*going_on, other, other, first], 8) == [3, 2, 1]
    assert group_sizes([*going_on, other, other, first], 2) == [2, 1, 2, 1]
    assert group_sizes(going_on, 1) == [1, 1, 1] and group_sizes([], 4) == []
