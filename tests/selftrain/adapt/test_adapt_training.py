"""Training for ADAPT as a user does, and learning rates, which may change until something is learned with them."""

import json
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from housewise.core.errors import UserError
from housewise.language.embedder import has_minilm
from housewise.selftrain.adapt.adapt_training import AdaptTraining
from housewise.selftrain.adapt.settings import AdaptTrainingConfig
from tests.selftrain.tiny import Unheard, adapter_weights, save_learner, save_talker
from tests.systems.command_runs import adapt, record_of, run_housewise


@pytest.mark.parametrize(
    ("section", "learned"),
    [
        ("warm_up.training", "warm-up/model.json"),
        ("imitation", "fold-0/STaR-GATE/pairs.jsonl"),
        ("preference", "fold-0/Reflection-DPO/preferences.jsonl"),
    ],
)
def test_a_rate_may_change_until_something_is_learned_with_it(tmp_path: Path, section: str, learned: str) -> None:
    model, out = save_learner(tmp_path / "tiny"), tmp_path / "out"

    def begin(*settings: str) -> None:
        config = AdaptTrainingConfig.load(overrides=[f"run.model=local:{model}", *settings])
        AdaptTraining(config, out, Unheard()).begin()

    begin()
    begin(f"{section}.learning_rate=1e-6")
    with pytest.raises(UserError, match=r"other settings .*batch"):
        begin(f"{section}.learning_rate=1e-6", f"{section}.batch=3")
    path = out / learned
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    (path.parent / "model.json").write_text(f'{{"model": "local:{model}"}}')
    begin(f"{section}.learning_rate=1e-6")
    with pytest.raises(UserError, match=r"other settings .*learning_rate"):
        begin(f"{section}.learning_rate=1e-7")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("warm_up.training.rank=600", r"^warm_up\.training\.rank=600: vLLM serves adapters up to rank 512"),
        ("warm_up.training.method=full", r"set warm_up\.training\.method=lora, or rollouts\.engine=local"),
    ],
)
def test_what_cannot_be_served_is_named_by_the_settings_of_this_training(
    tmp_path: Path, setting: str, message: str
) -> None:
    model = save_learner(tmp_path / "tiny")
    overrides = [f"run.model=local:{model}", "rollouts.engine=vllm", setting]
    with pytest.raises(UserError, match=message):
        AdaptTraining(AdaptTrainingConfig.load(overrides=overrides), tmp_path / "out", Unheard())


@pytest.mark.parametrize("setting", ["planner=always", "asking=always", "thinks=true", "memory.learn=episode"])
def test_a_student_with_other_prompts_than_those_of_the_training_is_refused(tmp_path: Path, setting: str) -> None:
    overrides = [f"run.model=local:{save_learner(tmp_path / 'tiny')}", f"run.{setting}"]
    name, _, value = setting.partition("=")
    with pytest.raises(UserError, match=rf"^run\.\w+\.{name.rpartition('.')[2]}={value}: the student that is trained"):
        AdaptTraining(AdaptTrainingConfig.load(overrides=overrides), tmp_path / "out", Unheard())
    assert not (tmp_path / "out").exists()


def selftrain(model: Path, out: Path, *more: object, code: int = 0) -> str:
    longest = [
        f"{section}.{key}" for section in ("warm_up.training", "imitation", "preference")
        for key in ("max_example_tokens=100000", "device=cpu")
    ]  # fmt: skip
    words = ["selftrain", "--system", "adapt", "--model", f"local:{model}", "--out", out, *longest, *more]
    return run_housewise(*words, code=code)


def test_what_the_warm_ups_adapter_determines_is_set_there(tmp_path: Path) -> None:
    settings = [f"run.model=local:{save_learner(tmp_path / 'tiny')}", "preference.rank=3"]
    with pytest.raises(UserError, match=r"preference\.rank=3: .* whose rank is 32; set warm_up\.training\.rank"):
        AdaptTraining(AdaptTrainingConfig.load(overrides=settings), tmp_path / "out", Unheard())
    AdaptTraining(AdaptTrainingConfig.load(overrides=[*settings, "warm_up.people=0"]), tmp_path / "out", Unheard())


@pytest.mark.skipif(not has_minilm(), reason="needs MiniLM")
def test_reflection_dpo_is_one_command_that_resumes(tmp_path: Path) -> None:
    model, out = save_talker(tmp_path / "tiny"), tmp_path / "out"
    # A mistake leaves nothing that the corrected command would have to fit.
    assert "nobody is named 'joan'; " in selftrain(model, out, "--quick", "--person", "joan", code=2)
    told = selftrain(model, out, "--quick", "--person", "mark")
    assert f"housewise run --system adapt --model local:{model} --adapter {out}/fold/" in told
    assert record_of(out / "fold" / "rollouts", "mark-3-run0").result.scores["executed"] <= 5
    learner = out / "fold" / "Reflection-DPO"
    assert 0 < len((learner / "preferences.jsonl").read_text().splitlines()) <= 4
    before = adapter_weights(learner)
    (learner / "model.json").unlink()
    selftrain(model, out, "--quick", "--person", "mark")
    assert adapter_weights(learner) == before
    assert "other settings (run.person)" in selftrain(model, out, "--quick", code=2)
    played = tmp_path / "run"
    adapt("--model", f"local:{model}", "--adapter", learner / "adapter", "--person", "lisa", "task=3",
          "max_steps=2", "--out", played)  # fmt: skip
    assert json.loads((played / "config.json").read_text())["agent"]["prompt"] == "short"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--houses", "3"), "--houses: does not concern the training of adapt; leave it out"),
        (("--config", "paper", "run.model=gpt-x"), "only local models are trained here"),
        (("--config", "tidy"), "unknown setting 'run.kinds'"),
        (("--rollouts", "vlm"), "no such engine"),
        (("--rollouts", "vllm"), "its tokenizer has no chat template, without which servers refuse"),
        (("--base-url", "http://127.0.0.1:9/v1"), "--rollouts vllm=URL"),
    ],
)
def test_what_cannot_be_trained_is_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    told = selftrain(save_learner(tmp_path / "tiny"), tmp_path / "out", *words, code=2)
    assert said in told and told.count("\n") == 1 and not (tmp_path / "out").exists()
