"""Self-training of the bundled model behind a real vLLM, killed on the way; $HOUSEWISE_VLLM is the program."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import psutil
import pytest

from housewise.language.local.smollm2 import smollm2_folder
from housewise.selftrain.rollouts.vllm_process import MARK, SERVER_FILE
from housewise.systems.personalize.record import read_house_records
from tests.commands import wait_until
from tests.language.tiny import change_json
from tests.selftrain.personalize.learner import Learner
from tests.selftrain.tiny import save_prompt

VLLM = os.environ.get("HOUSEWISE_VLLM", "")
PORT = 8473
RUN = {"HOUSEWISE_TEST_RUN": f"vllm-{os.getpid()}"}
"""By which the servers that these tests start are told from others."""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not VLLM, reason="HOUSEWISE_VLLM names no program of vLLM"),
    pytest.mark.skipif(find_spec("trl") is None, reason="the extra housewise[train] is not installed"),
]


class BundledLearner(Learner):
    """The bundled model with the settings of a small self-training behind vLLM."""

    environment: ClassVar[Mapping[str, str]] = RUN
    timeout: ClassVar[float] = 1800

    def __init__(self, folder: Path) -> None:
        self.folder, self.model, self.prompt = folder, Path("smollm2"), save_prompt(folder / "short.yaml")

    def command(self, out: Path, *more: str) -> list[str]:
        settings = [
            f"rollouts.command={VLLM}", "rollouts.options=[--enforce-eager]", "iterations=1", "grow.repeats=2",
            "evaluation.tasks=[{name: test, episodes: test, houses: 1}]", "training.rank=16", "training.epochs=4",
            "run.sampling.max_tokens=48", "run.timeout=600", "run.dtype=float32", "--workers", "1",
        ]  # fmt: skip
        return super().command(out, *settings, *more)


@pytest.fixture(scope="module")
def learner(tmp_path_factory: pytest.TempPathFactory) -> BundledLearner:
    return BundledLearner(tmp_path_factory.mktemp("vllm"))


@pytest.fixture(scope="module")
def whole(learner: BundledLearner) -> Path:
    """A self-training whose engine, trainer and program are killed on the way, each once."""
    out = learner.folder / "whole"
    grown = out / "iteration-1" / "grow" / "episodes"
    with learner.start(out, "--rollouts", "vllm") as program:
        wait_until(lambda: bool(_episodes(grown)), program)
        [engine] = [each for each in _servers() if "EngineCore" in each.name() + " ".join(each.cmdline())]
        before = _episodes(grown)
        engine.kill()
        wait_until(lambda: "it is served again" in program.err, program)
        wait_until(lambda: bool(list(out.glob("iteration-1/checkpoints/*"))), program)
        [trainer] = [each for each in psutil.Process(program.pid).children() if "local" in " ".join(each.cmdline())]
        assert not _servers()
        trainer.kill()
        assert program.wait() == 2, program.err
    assert _episodes(grown).items() > before.items()
    before = _episodes(out)
    with learner.start(out, "--rollouts", "vllm") as program:
        wait_until(lambda: (out / "iteration-1" / "server_check.json").exists(), program)
        program.send_signal(signal.SIGKILL)
        program.wait()
    assert _servers()
    told = learner.train(out, "--rollouts", "vllm")
    assert "ended the vLLM server that an earlier program had left running" in told
    assert not _servers() and not (out / SERVER_FILE).exists()
    assert _episodes(out).items() > before.items()
    return out


def test_every_phase_is_compared_and_no_episode_is_lost(whole: Path) -> None:
    names = ["untrained", "imitate", "iteration-1"]
    for name in names:
        [check] = json.loads((whole / name / "server_check.json").read_text())["servers"].values()
        assert check["pairs"] == 20 and check["base_difference"] < 1e-3
        assert name == "untrained" or check["share"] == pytest.approx(1, abs=0.02)
    phases = json.loads((whole / "summary.json").read_text())["phases"]
    assert [each["phase"] for each in phases] == names
    records = list(read_house_records(whole / "iteration-1" / "grow" / "episodes"))
    assert len({record.name for record in records}) == 4
    assert all(record.result.usage.completion_tokens for record in records)


@contextmanager
def served(*options: str, model: Path | None = None, runtime_loading: bool = True) -> Iterator[str]:
    """The address of a server that a user has started, which is killed in the end."""
    command = [*shlex.split(VLLM), "serve", str(model or smollm2_folder()), "--served-model-name", "base"]
    environment = {**os.environ, **RUN, MARK: "of a user", "SPT_NOENV": "1"}
    if runtime_loading:
        environment["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] = "True"
    arguments = ["--host", "127.0.0.1", "--port", str(PORT), "--enforce-eager", *options]
    with subprocess.Popen([*command, *arguments], env=environment, start_new_session=True) as process:
        try:
            wait_until(lambda: _ask("/health") == 200, process)
            yield f"http://127.0.0.1:{PORT}/v1"
        finally:
            for each in _servers():
                each.kill()


@pytest.fixture
def half(whole: Path, tmp_path: Path) -> Path:
    """What is left of the self-training when it has been stopped after imitation."""
    out = tmp_path / "half"
    shutil.copytree(whole, out)
    shutil.rmtree(out / "iteration-1")
    return out


def test_wrong_adapters_are_refused_and_lost_ones_are_loaded_again(learner: BundledLearner, half: Path) -> None:
    adapter = half / "imitate" / "adapter"
    digest = json.loads((half / "imitate" / "server_check.json").read_text())["weights"]
    name, option = f"imitate-{digest[:12]}", ("--rollouts", f"vllm=http://127.0.0.1:{PORT}/v1")
    grown = half / "iteration-1" / "grow" / "episodes"
    with served("--enable-lora") as url:
        for scale, message in [(0, "does not apply the trained adapter"), (3, "with another scale")]:
            other = half.parent / f"times-{scale}"
            shutil.copytree(adapter, other)
            config = json.loads((other / "adapter_config.json").read_text())
            change_json(other / "adapter_config.json", lora_alpha=scale * config["lora_alpha"])
            assert _ask("/v1/load_lora_adapter", lora_name=name, lora_path=str(other)) == 200
            error = learner.train(half, *option, code=2)
            assert message in error and url in error and len(error.splitlines()) == 1, error
            assert _ask("/v1/unload_lora_adapter", lora_name=name) == 200
        assert not _episodes(grown)
        # It forgets the adapter in the middle.
        with learner.start(half, *option) as program:
            wait_until(lambda: bool(_episodes(grown)), program)
            assert _ask("/v1/unload_lora_adapter", lora_name=name) == 200
            wait_until(lambda: "it is served again" in program.err, program)
            # It is restarted in the middle.
            for each in _servers():
                each.kill()
            assert program.wait() == 2 and "check that the server runs" in program.err, program.err
        before = _episodes(grown)
        assert before
    with served("--enable-lora"), learner.start(half, *option) as program:
        wait_until(lambda: len(_episodes(grown)) == 4, program)
        assert _episodes(grown).items() > before.items()


def test_a_server_that_does_not_fit_is_told_in_a_line(learner: BundledLearner, half: Path, tmp_path: Path) -> None:
    option = ("--rollouts", f"vllm=http://127.0.0.1:{PORT}/v1")
    with served("--enable-lora", "--max-lora-rank", "8", model=_another_model(tmp_path / "other")):
        rank = learner.train(half, *option, code=2)
        model = learner.train(tmp_path / "new", *option, code=2)
    assert "start the server with a higher --max-lora-rank" in rank and len(rank.splitlines()) == 1, rank
    assert "log-probabilities of its base model differ" in model and len(model.splitlines()) == 1, model
    with served("--enable-lora", runtime_loading=False):
        error = learner.train(half, *option, code=2)
    assert "VLLM_ALLOW_RUNTIME_LORA_UPDATING=True" in error and len(error.splitlines()) == 1, error


def _another_model(folder: Path) -> Path:
    """The bundled model with a little noise in its weights."""
    import torch
    from safetensors.torch import load_file, save_file

    shutil.copytree(smollm2_folder(), folder)
    torch.manual_seed(0)
    for path in folder.glob("*.safetensors"):
        weights = {name: value + 0.05 * torch.randn_like(value) for name, value in load_file(path).items()}
        save_file(weights, path, {"format": "pt"})
    return folder


def _episodes(folder: Path) -> dict[Path, bytes]:
    """The records of the episodes in a folder that have ended."""
    found = {path: path.read_bytes() for path in folder.rglob("episodes/*.jsonl")}
    found |= {path: path.read_bytes() for path in folder.glob("*.jsonl") if folder.name == "episodes"}
    return found


def _servers() -> list[psutil.Process]:
    """The processes of the servers that were started."""
    found = []
    for process in psutil.process_iter():
        try:
            known, is_alive = process.environ(), process.status() != psutil.STATUS_ZOMBIE
        except (psutil.Error, OSError):
            continue
        if is_alive and MARK in known and known.items() >= RUN.items():
            found.append(process)
    return found


def _ask(path: str, **body: str) -> int:
    """The status of a request to the user's server; 0 without an answer."""
    sent = json.dumps(body).encode() if body else None
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", sent, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0
