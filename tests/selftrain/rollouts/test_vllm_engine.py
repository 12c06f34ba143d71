"""The engine beside a server: what it asks of models without a system role, of several API servers, of short ones.

And a server of its own that sleeps while a model is trained.
"""

import json
import sys
from contextlib import closing
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

pytest.importorskip("peft", reason="the extra housewise[train] is not installed")

from housewise.core import console
from housewise.core.validation import read_model
from housewise.language.base import ChatModelError, ChatRequest, Message, Sampling
from housewise.language.settings import ModelSettings
from housewise.selftrain.examples import write_examples
from housewise.selftrain.rollouts.engine import LOGPROBS_FILE, VllmEngine
from housewise.selftrain.rollouts.settings import RolloutsConfig
from housewise.selftrain.rollouts.vllm_process import SERVER_FILE, VllmProcess
from housewise.selftrain.trainers import ModelReference
from housewise.selftrain.trainers.logprobs import LogprobRequest
from tests.language.tiny import save_tiny_adapter
from tests.lora_server import LoraServer
from tests.selftrain.rollouts.scoring import score_in_this_process
from tests.selftrain.tiny import REFUSING, TEMPLATE, pair, save_talker, training
from tests.servers import serving

DROPPING = TEMPLATE.replace("in messages", "in messages if turn.role != 'system'")
NO_EXAMPLES = Path("no such file")


@pytest.fixture(scope="module")
def talker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_talker(tmp_path_factory.mktemp("engine") / "talker")


@pytest.fixture
def adapted(talker: Path, tmp_path: Path) -> ModelReference:
    """The model with an adapter."""
    return ModelReference(model=f"local:{talker}", adapter=str(save_tiny_adapter(talker, tmp_path / "adapter")))


def engine(server: LoraServer, model: Path, folder: Path, **changes: object) -> VllmEngine:
    """An engine beside a server that compares three pairs."""
    config = RolloutsConfig(engine="vllm", servers=(server.url,), checked_pairs=3)
    return VllmEngine(config, folder, ModelSettings(model=f"local:{model}"), training(**changes), "step 1:")


@pytest.mark.parametrize("template", [REFUSING, DROPPING])
def test_a_model_without_a_system_role_is_compared_and_asked_as_it_is_trained(
    template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score_in_this_process(monkeypatch)
    model = save_talker(tmp_path / "talker", template=template)
    reference = ModelReference(model=f"local:{model}")
    with serving(LoraServer(str(model))) as server:
        served = engine(server, model, tmp_path)
        settings = {
            **served.model_settings("untrained", reference),
            **served.serve("untrained", reference, NO_EXAMPLES),
        }
        server.requests.clear()
        messages = (Message("system", "You tidy a house."), Message("user", "kitchen 0"))
        with closing(ModelSettings(**settings).open()) as opened:
            opened.complete([ChatRequest(messages, Sampling(max_tokens=2), "step 1:", may_be_empty=True)])
    [(_, body)] = server.requests
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant"]
    assert body["messages"][0]["content"] == "You tidy a house.\n\nkitchen 0"


def test_an_adapter_that_one_of_several_api_servers_has_is_refused(
    talker: Path, adapted: ModelReference, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score_in_this_process(monkeypatch)
    with serving(LoraServer(str(talker), fault="split")) as server:
        served = engine(server, talker, tmp_path)
        with pytest.raises(ChatModelError, match=r"on every connection, .*--api-server-count 1"):
            served.serve("imitate", adapted, NO_EXAMPLES)
        server.adapters.clear()
        server.fault = ""
        served.serve("imitate", adapted, NO_EXAMPLES)
        assert not served.recover()
        # The server is restarted with several API servers; rollouts end with a 404.
        server.fault = "split"
        assert served.recover()
        with pytest.raises(ChatModelError, match="--api-server-count 1"):
            served.serve("imitate", adapted, NO_EXAMPLES)


def test_pairs_that_a_server_has_no_room_for_are_not_compared(
    talker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    score_in_this_process(monkeypatch)
    console.print_note.cache_clear()
    reference, examples = ModelReference(model=f"local:{talker}"), tmp_path / "pairs.jsonl"
    long = ({"role": "user", "content": "kitchen 0. " * 300},)
    write_examples(examples, [pair(0, prompt=long), pair(1), pair(2, prompt=long), pair(3)])
    with serving(LoraServer(str(talker), max_length=400)) as server:
        served = engine(server, talker, tmp_path, max_example_tokens=2000)
        served.check(reference)
        served.serve("untrained", reference, examples)
    note = capsys.readouterr().err
    assert "takes 400 tokens, fewer than training.max_example_tokens=2000" in note and note.count("note: ") == 1
    compared = read_model(tmp_path / "untrained" / LOGPROBS_FILE, LogprobRequest).pairs
    assert [each.pair.reply for each in compared[:2]] == [pair(1).reply, pair(3).reply]
    assert len(compared) == 3 and all(len(each.tokens) < 400 for each in compared)
    # What is not learned for its length may not fit the trainer either.
    with serving(LoraServer(str(talker))) as server:
        engine(server, talker, tmp_path, max_example_tokens=400).serve("untrained", reference, examples)
    assert read_model(tmp_path / "untrained" / LOGPROBS_FILE, LogprobRequest).pairs == compared


SLEEPING = RolloutsConfig(
    engine="vllm", command=f"{sys.executable} -m tests.lora_server", checked_pairs=3, while_training="sleep"
)


def is_sleeping(url: str) -> bool:
    with urlopen(url.replace("/v1", "/is_sleeping"), timeout=30) as answer:
        return bool(json.load(answer)["is_sleeping"])


@pytest.mark.slow
def test_a_server_that_sleeps_while_a_model_is_trained_gets_the_next_adapter(
    talker: Path, adapted: ModelReference, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score_in_this_process(monkeypatch)
    served = VllmEngine(SLEEPING, tmp_path, ModelSettings(model=f"local:{talker}"), training(), "step 1:")
    urls, names = [], []
    try:
        for phase in ("imitate", "iteration-1"):
            settings = served.serve(phase, adapted, NO_EXAMPLES)
            urls += settings["servers"]
            names.append(settings["served_as"])
            assert not is_sleeping(urls[-1])
            served.pause()
            assert is_sleeping(urls[-1])
        assert urls[0] == urls[1] and names[0] != names[1]
        with urlopen(f"{urls[0]}/models", timeout=30) as answer:
            assert [model["id"] for model in json.load(answer)["data"]] == ["base", names[1]]
    finally:
        served.stop()
    assert not (tmp_path / SERVER_FILE).exists()


@pytest.mark.parametrize(
    "fault, told",
    [("sleepless", "ended or does not sleep; it is stopped"), ("coma", "does not wake up; it is started anew")],
)
def test_a_server_that_cannot_sleep_is_started_anew(
    fault: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LORA_SERVER_FAULT", fault)
    server = VllmProcess(tmp_path, SLEEPING, "no-model-is-loaded", "base", 16, "float32")
    try:
        first = server.start()
        server.rest()
        assert server.is_running == (fault == "coma")
        second = server.start()
        assert first != second and not is_sleeping(second)
    finally:
        server.stop()
    assert told in capsys.readouterr().err


def test_the_server_that_a_killed_program_has_left_is_ended(
    talker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score_in_this_process(monkeypatch)
    left = VllmProcess(tmp_path, SLEEPING, "no-model-is-loaded", "base", 16, "float32")
    url = left.start()
    told = json.loads((tmp_path / SERVER_FILE).read_text())
    # As if its program were gone.
    (tmp_path / SERVER_FILE).write_text(json.dumps(told | {"owner": 2**22 + 1}))
    served = VllmEngine(SLEEPING, tmp_path, ModelSettings(model=f"local:{talker}"), training(), "step 1:")
    served.stop()
    assert (tmp_path / SERVER_FILE).exists(), "an engine that has started nothing stops nothing"
    try:
        served.serve("untrained", ModelReference(model=f"local:{talker}"), NO_EXAMPLES)
        with pytest.raises(URLError):
            is_sleeping(url)
    finally:
        served.stop()
        left.stop()
    assert not (tmp_path / SERVER_FILE).exists()
