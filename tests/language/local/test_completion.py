"""A local model that goes on with texts: the same as one forward pass over the whole text, whatever is reused."""

import math
from pathlib import Path

import pytest

pytest.importorskip("torch")

from housewise.language.completion import GenerationLimits, Token
from housewise.language.local.completion import LocalCompletionModel
from housewise.language.local.model import LocalChatModel
from tests.language.tiny import save_tiny_model

PROMPT = "go to kitchen counter pick up mug place on"
BOUNDS = GenerationLimits(max_tokens=6, alternatives=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def model(folder: Path) -> LocalCompletionModel:
    return LocalCompletionModel(LocalChatModel(str(folder), device="cpu", dtype="float32", batch_size=3))


def naive(folder: Path, ids: list[int], count: int) -> list[tuple[int, float, list[int]]]:
    """Greedy tokens with their probabilities and likeliest others, from whole passes without any cache."""
    import torch
    import transformers

    network = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    ids, found = list(ids), []
    for _ in range(count):
        with torch.inference_mode():
            likely = network(torch.tensor([ids])).logits[0, -1].softmax(-1)
        best = likely.topk(5)
        found.append((int(best.indices[0]), float(best.values[0]), best.indices.tolist()))
        ids.append(found[-1][0])
        if found[-1][0] == network.config.eos_token_id:
            break
    return found


def ids_of(model: LocalCompletionModel, text: str) -> list[int]:
    return model._model.tokens(text)


def test_branches_go_on_as_whole_passes_do(folder: Path, model: LocalCompletionModel) -> None:
    first = model.extend(PROMPT, [()], BOUNDS)[0]
    prompt = ids_of(model, PROMPT)
    assert first.prompt_tokens == len(prompt) and first.completion_tokens == len(first.steps)
    # Seven branches on the likeliest alternatives of the first two places, more than fit side by side.
    branches: list[tuple[Token, ...]] = [(other,) for other in first.steps[0].alternatives]
    branches += [(first.steps[0].token, other) for other in first.steps[1].alternatives[:3]]
    for branch, reply in zip(branches, model.extend(PROMPT, branches, BOUNDS), strict=True):
        start = [*prompt, *(token.id for token in branch if token.id is not None)]
        expected = naive(folder, start, len(reply.steps))
        assert reply.prompt_tokens == len(start)
        for step, (token, probability, likely) in zip(reply.steps, expected, strict=True):
            assert step.token.id == token and step.token.probability == pytest.approx(probability, rel=1e-3)
            assert [token, *(other.id for other in step.alternatives)] == likely


def test_replies_end_at_stops_and_bounds(model: LocalCompletionModel) -> None:
    free = model.extend(PROMPT, [()], GenerationLimits(max_tokens=12))[0]
    assert len(free.steps) <= 12
    stop = free.steps[2].token.text
    held = model.extend(PROMPT, [()], GenerationLimits(max_tokens=12, stop=(stop,)))[0]
    assert len(held.steps) == next(n for n, step in enumerate(free.steps, 1) if stop in "".join(
        each.token.text for each in free.steps[:n])
    )  # fmt: skip


def test_draws_repeat_with_their_seed_and_differ_from_each_other(folder: Path) -> None:
    def drawn(seed: int) -> list[str]:
        model = LocalCompletionModel(LocalChatModel(str(folder), device="cpu", dtype="float32"), seed)
        return [reply.text for reply in model.sample(PROMPT, 4, 1.0, BOUNDS)]

    assert drawn(1) == drawn(1) and drawn(1) != drawn(2) and len(set(drawn(1))) > 1


def test_rates_are_geometric_means_of_token_probabilities(folder: Path, model: LocalCompletionModel) -> None:
    import torch
    import transformers

    network = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    prompt, texts = ids_of(model, PROMPT), [" shelf", " shelf plate", " mission complete step", " book"]
    for text, rate in zip(texts, model.score_texts(PROMPT, texts), strict=True):
        ids = ids_of(model, text)
        with torch.inference_mode():
            steps = network(torch.tensor([[*prompt, *ids]])).logits[0, len(prompt) - 1 : -1].log_softmax(-1)
        mean = sum(float(step[token]) for step, token in zip(steps, ids, strict=True)) / len(ids)
        assert rate.probability == pytest.approx(math.exp(mean), rel=1e-3)
        assert rate.prompt_tokens == len(prompt) + len(ids)


def test_a_number_may_have_a_token_for_each_digit_and_alternatives(model: LocalCompletionModel) -> None:
    replies = model.answer("Answer with a number.", ["Number:", "Which number?"])
    assert all(len(reply.steps) == 3 or "\n" in reply.text for reply in replies)
    assert [len(reply.steps[0].alternatives) for reply in replies] == [19, 19]
