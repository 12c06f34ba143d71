"""What cannot be learned from is left out, counted and told of, and is refused where it is too much."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from transformers import AutoTokenizer, GPT2Config, LlamaConfig, MptConfig, OPTConfig

from housewise.core.errors import UserError
from housewise.language.local.architecture import context_length
from housewise.language.local.tokens import end_of_turn
from housewise.selftrain.examples import EpisodeDemonstration, Preference, read_examples, write_examples
from housewise.selftrain.trainers.exclusions import ExclusionReason, exclude
from housewise.selftrain.trainers.fine_tuning_job import FineTuningTrainer
from housewise.selftrain.trainers.local import LocalPreferenceTrainer, LocalTrainer
from housewise.selftrain.trainers.openai_trainers import OpenAIPreferenceTrainer, OpenAITrainer
from housewise.selftrain.trainers.tokenization import tokenize_demonstration
from housewise.selftrain.trainers.trained_model import ModelReference, TrainedModel
from tests.commands import run_module
from tests.selftrain.tiny import pair, preference, preference_training, save_learner, save_talker, training
from tests.selftrain.trainers.fine_tuning_server import FineTuning as Server

LONG = " and mug" * 60
API = ModelReference(model="gpt-4o-mini-2024-07-18")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that reads little, and one that reads much."""
    place = tmp_path_factory.mktemp("models")
    save_learner(place / "short", context=128)
    save_learner(place / "long")
    return place


def local(models: Path, name: str) -> ModelReference:
    return ModelReference(model=f"local:{models / name}")


def pairs(long: int, short: int) -> list[Any]:
    return [pair(number, reply=LONG if number < long else " go to mug") for number in range(long + short)]


def preferences(long: int, short: int) -> list[Preference]:
    return [
        preference(number).model_copy(update={"rejected": LONG} if number < long else {})
        for number in range(long + short)
    ]


TRAINERS: list[tuple[Callable[..., Any], Callable[[int, int], list[Any]], str]] = [
    (lambda **changes: LocalTrainer(training(epochs=1, **changes)), pairs, "pairs"),
    (lambda **changes: LocalPreferenceTrainer(preference_training(epochs=1, **changes)), preferences, "preferences"),
]


@pytest.mark.parametrize(("trainer", "examples", "called"), TRAINERS, ids=["pairs", "preferences"])
@pytest.mark.parametrize(
    ("model", "most", "words"),
    [
        ("short", 2048, "longer than 128 tokens, all that model {model} reads"),
        ("long", 150, "longer than 150 tokens ({key}=150)"),
    ],
)
def test_what_is_too_long_is_told_and_refused_where_it_is_most(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], trainer: Any, examples: Any, called: str,
    model: str, most: int, words: str,
) -> None:  # fmt: skip
    start = local(models, model)
    key = trainer().config.key("max_example_tokens")
    sentence = f"of 4 {called} left out as {words.format(model=start.model, key=key)}"
    learned = trainer(max_example_tokens=most).train(examples(2, 2), start, tmp_path / "half")
    assert learned.notes == (f"2 {sentence}",) and f"2 {sentence}" in capsys.readouterr().err
    assert (learned.metrics["pairs"], learned.metrics["left_out"]) == (2, 2)
    assert TrainedModel.load(tmp_path / "half") == learned
    with pytest.raises(UserError) as refused:
        trainer(max_example_tokens=most).train(examples(3, 1), start, tmp_path / "most")
    line = str(refused.value)
    assert f"3 {sentence}" in line and "the longest has" in line and key in line
    assert not (tmp_path / "most" / "model.json").exists()


@pytest.mark.parametrize(
    ("made", "length"),
    [
        (GPT2Config(n_positions=77), 77),
        (LlamaConfig(max_position_embeddings=99), 99),
        (MptConfig(max_seq_len=55), 55),
        (OPTConfig(max_position_embeddings=33), 33),
    ],
    ids=lambda made: getattr(made, "model_type", ""),
)
def test_models_say_by_several_names_how_much_they_read(made: Any, length: int) -> None:
    assert context_length(made) == length


def test_without_examples_nothing_is_trained(models: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no pair to learn from"):
        LocalTrainer(training()).train([], local(models, "long"), tmp_path)


def test_a_cut_reply_teaches_no_end(tmp_path: Path) -> None:
    save_talker(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    for known in ((), ((0, 6),)):
        whole, cut = (tokenize_demonstration(tokenizer, pair(cut=cut, given=known), "tiny") for cut in (False, True))
        assert whole["input_ids"] == [*cut["input_ids"], end_of_turn(tokenizer)]
        assert whole["labels"] == [*cut["labels"], end_of_turn(tokenizer)]


def test_a_cut_reply_of_which_nothing_is_learned_is_left_out(models: Path, tmp_path: Path) -> None:
    """Not even its end is to be learned, and a batch of such replies would have a loss of 0/0."""
    nothing = [pair(number, reply=" go to mug", cut=True, given=((0, 10),)) for number in range(2)]
    learned = LocalTrainer(training(epochs=1)).train([*nothing, pair(2)], local(models, "long"), tmp_path)
    assert learned.metrics["pairs"] == 1 and learned.notes == (
        "2 of 3 pairs left out as having nothing that is to be learned",
    )


def test_preferences_of_the_same_reply_twice_are_counted(models: Path, tmp_path: Path) -> None:
    same = [each.model_copy(update={"rejected": each.chosen}) for each in preferences(0, 5)]
    learned = LocalPreferenceTrainer(preference_training(epochs=1)).train(
        [*same, preference(9)], local(models, "long"), tmp_path
    )
    assert learned.metrics["pairs"] == 1
    assert learned.notes == ("5 of 6 preferences left out as having the same reply twice",)
    card = (tmp_path / "adapter" / "README.md").read_text()
    assert "on 1 (prompt, chosen, rejected) preference, from" in card and "in `preferences.jsonl`" in card


def test_where_all_replies_are_the_same_nothing_is_trained(models: Path, tmp_path: Path) -> None:
    same = [each.model_copy(update={"rejected": each.chosen}) for each in preferences(0, 3)]
    write_examples(tmp_path / "same.jsonl", same)
    command = [tmp_path / "same.jsonl", "--model", local(models, "long").model, "--out", tmp_path / "out"]
    done = run_module("housewise.selftrain.train_on_preferences", [*command, "preference.device=cpu"])
    assert done.returncode == 2 and "3 of 3 preferences left out as having the same reply twice" in done.stderr
    assert not (tmp_path / "out" / "model.json").exists() and not (tmp_path / "out" / "curve.csv").exists()


CUT = [pair(number, cut=number < 2) for number in range(12)]
SAME = [
    preference(number).model_copy(update={"rejected": " go to table"} if number < 2 else {}) for number in range(12)
]


@pytest.mark.parametrize(
    ("trainer", "settings", "examples", "sentence"),
    [
        (OpenAITrainer, training, CUT, "2 of 12 pairs left out as cut at a limit, where the API would learn to end"),
        (
            OpenAIPreferenceTrainer,
            preference_training,
            SAME,
            "2 of 12 preferences left out as having the same reply twice",
        ),
    ],
)
def test_an_api_is_not_sent_what_it_would_learn_wrongly(
    server: Server, tmp_path: Path, trainer: type[FineTuningTrainer[Any]], settings: Any, examples: Any, sentence: str
) -> None:
    learned = trainer(settings(trainer="openai"), 0, server.url, wait=lambda seconds: None).train(
        examples, API, tmp_path
    )
    assert learned.notes == (sentence,) and learned.metrics["pairs"] == 10
    assert len((tmp_path / "training.jsonl").read_text().splitlines()) == 10
    with pytest.raises(UserError, match=r"12 of 12 .*left out"):
        trainer(settings(trainer="openai"), 0, server.url).train(examples[:1] * 12, API, tmp_path / "all")


@pytest.mark.parametrize(
    "other", [{"seed": 1}, {"pairs": [*CUT[:11], pair(99)]}, {"start": ModelReference(model="gpt-4.1")}, {"epochs": 5}]
)
def test_an_api_job_that_is_over_stays_that_of_its_examples(
    server: Server, tmp_path: Path, other: dict[str, Any]
) -> None:
    def learned(pairs: Any = CUT, start: ModelReference = API, seed: int = 0, epochs: int = 3) -> TrainedModel:
        made = OpenAITrainer(training(trainer="openai", epochs=epochs), seed, server.url, wait=lambda seconds: None)
        return made.train(pairs, start, tmp_path)

    first = learned()
    assert learned() == first and len(server.jobs) == 1
    with pytest.raises(UserError, match=f"{tmp_path.name}: holds a finished training with other pairs, model, seed or"):
        learned(**other)
    with pytest.raises(UserError, match=f"holds a finished training with other model .{first.model}"):
        LocalTrainer(training()).train(CUT, ModelReference(model="local"), tmp_path)
    (tmp_path / "job.json").unlink()
    assert learned(**other) == first


LENGTH, OTHER = ExclusionReason("long", "shorten it", is_length=True), ExclusionReason("odd", "mend it")


@given(st.lists(st.sampled_from([None, LENGTH, OTHER]), max_size=12))
def test_what_is_kept_and_what_is_told_make_up_all(reasons: list[ExclusionReason | None]) -> None:
    long = reasons.count(LENGTH)
    if reasons and (2 * long > len(reasons) or None not in reasons):
        with pytest.raises(UserError, match="too little to learn from") as error:
            exclude(range(len(reasons)), reasons.__getitem__, "pair")
        assert (LENGTH.remedy in str(error.value)) == (long > 0)
        assert (OTHER.remedy in str(error.value)) == (OTHER in reasons and None not in reasons)
        return
    kept, sentences = exclude(range(len(reasons)), reasons.__getitem__, "pair")
    assert [reasons[index] for index in kept] == [None] * reasons.count(None)
    assert sorted(sentences) == sorted(
        f"{count} of {len(reasons)} pairs left out as {why.description}"
        for why in (LENGTH, OTHER)
        if (count := reasons.count(why))
    )


def test_a_file_tells_which_replies_were_cut(tmp_path: Path) -> None:
    write_examples(tmp_path / "pairs.jsonl", CUT[1:3])
    lines = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
    assert [line["cut"] for line in lines] == [True, False]
    assert read_examples(tmp_path / "pairs.jsonl", EpisodeDemonstration) == CUT[1:3]
