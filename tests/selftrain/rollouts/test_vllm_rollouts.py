"""Self-training whose model answers behind a server: real processes, a tiny model with adapters, kill -9."""

import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import psutil
import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from housewise.core.errors import UserError
from housewise.language.settings import ModelSettings
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.selftrain.rollouts import engine
from housewise.selftrain.rollouts.settings import RolloutsConfig
from housewise.selftrain.rollouts.vllm_process import LOG_FILE, MARK, SERVER_FILE
from housewise.selftrain.trainers import ModelReference
from housewise.selftrain.trainers.settings import TrainingConfig
from housewise.systems.personalize.record import read_house_records
from tests.commands import started_module, wait_until
from tests.lora_server import LoraServer
from tests.selftrain.personalize.learner import Learner
from tests.selftrain.tiny import save_talker
from tests.servers import serving

PHASES = ["untrained", "imitate", "iteration-1"]


class ServedLearner(Learner):
    """A tiny model for chat with the settings of a small self-training behind a server."""

    environment: ClassVar[Mapping[str, str]] = {"OMP_NUM_THREADS": "1"}
    timeout: ClassVar[float] = 400

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.model = save_talker(folder / "talker")
        self.requests: list[tuple[str, dict[str, Any]]] = []

    def command(self, out: Path, *more: str) -> list[str]:
        settings = [
            f"rollouts.command={sys.executable} -m tests.lora_server", "run.dtype=float32", "iterations=1",
            "evaluation.tasks=[{name: test, episodes: test, houses: 1}]", "training.learning_rate=0.01",
        ]  # fmt: skip
        return super().command(out, *settings, *more)


@pytest.fixture(scope="module")
def learner(tmp_path_factory: pytest.TempPathFactory) -> ServedLearner:
    return ServedLearner(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def whole(learner: ServedLearner) -> Path:
    """A self-training behind a server, from beginning to end."""
    out = learner.folder / "whole"
    with serving(LoraServer(str(learner.model))) as server:
        learner.train(out, "--rollouts", f"vllm={server.url}")
        learner.requests = server.requests
    return out


@pytest.fixture
def half(whole: Path, tmp_path: Path) -> Path:
    """What is left of it when it has been stopped after imitation."""
    out = tmp_path / "half"
    shutil.copytree(whole, out)
    shutil.rmtree(out / "iteration-1")
    return out


def content(out: Path) -> dict[str, Any]:
    """What was played and learned, without how it was asked and how long that took."""
    found: dict[str, Any] = {}
    for path in out.rglob("*"):
        if path.name in ("pairs.jsonl", "filter.json", "curve.csv", "adapter_model.safetensors"):
            found[str(path.relative_to(out))] = path.read_bytes()
    for folder in (out / "iteration-1" / "grow", *(out / name / "evaluation" / "test" for name in PHASES)):
        for record in read_house_records(folder / "episodes"):
            found[f"{folder.relative_to(out)}/{record.name}"] = [plan.reply for plan in record.plans]
    return found


def servers() -> list[int]:
    """The processes of servers that were started."""
    return [
        process.pid
        for process in psutil.process_iter()
        if process.status() != psutil.STATUS_ZOMBIE and "tests.lora_server" in " ".join(process.cmdline())
    ]


def test_behind_a_server_the_same_is_played_and_learned_as_in_process(learner: ServedLearner, whole: Path) -> None:
    local = learner.folder / "local"
    learner.train(local)
    assert content(whole) == content(local)


def test_each_phase_has_a_name_of_its_own_and_is_compared(learner: ServedLearner, whole: Path) -> None:
    asked = learner.requests
    loaded = [body["lora_name"] for path, body in asked if path.endswith("/load_lora_adapter")]
    digests = []
    for name in PHASES:
        run = json.loads((whole / name / "evaluation" / "test" / "config.json").read_text())["models"]["agent"]
        digests.append(run["weights"])
        check = json.loads((whole / name / "server_check.json").read_text())
        [measured] = check["servers"].values()
        assert check["weights"] == run["weights"] and measured["pairs"] == 20
        assert measured["base_difference"] < 1e-5 and (name == "untrained" or measured["share"] == pytest.approx(1))
    assert len(set(digests)) == 3
    assert loaded == [f"{name}-{digest[:12]}" for name, digest in list(zip(PHASES, digests, strict=True))[1:]]
    played = [body for path, body in asked if path.endswith("/completions") and "prompt_logprobs" not in body]
    assert {body["model"] for body in played} == {"base", *loaded}
    for body in played:
        assert (body["top_k"], body["min_p"], body["repetition_penalty"]) == (-1, 0.0, 1.0)
        assert body["messages"][-1] == {"role": "assistant", "content": "step 1:"} and body["continue_final_message"]


def test_the_digest_and_not_the_name_identifies_a_run(learner: ServedLearner, whole: Path) -> None:
    path = whole / "imitate" / "evaluation" / "test" / "config.json"
    before = path.read_text()
    assert learner.train(whole, "--rollouts", "vllm") == ""
    path.write_text(before.replace(json.loads(before)["models"]["agent"]["weights"], "0" * 32))
    assert "other settings (weights)" in learner.train(whole, "--rollouts", "vllm", code=2)
    path.write_text(before)
    assert "other settings (rollouts.engine)" in learner.train(whole, code=2)


@pytest.fixture
def two(learner: ServedLearner) -> Iterator[list[LoraServer]]:
    """Two servers that a user has started."""
    with serving(LoraServer(str(learner.model))) as one, serving(LoraServer(str(learner.model))) as other:
        yield [one, other]


def test_adapters_that_are_wrong_are_refused_and_nothing_is_lost(
    learner: ServedLearner, half: Path, two: list[LoraServer]
) -> None:
    option = "vllm=" + ",".join(server.url for server in two)
    for fault, message in [
        ("ignores", "does not apply the trained adapter"),
        ("first", "the trained adapter ("),
        ("template", "in other tokens than the training"),
        ("neither", "does not list adapter"),
    ]:
        two[1].fault = fault
        if fault == "first":
            two[1].adapters["tuned"] = str(_another_adapter(learner))
        error = learner.train(half, "--rollouts", option, code=2)
        assert message in error and two[1].url in error and len(error.splitlines()) == 1, error
        two[1].adapters.clear()
        assert not list(half.glob("iteration-1/grow/episodes/*"))
    two[1].fault = ""
    learner.train(half, "--rollouts", option)
    for server in two:
        assert {path for path, _ in server.requests} >= {"/v1/load_lora_adapter", "/v1/unload_lora_adapter"}
        assert len(server.adapters) == 1
        assert any("seed" in body for _, body in server.requests)


def _another_adapter(learner: ServedLearner) -> Path:
    from tests.language.tiny import save_tiny_adapter

    folder = learner.folder / "another"
    return folder if folder.exists() else save_tiny_adapter(learner.model, folder, seed=5)


@pytest.mark.slow
def test_a_server_that_forgets_its_adapters_gets_them_again(
    learner: ServedLearner, whole: Path, half: Path, two: list[LoraServer]
) -> None:
    two[0].fault = "forgets"
    told = learner.train(half, "--rollouts", f"vllm={two[0].url}")
    assert told.count("a server ended or lost the model") == 1 and "does not exist" in told
    assert content(half) == content(whole)


@pytest.mark.slow
def test_killed_servers_and_trainers_lose_nothing(learner: ServedLearner, whole: Path, half: Path) -> None:
    die = half.parent / "die"
    die.touch()
    command = learner.command(half, "--rollouts", "vllm", "training.epochs=1")
    environment = {**os.environ, "LORA_SERVER_FAULT": f"dies:{die}"}
    # The server is killed while it answers and started again; then the trainer is killed, and all that goes with it.
    with started_module("housewise.cli", command, environment) as program:
        wait_until(lambda: any(half.glob("iteration-1/checkpoints/*")), program)
        assert "it is served again" in program.err
        [trainer] = psutil.Process(program.pid).children()
        assert not servers()
        trainer.kill()
        assert program.wait() == 2 and "training in" in program.err
    # The command is killed while its server runs, which the next one finds.
    with started_module("housewise.cli", command, environment) as program:
        wait_until(lambda: (half / "iteration-1" / "server_check.json").exists(), program)
        program.send_signal(signal.SIGKILL)
        program.wait()
    [left] = servers()
    assert psutil.Process(left).environ()[MARK]
    told = learner.train(half, "--rollouts", "vllm")
    assert "ended the vLLM server that an earlier program had left running" in told
    assert not servers() and not (half / SERVER_FILE).exists() and (half / LOG_FILE).exists()
    assert content(half) == content(whole)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rollouts", "vlm"], "no such engine"),
        (["--rollouts", "vllm="], "names no server"),
        (["--rollouts", "vllm=localhost:8000"], "is not the address of a server"),
        (["--rollouts", "vllm=http://127.0.0.1:9/v1"], "check that the server runs"),
        (["--rollouts", "vllm", "training.method=full"], "servers load adapters only"),
        (["--rollouts", "vllm", "training.rank=600"], "up to rank 512"),
        (["--rollouts", "vllm", 'rollouts.command=vllm "x'], "No closing quotation"),
        (["--rollouts", "vllm", "rollouts.options=[--no-such-option]"], "(unrecognized arguments: --no-such-option)"),
    ],
)
def test_what_cannot_be_served_is_told_in_a_line(
    learner: ServedLearner, tmp_path: Path, options: list[str], message: str
) -> None:
    error = learner.train(tmp_path / "out", *options, code=2)
    lines = [line for line in error.strip().splitlines() if "starting vLLM" not in line]
    assert message in error and len(lines) == 1, error


def test_a_model_of_an_api_is_refused_before_any_model_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "smollm2_folder", lambda: pytest.fail("looks for the bundled model"))
    model = ModelSettings(model="gpt-4o", adapter=None)
    with pytest.raises(UserError, match=r"^rollouts\.engine=vllm: model gpt-4o is not trained here; "):
        engine.open_engine(RolloutsConfig(engine="vllm"), tmp_path, model, TrainingConfig(), "")


@pytest.mark.parametrize(
    ("config", "ray", "message"),
    [
        ({}, "10.0.0.1:6379", r"not the others of Ray cluster 10\.0\.0\.1:6379; .* name them in rollouts\.servers"),
        ({"servers": [0, 1]}, None, "the base model has several names .* start all servers with the same --served-mo"),
        ({"servers": [0]}, "10.0.0.1:6379", None),
    ],
)
def test_servers_that_cannot_play_every_phase_are_refused_before_anything_is_played(
    learner: ServedLearner, tmp_path: Path, config: dict[str, list[int]], ray: str | None, message: str | None
) -> None:
    model = ModelSettings(model=f"local:{learner.model}", adapter=None)
    with serving(LoraServer(str(learner.model))) as one, serving(LoraServer(str(learner.model), "other")) as other:
        servers = tuple((one, other)[number].url for number in config.get("servers", []))
        rollouts = RolloutsConfig(engine="vllm", servers=servers, command=sys.executable)
        opened = engine.open_engine(rollouts, tmp_path, model, TrainingConfig(), "", ray)
        if message is None:
            opened.check(ModelReference(model=model.model))
            return
        with pytest.raises(UserError, match=message):
            opened.check(ModelReference(model=model.model))


def test_settings_of_servers_without_effect_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["rollouts.servers=[http://127.0.0.1:9/v1]", "rollouts.max_model_len=4608"]
    config = load_selftraining(overrides=given)
    model = ModelSettings(model="local", adapter=None)
    engine.open_engine(config.rollouts, tmp_path, model, config.training, "").check(ModelReference(model="local"))
    told = (
        "note: rollouts.servers, rollouts.max_model_len: without effect with rollouts.engine=local; set rollouts.engine"
    )
    assert capsys.readouterr().err.startswith(told)
    for used in ([], [*given, "rollouts.engine=vllm"]):
        assert not load_selftraining(overrides=used).rollouts.unused_keys


def test_a_model_without_a_chat_template_is_refused(learner: ServedLearner, tmp_path: Path) -> None:
    plain = Learner(tmp_path)
    assert "its tokenizer has no chat template" in plain.train(tmp_path / "out", "--rollouts", "vllm", code=2)


def test_a_server_of_another_kind_is_told_before_anything_is_played(learner: ServedLearner, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)) as server:
        error = learner.train(out, "--rollouts", f"vllm=http://127.0.0.1:{server.server_address[1]}/v1", code=2)
    assert "did not list its models (501" in error and len(error.splitlines()) == 1, error
    assert not (out / "demonstrations").exists()


def test_a_program_that_is_missing_is_told_before_anything_is_played(learner: ServedLearner, tmp_path: Path) -> None:
    error = learner.train(tmp_path / "out", "--rollouts", "vllm", "rollouts.command=no-such-vllm", code=2)
    assert "install vLLM in an environment of its own" in error and len(error.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_an_adapter_that_a_server_does_not_take_is_told(learner: ServedLearner, half: Path) -> None:
    with serving(LoraServer(str(learner.model), max_rank=1)) as server:
        error = learner.train(half, "--rollouts", f"vllm={server.url}", code=2)
        assert "max_lora_rank 1" in error and "--max-lora-rank" in error and "in another folder" in error
        server._max_rank, server.fault = 16, "targets"
        error = learner.train(half, "--rollouts", f"vllm={server.url}", code=2)
        assert "unsupported target modules" in error and "in another folder with training.targets" in error
    # As the remedies say, the folder keeps what its models were trained with.
    for setting in ("training.rank=1", "training.targets=[q_proj, v_proj]", "training.quantization=4bit"):
        key = setting.partition("=")[0]
        assert f"other settings ({key})" in learner.train(half, "--rollouts", "vllm", setting, code=2)
