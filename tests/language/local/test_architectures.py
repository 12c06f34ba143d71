"""What models of many architectures answer here, against a pass of transformers over each text alone."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from housewise.language.local import equivalence_check  # noqa: E402
from housewise.language.local.model_runner import ModelRunner  # noqa: E402
from tests.language.architectures import ARCHITECTURES, EACH, LONGROPE_SWITCH, network, tokens  # noqa: E402

LENGTHS = (5, 60, LONGROPE_SWITCH - 2, 300)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HOUSEWISE_CACHE", str(tmp_path / "cache"))
    with torch.inference_mode():
        yield tmp_path / "cache"


def expected(model: Any, text: list[int]) -> Any:
    """Log-probabilities behind a text."""
    return model(input_ids=torch.tensor([text]), use_cache=False).logits[0, -1].log_softmax(-1)


class Rows:
    """Rows of a reader, each with the text that it should hold."""

    def __init__(self, model: Any) -> None:
        self.model, self.reader = model, ModelRunner(model)
        self.texts: list[list[int]] = []
        self.logits: Any = None

    def add_rows(self, *prompts: list[int]) -> None:
        order, logits = self.reader.add_rows(prompts)
        self.logits = torch.cat([self.logits, logits]) if self.texts else logits
        self.texts += [list(prompts[index]) for index in order]
        self._compare()

    def step(self) -> None:
        new = [tokens(1 + index % 2, len(text)) for index, text in enumerate(self.texts)]
        self.texts = [text + own for text, own in zip(self.texts, new, strict=True)]
        self.logits = self.reader.append_tokens(new)
        self._compare()

    def drop(self, row: int) -> None:
        self.reader.remove_row(row)
        last = self.texts.pop()
        self.logits[row] = self.logits[-1]
        self.logits = self.logits[:-1]
        if row < len(self.texts):
            self.texts[row] = last

    def _compare(self) -> None:
        assert self.reader.rows == len(self.texts)
        for text, logits in zip(self.texts, self.logits, strict=True):
            torch.testing.assert_close(logits.log_softmax(-1), expected(self.model, text), atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("name", EACH)
def test_rows_that_come_and_go_answer_as_alone(name: str) -> None:
    rows, shared = Rows(network(name)), tokens(400, 1)
    # Across the length at which a rope changes, alone and beside others.
    rows.add_rows(shared[: LONGROPE_SWITCH - 2])
    for _ in range(4):
        rows.step()
    rows.add_rows(*(shared[: length // 2] + tokens(length - length // 2, length) for length in LENGTHS), shared[:300])
    for _ in range(3):
        rows.step()
    rows.drop(0)
    rows.step()
    # Beginnings that have been read, and longer ones.
    rows.add_rows(shared[:40], shared[:40], shared[:200] + tokens(9, 2), shared)
    rows.step()


@pytest.mark.parametrize("name", EACH)
def test_texts_are_scored_as_alone(name: str) -> None:
    model = network(name)
    reader, prompt = ModelRunner(model), tokens(400, 1)
    for length in LENGTHS:
        begun = tokens(2, 3)
        texts = [begun + tokens(4, 4), begun + tokens(1, 5), tokens(3, 6), begun[:1]]
        for text, scores in zip(texts, reader.score(prompt[:length], texts), strict=True):
            whole = model(input_ids=torch.tensor([[*prompt[:length], *text[:-1]]]), use_cache=False).logits[0]
            known = whole[-len(text) :].log_softmax(-1)
            assert scores == pytest.approx([known[place, token].item() for place, token in enumerate(text)], abs=2e-5)


@pytest.mark.parametrize("name", ["llama", "gpt neo", "mpt", "bloom"])
@pytest.mark.parametrize("is_cast", [True, False])
def test_half_precision_hides_nothing(name: str, is_cast: bool) -> None:
    """Neither where a model is measured in float32 nor where it has to stay as it is."""
    with torch.inference_mode(not is_cast):
        half = network(name).bfloat16()
    assert ModelRunner(half).ways == ModelRunner(network(name)).ways


def test_what_may_be_shared_is_measured_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = network("gpt neo")
    ways = ModelRunner(model).ways
    assert not ways.batches and not ways.trees and ways.masks
    [kept] = (cache / "ways").iterdir()
    monkeypatch.setattr(equivalence_check, "_Measurement", lambda *args: pytest.fail("it was measured again"))
    assert ModelRunner(model).ways == ways
    monkeypatch.undo()
    monkeypatch.setenv("HOUSEWISE_CACHE", str(cache))
    for damaged in ("{", "{}", "null", '{"masks": true, "batches": "no", "holds": true, "trees": true}'):
        kept.write_text(damaged)
        assert ModelRunner(model).ways == ways


@pytest.mark.parametrize("name", ["gpt neo", "mpt"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_rounding_hides_nothing(cache: Path, name: str, dtype: torch.dtype) -> None:
    model = network(name)
    ways = ModelRunner(model).ways
    shutil.rmtree(cache / "ways")
    with torch.inference_mode(False):
        halved = network(name).to(dtype)
    weights = [weight.clone() for weight in halved.parameters()]
    assert ModelRunner(halved).ways == ways != equivalence_check.BatchingSupport()
    assert all(map(torch.equal, halved.parameters(), weights))


@pytest.mark.parametrize("sizes", [{"window_size": 700}, {"window_size": 20, "max_position_embeddings": 64}])
def test_windows_of_any_size_are_found(sizes: dict[str, int]) -> None:
    config = ARCHITECTURES["gpt neo"]()
    config.update(sizes)
    assert not ModelRunner(transformers.AutoModelForCausalLM.from_config(config).eval()).ways.batches


def test_a_model_that_reads_few_tokens_is_measured_with_few() -> None:
    config = ARCHITECTURES["mpt"]()
    config.update({"max_seq_len": 64})
    ways = ModelRunner(transformers.AutoModelForCausalLM.from_config(config).eval()).ways
    assert ways.batches and not ways.trees


def test_what_answers_otherwise_than_in_transformers_is_refused() -> None:
    model = network("llama")
    forward = model.forward

    def forgets(*args: Any, **kwargs: Any) -> Any:
        """A model that does not go on from what it has read."""
        if kwargs.get("use_cache") and kwargs["input_ids"].shape[1] == 1:
            kwargs["input_ids"] = kwargs["input_ids"] * 0
        return forward(*args, **kwargs)

    forgets.__signature__ = __import__("inspect").signature(forward)  # type: ignore[attr-defined]
    model.forward = forgets
    with pytest.raises(ValueError, match="a llama model comes to other results here than in transformers"):
        ModelRunner(model)
