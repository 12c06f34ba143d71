"""What training computes with models of many architectures, against transformers' own loss of each example."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

from torch.nn import functional  # noqa: E402

from housewise.selftrain.trainers.dpo import collate_preferences, reply_logprobs  # noqa: E402
from housewise.selftrain.trainers.packing import shared_row  # noqa: E402
from housewise.selftrain.trainers.tokenization import IGNORED  # noqa: E402
from housewise.selftrain.trainers.trl_common import predict_labels, shares_rows  # noqa: E402
from tests.language.architectures import EACH, LONGROPE_SWITCH, WINDOW, network, tokens  # noqa: E402

Example = dict[str, list[int]]
LENGTHS = {"short": LONGROPE_SWITCH - WINDOW, "long": LONGROPE_SWITCH + 2 * WINDOW}


def example(prompt: list[int], reply: list[int]) -> Example:
    return {"input_ids": prompt + reply, "labels": [IGNORED] * len(prompt) + reply}


def expected(model: Any, each: Example) -> Any:
    """The sum over a reply's tokens of transformers' own loss."""
    ids, labels = torch.tensor([each["input_ids"]]), torch.tensor([each["labels"]])
    return model(input_ids=ids, labels=labels, use_cache=False).loss * sum(label != IGNORED for label in each["labels"])


def gradients(model: Any, loss: Any) -> Any:
    """Of all weights, in one tensor."""
    found = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)
    return torch.cat([gradient.flatten() for gradient in found if gradient is not None])


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", EACH)
def test_examples_teach_together_what_they_teach_alone(name: str, length: str) -> None:
    model, shared = network(name), tokens(LENGTHS[length], 1)
    examples = [
        example(shared, tokens(6, 2)),
        example(shared, tokens(9, 3)),
        example(shared[:50] + tokens(20, 4), tokens(5, 5)),
    ]
    groups = [examples] if shares_rows(model, examples, len(examples)) else [[each] for each in examples]
    loss = torch.stack(
        [
            functional.cross_entropy(*predict_labels(model, shared_row(group), torch.float32)[1:], reduction="sum")
            for group in groups
        ]
    ).sum()
    own = torch.stack([expected(model, each) for each in examples]).sum()
    torch.testing.assert_close(loss, own, atol=2e-5, rtol=2e-5)
    found, wanted = gradients(model, loss), gradients(model, own)
    assert (found - wanted).norm() <= 1e-4 * wanted.norm()


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", EACH)
def test_replies_of_preferences_are_as_likely_as_alone(name: str, length: str) -> None:
    model, shared = network(name), tokens(LENGTHS[length], 1)
    group = [
        {"prompt": shared, "chosen": tokens(6, 2), "rejected": tokens(9, 3)},
        {"prompt": shared + tokens(4, 4), "chosen": tokens(3, 5), "rejected": tokens(3, 6)},
    ]
    replies = [example(each["prompt"], each[which]) for each in group for which in ("chosen", "rejected")]
    with torch.no_grad():
        rows = collate_preferences(group, shares_rows(model, replies, len(replies)))
        found = reply_logprobs(model, rows, torch.float32).T.flatten()
        wanted = -torch.stack([expected(model, each) for each in replies])
    torch.testing.assert_close(found, wanted, atol=2e-5, rtol=2e-5)


def test_what_one_row_changes_is_learned_one_by_one(caplog: pytest.LogCaptureFixture) -> None:
    model, forward = network("llama"), None
    forward = model.forward

    def without_branches(*args: Any, branches: Any = (), **kwargs: Any) -> Any:
        """A model that takes the branches of a row and does not use them."""
        return forward(*args, **kwargs)

    examples = [example(tokens(20, 1), tokens(4, seed)) for seed in range(2, 5)]
    assert shares_rows(model, examples, 4) and not caplog.records
    model.forward = without_branches
    assert not shares_rows(model, examples, 4)
    [record] = caplog.records
    assert "llama model learns examples one by one" in record.message
    # One by one they need no comparison.
    assert shares_rows(model, examples, 1)
