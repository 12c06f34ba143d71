"""Files of what models learn from: read back as they were, and taken by TRL's trainers as they are."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.core.errors import UserError
from housewise.selftrain.examples import EpisodeDemonstration, Example, Preference, read_examples, write_examples
from tests.selftrain.tiny import pair, save_talker

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
TURNS = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "user", "assistant"]), "content": TEXT}), max_size=3
)
EXAMPLES = st.builds(
    EpisodeDemonstration, prompt=TURNS, prefix=TEXT, reply=TEXT, reward=st.sampled_from([0.0, 1.0])
) | st.builds(Preference, prompt=TURNS, prefix=TEXT, chosen=TEXT, rejected=TEXT)

MESSAGES = [{"role": "system", "content": "Tidy up."}, {"role": "user", "content": "A mug is on the sofa."}]
TAUGHT = [pair(number) for number in range(4)]
PREFERRED = [
    Preference(prompt=each.prompt, prefix="Action:", chosen=" go to table", rejected=" wait") for each in TAUGHT
]
PLAIN = [
    EpisodeDemonstration(prompt=(), prefix=f"The mug {number} goes", reply=" to the kitchen") for number in range(4)
]


@given(EXAMPLES)
def test_an_example_is_read_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, example: Example) -> None:
    path = tmp_path_factory.mktemp("data") / "data.jsonl"
    write_examples(path, [example])
    assert read_examples(path, type(example)) == [example]


def test_files_of_earlier_versions_are_read(tmp_path: Path) -> None:
    old = {"prompt": MESSAGES, "prefix": "step 1:"}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(old | {"reply": " go to sofa", "reward": 1.0}) + "\n")
    (tmp_path / "preferences.jsonl").write_text(json.dumps(old | {"chosen": " go", "rejected": " wait"}) + "\n")
    assert read_examples(tmp_path / "pairs.jsonl", EpisodeDemonstration) == [
        EpisodeDemonstration(prompt=MESSAGES, prefix="step 1:", reply=" go to sofa", reward=1)
    ]
    assert read_examples(tmp_path / "preferences.jsonl", Preference) == [
        Preference(prompt=MESSAGES, prefix="step 1:", chosen=" go", rejected=" wait")
    ]


def test_a_reply_without_its_prefix_is_told(tmp_path: Path) -> None:
    line = {"prompt": MESSAGES, "prefix": "step 1:", "completion": [{"role": "assistant", "content": "go to sofa"}]}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(line) + "\n")
    with pytest.raises(UserError, match=r"line 1: not a pair .*completion does not begin with the prefix 'step 1:'"):
        read_examples(tmp_path / "pairs.jsonl", EpisodeDemonstration)


@pytest.mark.parametrize("kind", [EpisodeDemonstration, Preference])
def test_a_byte_order_mark_and_empty_lines_are_no_matter(tmp_path: Path, kind: type[Example]) -> None:
    path = tmp_path / "data.jsonl"
    examples: list[Any] = TAUGHT[:2] if kind is EpisodeDemonstration else PREFERRED[:2]
    write_examples(path, examples)
    first, second = path.read_text().splitlines()
    path.write_bytes(b"\xef\xbb\xbf" + f"{first}\r\n\r\n  \n{second}\n".encode())
    assert read_examples(path, kind) == examples
    path.write_text(f"{first}\n\n\n{second}\n\n[3]\n")
    with pytest.raises(UserError, match="line 6: not a"):
        read_examples(path, kind)


def dataset(folder: Path, examples: list[Any]) -> Any:
    """What ``datasets`` makes of a file."""
    datasets = pytest.importorskip("datasets", reason="the extra housewise[train] is not installed")
    write_examples(folder / "data.jsonl", examples)
    return datasets.load_dataset(
        "json", data_files=str(folder / "data.jsonl"), split="train", cache_dir=str(folder / "cache")
    )


@pytest.mark.parametrize(
    ("examples", "conversational"), [(TAUGHT, True), (PREFERRED, True), (PLAIN, False)], ids=["sft", "dpo", "texts"]
)
def test_a_file_has_trls_columns(tmp_path: Path, examples: list[Any], conversational: bool) -> None:
    data_utils = pytest.importorskip("trl.data_utils", reason="the extra housewise[train] is not installed")
    rows = dataset(tmp_path, examples)
    replies = {"chosen", "rejected"} if examples is PREFERRED else {"completion"}
    assert {"prompt", *replies} <= set(rows.column_names)
    for row, example in zip(rows, examples, strict=True):
        kept = {name: row[name] for name in ("prompt", *replies)}
        assert data_utils.is_conversational(kept) == conversational
        for name, column in example.columns.items():
            said = row[column][0]["content"] if conversational else row["prompt"] + row[column]
            assert said == example.prefix + getattr(example, name)


@pytest.mark.parametrize("examples", [TAUGHT, PREFERRED, PLAIN], ids=["sft", "dpo", "texts"])
def test_trl_learns_from_a_file_as_it_is(tmp_path: Path, examples: list[Any]) -> None:
    trl = pytest.importorskip("trl", reason="the extra housewise[train] is not installed")
    settings = {
        "output_dir": str(tmp_path / "out"), "max_steps": 1, "report_to": [], "use_cpu": True, "bf16": False,
        "per_device_train_batch_size": 2, "save_strategy": "no", "disable_tqdm": True,
    }  # fmt: skip
    trainer, config = (trl.DPOTrainer, trl.DPOConfig) if examples is PREFERRED else (trl.SFTTrainer, trl.SFTConfig)
    model = save_talker(tmp_path / "model")
    learning = trainer(str(model), args=config(**settings), train_dataset=dataset(tmp_path, examples))
    assert learning.train().training_loss > 0
