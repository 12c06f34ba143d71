"""The fine-tuning API, against a server on this machine that speaks its protocol."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from housewise.core.errors import UserError
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.selftrain.trainers.openai_trainers import OpenAITrainer
from housewise.selftrain.trainers.trained_model import ModelReference, TrainedModel
from tests.selftrain.tiny import pair, training
from tests.selftrain.trainers.fine_tuning_server import FineTuning

PAIRS = [pair(number) for number in range(12)]
START = ModelReference(model="gpt-4o-mini-2024-07-18")


def trainer(server: FineTuning, told: list[str] | None = None, wait: Any = lambda seconds: None) -> OpenAITrainer:
    said = [] if told is None else told
    return OpenAITrainer(training(trainer="openai", epochs=3), 5, server.url, lambda *now: said.append(now[2]), wait)


def test_pairs_become_a_fine_tuned_model(server: FineTuning, tmp_path: Path) -> None:
    told: list[str] = []
    better = trainer(server, told).train(PAIRS, START, tmp_path)
    assert better == TrainedModel.load(tmp_path)
    assert (better.model, better.adapter) == ("ft:gpt-4o-mini:house", None)
    assert better.metrics == {"pairs": 12.0, "tokens": 4321.0}
    (job,) = server.jobs
    assert (job["model"], job["training_file"], job["seed"]) == (START.model, "file-1", 5)
    assert job["method"]["supervised"]["hyperparameters"] == {"n_epochs": 3}
    assert [words.split()[1] for words in told] == ["validating_files", "queued", "running", "succeeded"]
    assert (tmp_path / "curve.csv").read_text() == "step,loss\n1,1.0\n2,0.5\n"
    assert server.keys == {"Bearer sk-test-secret"}


def test_a_proxy_does_not_stand_before_this_machine(
    server: FineTuning, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert trainer(server).train(PAIRS, START, tmp_path).model == "ft:gpt-4o-mini:house"


def test_what_is_uploaded_is_what_the_api_asks_for(server: FineTuning, tmp_path: Path) -> None:
    trainer(server).train(PAIRS, START, tmp_path)
    lines = (tmp_path / "training.jsonl").read_bytes()
    assert lines in server.files[0]
    first = json.loads(lines.splitlines()[0])
    assert [turn["role"] for turn in first["messages"]] == ["system", "user", "assistant"]
    assert first["messages"][2]["content"] == "step 1: go to counter 0"


def test_of_a_conversation_only_the_reply_is_learned_unless_all_of_it_is(server: FineTuning, tmp_path: Path) -> None:
    prompt = ({"role": "user", "content": "Tea."}, {"role": "assistant", "content": "Milk?"}, PAIRS[0].prompt[1])
    both = [pair(prompt=prompt, turns=turns) for turns in (False, True)]
    trainer(server).train([*both, *PAIRS], START, tmp_path)
    lines = [json.loads(line)["messages"] for line in (tmp_path / "training.jsonl").read_text().splitlines()]
    assert lines[0][1] == {"role": "assistant", "content": "Milk?", "weight": 0}
    assert lines[1][1] == {"role": "assistant", "content": "Milk?"}
    assert all("weight" not in messages[-1] for messages in lines)


def test_a_restart_follows_the_same_job(server: FineTuning, tmp_path: Path) -> None:
    def stop(seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trainer(server, wait=stop).train(PAIRS, START, tmp_path)
    assert json.loads((tmp_path / "job.json").read_text())["job"] == "ftjob-1"
    assert trainer(server).train(PAIRS, START, tmp_path).model == "ft:gpt-4o-mini:house"
    assert len(server.jobs) == len(server.files) == 1


def test_a_job_whose_name_was_lost_is_found_again(server: FineTuning, tmp_path: Path) -> None:
    """Killed between the start of the job and writing its name."""
    trainer(server).train(PAIRS, START, tmp_path)
    (tmp_path / "job.json").unlink()
    (tmp_path / "model.json").unlink()
    trainer(server).train(PAIRS, START, tmp_path)
    assert len(server.jobs) == 1


@pytest.mark.parametrize(("state", "said"), [("failed", "the file is odd"), ("cancelled", "no reason given")])
def test_a_job_that_comes_to_nothing(server: FineTuning, tmp_path: Path, state: str, said: str) -> None:
    server.states = ["running", state]
    server.error = {"code": "bad", "message": "the file\nis odd", "param": None}
    ended = "was cancelled" if state == "cancelled" else "has failed"
    with pytest.raises(UserError, match=f"ftjob-1 {ended} \\({said}\\).*{re.escape(str(tmp_path / 'job.json'))}"):
        trainer(server).train(PAIRS, START, tmp_path)
    assert TrainedModel.load(tmp_path) is None
    # Deleting job.json starts another, as the message says.
    (tmp_path / "job.json").unlink()
    server.states = ["succeeded"]
    server.jobs[0]["status"] = state
    assert trainer(server).train(PAIRS, START, tmp_path).model
    assert len(server.jobs) == 2


def test_other_pairs_are_not_taken_for_the_job_that_runs(server: FineTuning, tmp_path: Path) -> None:
    trainer(server).train(PAIRS, START, tmp_path)
    (tmp_path / "model.json").unlink()
    with pytest.raises(UserError, match="something else or otherwise"):
        trainer(server).train(PAIRS[:11], START, tmp_path)


def test_a_refusal_is_told_of_without_the_key(server: FineTuning, tmp_path: Path) -> None:
    server.refusal = (400, "no such model")
    with pytest.raises(UserError, match="answered 400 \\(no such model\\)") as caught:
        trainer(server).train(PAIRS, START, tmp_path)
    assert "secret" not in str(caught.value)
    server.refusal = (401, "sk-test-secret is wrong")
    with pytest.raises(UserError, match="OPENAI_API_KEY") as caught:
        trainer(server).train(PAIRS, START, tmp_path)
    assert "secret" not in str(caught.value)


def test_data_that_the_api_would_refuse(server: FineTuning, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="9 pairs are too few"):
        trainer(server).train(PAIRS[:9], START, tmp_path)
    with pytest.raises(UserError, match="pair 13 has an empty"):
        trainer(server).train([*PAIRS, pair(reply=" ", prefix="")], START, tmp_path)
    assert not server.files


def test_a_local_model_is_not_trained_there(server: FineTuning, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"training\.trainer"):
        trainer(server).train(PAIRS, ModelReference(model="local"), tmp_path)


def test_an_empty_address_in_the_environment_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("OPENAI_BASE_URL", "")
    client = OpenAITrainer(training(trainer="openai"))._client
    assert client.api.base_url == "https://api.openai.com/v1/"


def test_an_address_that_is_none_is_refused_before_anything_is_played() -> None:
    with pytest.raises(UserError, match="base_url is not a web address; give it as http://host:port/v1"):
        OpenAITrainer(training(trainer="openai"), base_url="[").check(ModelReference(model="gpt-4o"))


@pytest.mark.parametrize("url", [None, ""])
def test_no_key(monkeypatch: pytest.MonkeyPatch, url: str | None) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    if url is not None:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
    with pytest.raises(UserError, match="set OPENAI_API_KEY"):
        OpenAITrainer(training(trainer="openai")).check(ModelReference(model="gpt-4o"))


def test_settings_without_effect_and_rounded_passes_are_named(server: FineTuning, tmp_path: Path) -> None:
    config = load_selftraining(overrides=["training.trainer=openai", "training.rank=4", "training.epochs=2.6"]).training
    assert config.unused_keys == ["training.rank"]
    assert not config.model_copy(update={"trainer": "local"}).unused_keys
    trained = OpenAITrainer(config, 5, server.url, wait=lambda seconds: None).train(PAIRS, START, tmp_path)
    assert trained.notes == ("training.epochs=2.6 is rounded to 3: the API makes whole passes",)
