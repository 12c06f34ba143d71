"""Many threads and one model."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra housewise[local] is not installed")

from housewise.language import ChatModelError, ChatRequest, Message, Sampling  # noqa: E402
from housewise.language.local.model import LocalChatModel  # noqa: E402
from tests.language.tiny import save_tiny_model  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("tiny") / "model", "bytes")


@pytest.fixture
def model(folder: Path) -> Iterator[LocalChatModel]:
    opened = LocalChatModel(str(folder), device="cpu", dtype="float32", batch_size=3)
    yield opened
    opened.close()


def ask(text: str, tokens: int, **sampling: Any) -> ChatRequest:
    return ChatRequest((Message("user", text),), Sampling(**{"temperature": 0.0, "max_tokens": tokens, **sampling}))


def text(model: LocalChatModel, request: ChatRequest) -> str:
    return model.complete([request])[0][0].text


def tell_begin(model: LocalChatModel, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """An event that is set when the model goes on with a reply."""
    begun, reader = threading.Event(), model._open().reader
    step = reader.append_tokens

    def told(tokens: Any) -> Any:
        begun.set()
        return step(tokens)

    monkeypatch.setattr(reader, "append_tokens", told)
    return begun


def test_threads_hear_what_they_would_hear_alone(model: LocalChatModel, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = [
        ask("Where does it go? " * (1 + index % 4) + str(index), 3 + 17 * (index % 3), temperature=1.0, seed=index)
        for index in range(24)
    ]
    alone = [text(model, request) for request in requests]
    assert len(set(alone)) > 20
    reader, together = model._open().reader, []
    step = reader.append_tokens

    def counted(tokens: Any) -> Any:
        together.append(reader.rows)
        return step(tokens)

    monkeypatch.setattr(reader, "append_tokens", counted)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda request: text(model, request), requests)) == alone
    assert max(together) == 3 and reader.rows == 0


def test_a_short_reply_does_not_wait_for_a_long_one(model: LocalChatModel, monkeypatch: pytest.MonkeyPatch) -> None:
    ended, begun = [], tell_begin(model, monkeypatch)
    long = threading.Thread(target=lambda: ended.append(("long", text(model, ask("Tell me a story.", 900)))))
    long.start()
    begun.wait()
    ended.append(("short", text(model, ask("And you?", 2))))
    long.join()
    assert [name for name, _ in ended] == ["short", "long"]


def test_scores_do_not_change_what_is_being_written(model: LocalChatModel) -> None:
    request, prompt = ask("Tell me a story.", 300), ask("Where to?", 1)
    story, scores = text(model, request), model.score(prompt, ["here", "there it is"])
    with ThreadPoolExecutor(2) as pool:
        told = pool.submit(text, model, request)
        assert [model.score(prompt, ["here", "there it is"]) for _ in range(5)] == [pytest.approx(scores, abs=1e-3)] * 5
        assert told.result() == story


def test_all_hear_of_a_failure_and_the_next_are_served(model: LocalChatModel, monkeypatch: pytest.MonkeyPatch) -> None:
    request, reader = ask("Where to?", 20), model._open().reader
    wanted, step, rows = text(model, request), reader.append_tokens, []

    def fails(tokens: Any) -> Any:
        if reader.rows < 2:
            return step(tokens)
        rows.append(reader.rows)
        return torch.empty(1 << 50)

    monkeypatch.setattr(reader, "append_tokens", fails)
    with pytest.raises(ChatModelError, match="out of memory with 3 replies at once; lower batch_size"):
        model.complete([request, ask("And then?", 20)])
    assert rows == [2] and reader.rows == 0
    assert text(model, request) == wanted
    with pytest.raises(ChatModelError, match="the prompt has"):
        model.complete([request, ask("far too long " * 9000, 3)])
    assert text(model, request) == wanted


def test_those_who_wait_are_told_that_the_model_is_closed(
    model: LocalChatModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = tell_begin(model, monkeypatch)
    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(model.complete, [ask(f"Story {number}?", 1500)]) for number in range(5)]
        begun.wait()
        scored = pool.submit(model.score, ask("Where to?", 1), ["here"])
        model.close()
        for future in asked:
            with pytest.raises(ChatModelError, match="closed"):
                future.result()
        assert scored.exception() is None or isinstance(scored.exception(), ChatModelError)


@pytest.mark.slow
def test_a_program_can_be_interrupted(folder: Path) -> None:
    program = (
        "import signal, sys\n"
        # Where the tests run in the background of a shell, it is ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from housewise.language import ChatRequest, Message, Sampling\n"
        "from housewise.language.local.model import LocalChatModel\n"
        "model = LocalChatModel(sys.argv[1], device='cpu', dtype='float32')\n"
        "print('asks', flush=True)\n"
        "while True:\n"
        "    model.complete([ChatRequest((Message('user', 'Go on.'),), Sampling(max_tokens=1000))])\n"
    )
    command = [sys.executable, "-c", program, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        try:
            process.wait(60)
        finally:
            process.kill()
        assert process.stderr.read().rstrip().endswith("KeyboardInterrupt")
        assert process.returncode == -signal.SIGINT


def test_no_thread_is_left_behind(model: LocalChatModel) -> None:
    text(model, ask("Where to?", 3))
    writers = [thread for thread in threading.enumerate() if thread.name == "writer"]
    for thread in writers:
        thread.join(30)
    assert not any(thread.is_alive() for thread in writers)
    assert text(model, ask("Where to?", 3))
