"""What models were asked is remembered: a killed run goes on without asking again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from housewise.agent.stars.ledger import Ledger, RememberedModel
from housewise.agent.stars.retrieval import Retrieved, SearchTree, Seen, Thresholds
from housewise.agent.stars.usage import Usage
from housewise.core.errors import DataError
from housewise.language.continuing import Bounds
from housewise.language.local.continuer import LocalContinuer
from housewise.language.local.model import LocalChatModel
from tests.language.tiny import save_tiny_model

PROMPT = "go to kitchen counter pick up mug place on"
BOUNDS = Bounds(most_tokens=6, alternatives=5)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LocalContinuer:
    folder = save_tiny_model(tmp_path_factory.mktemp("model"))
    return LocalContinuer(LocalChatModel(str(folder), device="cpu", dtype="float32", batch_size=3))


class Counting:
    """Counts what reaches a model."""

    def __init__(self, model: LocalContinuer) -> None:
        self._model, self.name, self.asked = model, model.name, 0

    def extend(self, prompt: str, branches: Any, bounds: Bounds) -> Any:
        self.asked += len(branches)
        return self._model.extend(prompt, branches, bounds)

    def sample(self, prompt: str, count: int, temperature: float, bounds: Bounds) -> Any:
        self.asked += count
        return self._model.sample(prompt, count, temperature, bounds)

    def answer(self, system: str, questions: Any) -> Any:
        self.asked += len(questions)
        return self._model.answer(system, questions)

    def rate(self, prompt: str, texts: Any) -> Any:
        self.asked += 1
        return self._model.rate(prompt, texts)


def everything(model: RememberedModel) -> tuple[list[Retrieved], list[object], Usage]:
    usage = Usage()
    tree = SearchTree(model, BOUNDS, Thresholds(worth=0.0, sure=1.1, mean=0.0, levels=2))
    found = tree.grow(PROMPT, Seen("mug"), usage)
    drawn = [model.sample(PROMPT, 2, 1.0, BOUNDS) for _ in range(2)]
    return found, [drawn, model.answer("a", ["b", "c"]), model.rate(PROMPT, [" mug", " book"])], usage


def test_a_killed_run_goes_on_without_asking_again(model: LocalContinuer, tmp_path: Path) -> None:
    path = tmp_path / "asked.jsonl"
    counting = Counting(model)
    whole = everything(RememberedModel(counting, Ledger(path)))
    total = counting.asked
    assert total > 20
    # A new process, no model: all is remembered.
    again = everything(RememberedModel(None, Ledger(path), name=model.name))
    assert again == whole
    # A kill in the middle of a line: that answer alone is asked for again.
    content = path.read_text().splitlines(keepends=True)
    path.write_text("".join(content[:10]) + content[10][:50])
    counting.asked = 0
    resumed = everything(RememberedModel(counting, Ledger(path)))
    # Logits differ in their last bits with what is read side by side.
    assert [each.text for each in resumed[0]] == [each.text for each in whole[0]]
    assert [each.probability for each in resumed[0]] == pytest.approx([each.probability for each in whole[0]], rel=1e-3)
    assert counting.asked == total - 10


def test_what_is_not_remembered_and_damage_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not have what smollm2 says"):
        RememberedModel(None, Ledger(), name="smollm2").answer("a", ["b"])
    path = tmp_path / "asked.jsonl"
    path.write_text('{"key": "a", "answer": 1}\nnonsense\n{"key": "b", "answer": 1}\n')
    with pytest.raises(DataError, match=r"asked.jsonl line 2: damaged"):
        Ledger(path)
