"""Sessions as training data of other trainers, each read back by the library that it is for."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from housewise.core.errors import UserError
from housewise.export import export_run
from housewise.export.to_training_data import LlamaFactoryWriter
from housewise.rollout.run import Run
from housewise.selftrain.examples import Demonstration
from housewise.systems.basis.settings import BasisSettings, BasisTaskSettings
from housewise.systems.basis.system import Basis
from tests.commands import run_module
from tests.record_lines import changed_lines
from tests.selftrain.tiny import save_learner
from tests.systems.basis.sessions import FAR, SIMPLE, record_sessions

FORMATS = ("llamafactory", "openai", "trl")
PYTHON = "LLAMAFACTORY_PYTHON"
TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}"


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record_sessions(tmp_path_factory.mktemp("training-data") / "run")


@pytest.fixture(scope="module")
def exports(sessions: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    out = tmp_path_factory.mktemp("exports")
    for to in FORMATS:
        assert export_run(sessions, to, out / to, settings=["compact=true"]) == 2
    return {to: out / to for to in FORMATS}


def lines(folder: Path) -> list[Any]:
    return [json.loads(line) for line in (folder / "train.jsonl").read_text(encoding="utf-8").splitlines()]


def test_all_formats_hold_the_same_conversations(exports: dict[str, Path]) -> None:
    conversations = [row["messages"] for row in lines(exports["openai"])]
    assert [row["messages"] for row in lines(exports["llamafactory"])] == conversations
    assert [[*row["prompt"], *row["completion"]] for row in lines(exports["trl"])] == conversations
    assert {turns[-1]["role"] for turns in conversations} == {"assistant"}


def test_the_manifest_names_what_is_in_it_and_what_is_not(sessions: Path, tmp_path: Path) -> None:
    told: list[str] = []
    export_run(sessions, "openai", tmp_path / "out", tell=told.append, settings=["reasoning=false"])
    manifest = json.loads((tmp_path / "out" / "housewise.json").read_text())
    named = [(each["task"], each["attempt"]) for each in manifest["episodes"]]
    assert named == [(f"{SIMPLE}-0", 2), (f"{SIMPLE}-1", 1)]
    assert sum(each["examples"] for each in manifest["episodes"]) == len(lines(tmp_path / "out"))
    assert manifest["settings"]["agent"]["reasoning"] is False
    assert told[0] == f"left out, no attempt reached the goal: 2 ({FAR}-0-run0, {FAR}-1-run0)"
    assert f"variant {FAR}: none of 2 sessions" in told[1]


def test_corrections_of_all_sessions_are_exported_and_tests_are_told(sessions: Path, tmp_path: Path) -> None:
    export_run(sessions, "openai", tmp_path / "out", settings=["replies=oracle"])
    named = [
        (each["task"], each["attempt"])
        for each in json.loads((tmp_path / "out" / "housewise.json").read_text())["episodes"]
    ]
    assert named == [(f"{name}-{seed}", 1) for name in sorted((SIMPLE, FAR)) for seed in (0, 1)]
    told: list[str] = []
    tests = BasisSettings(tasks=BasisTaskSettings(variant=(SIMPLE,), split="test", mistakes=0.0))
    Run(Basis(tests), tmp_path / "tests").play()
    export_run(tmp_path / "tests", "openai", tmp_path / "told", tell=told.append)
    assert "1 session of test scenarios; do not learn from them" in told[-1]


def test_trl_learns_the_replies_alone(exports: dict[str, Path], tmp_path: Path) -> None:
    trl = pytest.importorskip("trl", reason="the extra housewise[train] is not installed")
    datasets = pytest.importorskip("datasets")
    rows = datasets.load_dataset(
        "json", data_files=str(exports["trl"] / "train.jsonl"), split="train", cache_dir=str(tmp_path / "cache")
    )
    model = save_learner(tmp_path / "model")
    (model / "chat_template.jinja").write_text(TEMPLATE)
    config = trl.SFTConfig(
        output_dir=str(tmp_path / "out"), max_steps=1, report_to=[], use_cpu=True, bf16=False, save_strategy="no",
        per_device_train_batch_size=2, max_length=None, disable_tqdm=True,
    )  # fmt: skip
    trainer = trl.SFTTrainer(str(model), args=config, train_dataset=rows)
    for learned, row in zip(trainer.train_dataset, lines(exports["trl"]), strict=True):
        (labels,) = trainer.data_collator([learned])["labels"]
        text = trainer.processing_class.decode(labels[labels >= 0])
        assert row["completion"][0]["content"] in text and row["prompt"][-1]["content"] not in text
    assert trainer.train().training_loss > 0


def test_openai_reads_its_messages(exports: dict[str, Path]) -> None:
    chat = pytest.importorskip("openai.types.chat")
    adapter = TypeAdapter(list[chat.ChatCompletionMessageParam])
    for row in lines(exports["openai"]):
        assert set(row) == {"messages"}
        read = adapter.validate_python(row["messages"])
        assert [turn["role"] for turn in read] == ["system", "user", "assistant"]
        assert all(turn["content"].strip() for turn in row["messages"])


@pytest.mark.parametrize(
    "setting", ["planner=nearest", "planner=oracle", "shuffled_descriptions=true", "remembers_descriptions=true"]
)
def test_settings_that_change_nothing_about_examples_are_refused(sessions: Path, tmp_path: Path, setting: str) -> None:
    with pytest.raises(UserError, match=f"{setting}: does not concern examples, which are those of planner=llm; leave"):
        export_run(sessions, "openai", tmp_path / "out", settings=[setting])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("word", ["<image>", "<video>", "<audio>"])
def test_placeholders_that_somebody_wrote_are_no_pictures(word: str) -> None:
    example = Demonstration(prompt=({"role": "user", "content": f"I see {word}{word}"},), reply=f"An {word}?")
    question, reply = LlamaFactoryWriter().row(example)["messages"]
    broken = f"< {word[1:]}"
    assert (question["content"], reply["content"]) == (f"I see {broken}{broken}", f"An {broken}?")


def test_no_session_can_write_a_placeholder(sessions: Path, tmp_path: Path) -> None:
    run = record_of_speech(sessions, tmp_path, "Look at the <image> <|im_end|>")
    export_run(run, "llamafactory", tmp_path / "out")
    text = (tmp_path / "out" / "train.jsonl").read_text()
    assert "Look at the image" in text and "<image>" not in text and "<|im_end|>" not in text


def record_of_speech(sessions: Path, folder: Path, words: str) -> Path:
    """A run with one session, in which everybody says the same."""
    path = folder / "run" / "episodes" / f"{SIMPLE}-0-run0.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes((sessions / "episodes" / path.name).read_bytes())
    with changed_lines(path) as changed:
        for line in changed:
            if line["type"] == "guidance":
                line["data"] |= {"speech": words, "thought": words}
            elif line["data"].get("verb") == "Speak":
                line["data"]["argument"] = words
    return path.parents[1]


@pytest.mark.slow
def test_llamafactory_learns_the_replies_alone(exports: dict[str, Path], tmp_path: Path) -> None:
    """LLaMA-Factory needs older versions of what the project needs, so that it has an environment of its own."""
    python = os.environ.get(PYTHON)
    if python is None:
        pytest.skip(
            "LLaMA-Factory is read by a Python that has it: python -m venv lf && lf/bin/pip install "
            f"llamafactory==0.9.5 && export {PYTHON}=$PWD/lf/bin/python"
        )
    folder, model = tmp_path / "data", save_learner(tmp_path / "model")
    shutil.copytree(exports["llamafactory"], folder)
    system = {"role": "system", "content": "You guide."}
    hostile = Demonstration(prompt=(system, {"role": "user", "content": "An <image>?"}), reply="<video> <audio>")
    with (folder / "train.jsonl").open("a") as file:
        file.write(json.dumps(LlamaFactoryWriter().row(hostile)) + "\n")
    done = subprocess.run(
        [python, str(Path(__file__).with_name("llamafactory_reader.py")), str(folder), str(model)],
        capture_output=True, text=True, timeout=600, env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    for (whole, learned), row in zip(json.loads(done.stdout.splitlines()[-1]), lines(folder), strict=True):
        *prompt, reply = [turn["content"] for turn in row["messages"]]
        assert learned.startswith(reply) and prompt[-1] not in learned
        assert all(each in whole for each in prompt)


def test_runs_that_hold_nothing_to_learn_are_said(sessions: Path, foreign: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(UserError, match="field system: is an episode of pantry; name a run of --system basis"):
        export_run(foreign, "trl", out)
    with pytest.raises(UserError, match="setting perception=words: this format has no settings"):
        export_run(sessions, "rerun", out, settings=["perception=words"])
    run = tmp_path / "failed"
    (run / "episodes").mkdir(parents=True)
    (path,) = (sessions / "episodes").glob(f"{FAR}-0-*")
    (run / "episodes" / path.name).write_bytes(path.read_bytes())
    with pytest.raises(UserError, match=f"{run}: .*none of 1 session reached its goal"):
        export_run(run, "trl", out)
    assert not out.exists()


def test_the_command_takes_settings(sessions: Path, tmp_path: Path) -> None:
    words = ["export", sessions, "perception=words", "--to", "trl", "--out", tmp_path / "out"]
    done = run_module("housewise", words)
    assert done.returncode == 0 and f"trl: {tmp_path / 'out'}" in done.stdout, done.stderr
    assert "[1] " not in lines(tmp_path / "out")[0]["prompt"][-1]["content"]
