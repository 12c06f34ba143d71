"""A whole conversation is learned at once, and teaches what its replies teach one by one."""

from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from housewise.core.errors import UserError
from housewise.language.local.weights import load_model
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.selftrain.trainers.local import LocalTrainer
from housewise.selftrain.trainers.trained_model import ModelReference
from tests.selftrain.tiny import save_learner, save_talker, training

TURNS = (
    {"role": "system", "content": "Make breakfast."},
    {"role": "user", "content": "Tea."},
    {"role": "assistant", "content": "Action: Look for mug"},
    {"role": "user", "content": "Found mug 1."},
    {"role": "assistant", "content": "Action: Move mug to table"},
    {"role": "user", "content": "Done."},
)


def learned(rows: list[dict[str, list[int]]]) -> list[tuple[tuple[int, ...], int]]:
    """Every token that is learned, with what stands before it."""
    return [
        (tuple(row["input_ids"][:place]), token)
        for row in rows
        for place, token in enumerate(row["labels"])
        if token != -100
    ]


def test_a_conversation_teaches_what_its_replies_teach(tmp_path: Path) -> None:
    folder = save_talker(tmp_path / "tiny")
    _, tokenizer = load_model(str(folder), None, "cpu", "float32")
    whole = EpisodeDemonstration(prompt=TURNS, prefix="Action:", reply=" Declare Done", turns=True)
    replies = [(2, " Look for mug"), (4, " Move mug to table"), (6, " Declare Done")]
    parts = [EpisodeDemonstration(prompt=TURNS[:turn], prefix="Action:", reply=reply) for turn, reply in replies]
    trainer = LocalTrainer(training(epochs=8))
    assert learned([trainer.tokenize(tokenizer, whole, "tiny")]) == learned(
        [trainer.tokenize(tokenizer, part, "tiny") for part in parts]
    )
    better = trainer.train([whole], ModelReference(model=f"local:{folder}"), tmp_path / "out")
    assert better.metrics["last_loss"] < better.metrics["first_loss"]


def test_a_model_that_reads_turns_otherwise_than_it_writes_them_is_refused(tmp_path: Path) -> None:
    start = ModelReference(model=f"local:{save_learner(tmp_path / 'tiny')}")
    whole = EpisodeDemonstration(prompt=TURNS, prefix="Action:", reply=" Declare Done", turns=True)
    with pytest.raises(UserError, match="its chat template changes what was said in earlier turns"):
        LocalTrainer(training()).train([whole], start, tmp_path / "out")
