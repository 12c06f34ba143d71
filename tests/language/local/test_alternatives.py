"""Alternatives of tokens and token-wise scores: those of transformers' own forward pass over the whole text."""

import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from housewise.language.base import ChatRequest, Message, Sampling, TokenScorer
from housewise.language.completion import GenerationLimits
from housewise.language.local.completion import LocalCompletionModel
from housewise.language.local.model import LocalChatModel
from tests.language.tiny import WORDS, save_tiny_model

PROMPT = "go to kitchen counter pick up mug place on"
REQUEST = ChatRequest((Message("user", "pick up the mug"),), prefix="step")


@pytest.fixture(scope="module", params=["bytes", "words"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("model"), request.param)


@pytest.fixture(scope="module")
def model(folder: Path) -> LocalChatModel:
    return LocalChatModel(str(folder), device="cpu", dtype="float32", batch_size=3)


@pytest.fixture(scope="module")
def network(folder: Path) -> Any:
    import transformers

    return transformers.AutoModelForCausalLM.from_pretrained(folder).eval()


def log_probabilities(network: Any, ids: list[int]) -> Any:
    """Of every next token at every place, shape (tokens, vocabulary)."""
    import torch

    with torch.inference_mode():
        return network(torch.tensor([ids])).logits[0].log_softmax(-1)


def asked(**sampling: Any) -> ChatRequest:
    return ChatRequest(REQUEST.messages, Sampling(**sampling), REQUEST.prefix)


@pytest.mark.parametrize("temperature", [0.0, 1.0, 3.0])
def test_alternatives_are_the_likeliest_before_temperature(
    model: LocalChatModel, network: Any, temperature: float
) -> None:
    request = asked(temperature=temperature, max_tokens=6, alternatives=4, logprobs=True, seed=3)
    [reply] = model.complete([request])[0]
    assert reply.alternatives is not None and reply.token_logprobs is not None
    assert len(reply.alternatives) == reply.completion_tokens
    # The same tokens, as the writer had them.
    prompt = model._prompt(request)
    ids = list(prompt)
    for place, logprob in zip(reply.alternatives, reply.token_logprobs, strict=True):
        steps = log_probabilities(network, ids)[-1]
        best = steps.topk(4)
        chosen = int((steps - logprob).abs().argmin())
        assert place[0].logprob == logprob == pytest.approx(float(steps[chosen]), abs=1e-3)
        others = [token for token in best.indices.tolist() if token != chosen][:3]
        assert [other.logprob for other in place[1:]] == pytest.approx(
            [float(steps[each]) for each in others], abs=1e-3
        )
        assert [other.text for other in place[1:]] == model.texts(ids, others)
        ids.append(chosen)
    assert model._text(ids[len(prompt) :]) == reply.text


def test_a_grammar_does_not_change_what_alternatives_say(model: LocalChatModel, network: Any) -> None:
    pytest.importorskip("llguidance")
    request = ChatRequest(REQUEST.messages, Sampling(0.0, alternatives=3), REQUEST.prefix, 'root ::= "mug" | "plate"')
    [reply] = model.complete([request])[0]
    assert reply.text in ("mug", "plate") and reply.alternatives is not None
    # What the grammar forces is told like what is chosen.
    assert len(reply.alternatives) == reply.completion_tokens
    steps = log_probabilities(network, model._prompt(request))[-1]
    free = steps.topk(3).values.tolist()
    told = [other.logprob for other in reply.alternatives[0]]
    assert told[0] < free[0] and told[1:] == pytest.approx(free[:2], abs=1e-3)


def test_without_asking_there_are_none_and_one_is_the_token_alone(model: LocalChatModel) -> None:
    [plain], [one] = model.complete(
        [asked(temperature=0.0, max_tokens=3), asked(temperature=0.0, max_tokens=3, alternatives=1)]
    )
    assert plain.alternatives is None and plain.text == one.text
    assert one.alternatives is not None and all(len(place) == 1 for place in one.alternatives)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(texts=st.lists(st.lists(st.sampled_from(WORDS.split()), max_size=4).map(" ".join), max_size=5))
def test_token_scores_are_those_of_whole_passes(model: LocalChatModel, network: Any, texts: list[str]) -> None:
    assert isinstance(model, TokenScorer)
    prompt = model._prompt(REQUEST)
    found = model.score_tokens(REQUEST, texts)
    sums = model.score(REQUEST, texts)
    assert len(found) == len(texts)
    for text, tokens, total in zip(texts, found, sums, strict=True):
        ids = model.tokens(text)
        steps = log_probabilities(network, [*prompt, *ids])[len(prompt) - 1 : -1]
        wanted = [float(step[token]) for step, token in zip(steps, ids, strict=True)]
        assert [token.logprob for token in tokens] == pytest.approx(wanted, abs=1e-3)
        assert total == pytest.approx(sum(wanted), abs=1e-2)
        assert "".join(token.text for token in tokens) == text


def test_one_opened_model_answers_and_goes_on(model: LocalChatModel, network: Any) -> None:
    continuer = LocalCompletionModel(model)
    before = model.complete([asked(temperature=0.0, max_tokens=5)])[0][0].text
    [reply] = continuer.extend(PROMPT, [()], GenerationLimits(max_tokens=4))
    assert continuer.name == model.name
    steps = log_probabilities(network, model.tokens(PROMPT))[-1]
    assert reply.steps[0].token.probability == pytest.approx(math.exp(float(steps.max())), rel=1e-3)
    model.clear_cache()
    assert model.complete([asked(temperature=0.0, max_tokens=5)])[0][0].text == before
