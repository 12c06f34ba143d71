"""Episodes that share a model, as a user meets them who has had enough."""

import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import started_module
from tests.language.conftest import Body, ChatServer, Handler
from tests.selftrain.tiny import save_learner, save_prompt
from tests.servers import serving


def interrupted(out: Path, *arguments: str, once: Callable[[], bool]) -> int:
    """The exit code of a run that is interrupted once it is in the middle of its work."""
    words = ["run", "--out", out, "--houses", "4", "--workers", "4", *arguments]
    with started_module("housewise.cli", words) as program:
        while not once():
            assert program.poll() is None, program.err
            time.sleep(0.05)
        program.send_signal(signal.SIGINT)
        return program.wait(60)


def partial(out: Path) -> list[Path]:
    return list((out / "episodes").glob("*.partial"))


def test_an_interrupted_run_ends_in_the_middle_of_its_episodes(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra housewise[local] is not installed")
    prompt = save_prompt(tmp_path / "short.yaml")
    model = f"local:{save_learner(tmp_path / 'tiny')}"
    out = tmp_path / "run"
    endless = ("--model", model, f"prompt={prompt}", "max_steps=100000", "max_plans=100000", "max_idle_plans=100000")
    code = interrupted(out, *endless, once=lambda: len(partial(out)) == 4)
    assert code == 130 and len(partial(out)) == 4


@pytest.mark.slow
def test_an_interrupted_run_does_not_wait_for_a_server(tmp_path: Path) -> None:
    with serving(ChatServer()) as server:
        ending = threading.Event()

        def hangs(handler: Handler, _: Body) -> None:
            ending.wait(300)

        server.play(hangs)
        out = tmp_path / "run"
        code = interrupted(out, "--model", "m", "--base-url", server.url, once=lambda: server.under_way == 4)
        ending.set()
    assert code == 130 and len(partial(out)) == 4
