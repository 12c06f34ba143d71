"""Preferences behind a fine-tuning API, against a server on this machine that speaks its protocol."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from housewise.core.errors import UserError
from housewise.selftrain.adapt.settings import AdaptTrainingConfig
from housewise.selftrain.examples import Preference, write_examples
from housewise.selftrain.trainers import open_preference_trainer
from housewise.selftrain.trainers.openai_trainers import OpenAIPreferenceTrainer
from housewise.selftrain.trainers.trained_model import ModelReference, TrainedModel
from tests.commands import run_module
from tests.selftrain.trainers.fine_tuning_server import FineTuning

START = ModelReference(model="gpt-4.1-mini-2025-04-14")


def preference(number: int, **changes: Any) -> Preference:
    prompt = (
        {"role": "system", "content": "Make breakfast."},
        {"role": "user", "content": f"Tea for guest {number}."},
        {"role": "assistant", "content": "Action: Look for tea"},
        {"role": "user", "content": "Found tea_0."},
    )
    fields = {"prompt": prompt, "prefix": "Action:", "chosen": ' Ask "Milk?"', "rejected": " Declare Done"}
    return Preference(**{**fields, **changes})


PREFERENCES = [preference(number) for number in range(10)]


def trainer(server: FineTuning, **changes: Any) -> OpenAIPreferenceTrainer:
    preference = {"trainer": "openai", "epochs": 2, "beta": 0.3, **changes}
    config = AdaptTrainingConfig.load(settings={"preference": preference})
    return OpenAIPreferenceTrainer(config.preference, 5, server.url, wait=lambda seconds: None)


def test_preferences_become_a_fine_tuned_model(server: FineTuning, tmp_path: Path) -> None:
    better = trainer(server).train(PREFERENCES, START, tmp_path)
    assert better == TrainedModel.load(tmp_path) and better.model == "ft:gpt-4o-mini:house"
    (job,) = server.jobs
    assert (job["model"], job["training_file"], job["seed"]) == (START.model, "file-1", 5)
    assert job["method"] == {"type": "dpo", "dpo": {"hyperparameters": {"beta": 0.3, "n_epochs": 2}}}


def test_what_is_uploaded_is_what_the_api_asks_for(server: FineTuning, tmp_path: Path) -> None:
    trainer(server).train(PREFERENCES, START, tmp_path)
    lines = (tmp_path / "training.jsonl").read_bytes()
    assert lines in server.files[0]
    first = json.loads(lines.splitlines()[0])
    assert [turn["role"] for turn in first["input"]["messages"]] == ["system", "user", "assistant", "user"]
    assert first["preferred_output"] == [{"role": "assistant", "content": 'Action: Ask "Milk?"'}]
    assert first["non_preferred_output"] == [{"role": "assistant", "content": "Action: Declare Done"}]
    assert set(first) == {"input", "preferred_output", "non_preferred_output"}


def test_a_stopped_training_follows_its_job_and_another_beta_is_another_one(server: FineTuning, tmp_path: Path) -> None:
    def stop(seconds: float) -> None:
        raise KeyboardInterrupt

    stopped = trainer(server)
    stopped._wait = stop
    with pytest.raises(KeyboardInterrupt):
        stopped.train(PREFERENCES, START, tmp_path)
    with pytest.raises(UserError, match="something else or otherwise; delete it"):
        trainer(server, beta=0.5).train(PREFERENCES, START, tmp_path)
    assert trainer(server).train(PREFERENCES, START, tmp_path).model
    assert len(server.jobs) == len(server.files) == 1


def test_data_that_the_api_would_refuse(server: FineTuning, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="0 preferences are too few: a fine-tuning API asks for 10"):
        trainer(server).train([], START, tmp_path)
    with pytest.raises(UserError, match="preference 11 has an empty prompt or reply"):
        trainer(server).train([*PREFERENCES, preference(0, prefix="", rejected=" ")], START, tmp_path)
    assert not server.files


def test_a_trainer_that_knows_no_preferences_is_refused() -> None:
    config = AdaptTrainingConfig.load(settings={"preference": {"trainer": "nothing"}}).preference
    with pytest.raises(UserError, match="trainer=nothing: cannot learn preferences; use local or openai"):
        open_preference_trainer(config, 0, None, lambda done, total, words: None)


@pytest.mark.slow
def test_kept_preferences_teach_a_model_behind_a_server(server: FineTuning, tmp_path: Path) -> None:
    kept, out = tmp_path / "preferences.jsonl", tmp_path / "out"
    write_examples(kept, PREFERENCES)
    words = [kept, "--model", START.model, "--out", out, "--base-url", server.url, "preference.trainer=openai"]
    env = {**os.environ, "OPENAI_API_KEY": "sk-test-secret"}
    done = run_module("housewise.selftrain.train_on_preferences", [*words, "preference.poll_seconds=0.01"], env, code=0)
    assert done.stdout == f"{out}: ft:gpt-4o-mini:house\n" and "succeeded" in done.stderr
    again = run_module("housewise.selftrain.train_on_preferences", words, env)
    assert again.returncode == 0 and len(server.jobs) == 1, "what is finished is not done again"
    refused = run_module("housewise.selftrain.train_on_preferences", [kept, "--model", "local", *words[3:]], env)
    assert refused.returncode == 2 and "holds a finished training with other preferences, model" in refused.stderr
    words[4] = tmp_path / "other"
    refused = run_module("housewise.selftrain.train_on_preferences", [kept, "--model", "local", *words[3:]], env)
    assert refused.returncode == 2 and "cannot train local models" in refused.stderr
