"""The comparison of engines: what is counted, with a tiny model, and what is refused."""

import json
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.experiments.bench.engines import OURS, Sizes, rows, tasks
from housewise.experiments.bench.peers import LlamaServer, tell_apart
from tests.commands import run_module
from tests.servers import serving


def compare(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return run_module("housewise.experiments.bench.engines", arguments)


def test_engines_take_turns_at_the_same_work(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="the extra housewise[local] is not installed")
    from tests.language.tiny import save_tiny_model

    sizes = ["--read", "20", "--written", "4", "--rounds", "2", "--conversations", "1", "--conversations", "3"]
    model = save_tiny_model(tmp_path / "tiny")
    done = compare("--model", model, "--json", tmp_path / "engines.json", *sizes)
    assert done.returncode == 0, done.stderr
    content = json.loads((tmp_path / "engines.json").read_text())
    found = {(row["measure"], row["conversations"], row["engine"]) for row in content["rows"]}
    assert found == {
        (measure, count, engine)
        for measure in ("reading", "writing")
        for count in (1, 3)
        for engine in (OURS, "generate", "continuous")
    }
    for row in content["rows"]:
        assert row["n"] == len(row["rounds"]) == 2
        assert row["per_second"]["least"] <= row["per_second"]["median"] <= row["per_second"]["most"]
        assert row["engine"] != OURS or row["ratio"] == {"median": 1.0, "least": 1.0, "most": 1.0}
    assert content["threads"] == 1 and len(content["load_average"]) == 3
    assert content["machine"]["cores"] and content["software"]["transformers"]


def test_ratios_are_of_the_same_round() -> None:
    told = rows({("reading", 1): {OURS: [10.0, 20.0, 40.0], "generate": [5.0, 20.0, 10.0]}})
    assert told[1]["ratio"] == {"median": 0.5, "least": 0.25, "most": 1.0}
    assert told[1]["per_second"] == {"median": 10.0, "least": 5.0, "most": 20.0}


def test_every_round_reads_what_nobody_has_read() -> None:
    sizes = Sizes(read=30, written=5, plans=2)
    episodes = [[([[episode, plan]], [plan + 1]) for plan in range(6)] for episode in range(4)]
    first, second = (tasks([1, 4], sizes, 400, episodes, number) for number in range(2))
    assert [(task.measure, task.conversations, task.amount) for task in first] == [
        ("reading", 1, 30), ("writing", 1, 5), ("plans", 1, 2), ("reading", 4, 120), ("writing", 4, 20), ("plans", 4, 4)
    ]  # fmt: skip
    assert first == tasks([1, 4], sizes, 400, episodes, 0)
    assert all(one.calls != other.calls for one, other in zip(first, second, strict=True))
    assert first[2].calls == tuple(episodes[0][:2])
    assert first[5].calls == (([[0, 2], [1, 2], [2, 2], [3, 2]], [3, 3, 3, 3]),)


@pytest.mark.parametrize("peer", ["vllm", "generate=http://127.0.0.1:1", "llama.cpp"])
def test_peers_that_there_are_not_are_refused(peer: str) -> None:
    with pytest.raises(UserError, match="say generate, continuous or llama"):
        tell_apart([peer])


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"llama.cpp at http://127.0.0.1:9: /props does not answer .* start llama-server"
    ):
        LlamaServer("http://127.0.0.1:9/v1")
    with pytest.raises(UserError, match="is no address"):
        LlamaServer("127.0.0.1:8080")


def test_a_run_without_plans_is_named(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="the extra housewise[local] is not installed")
    from tests.language.tiny import save_tiny_model

    (tmp_path / "run" / "episodes").mkdir(parents=True)
    done = compare("--model", save_tiny_model(tmp_path / "tiny"), "--run", tmp_path / "run")
    assert done.returncode == 2
    assert done.stderr.startswith("error: --run ") and "holds no plans" in done.stderr


class Server(BaseHTTPRequestHandler):
    """Says that it wrote a token less than it was asked for."""

    def do_GET(self) -> None:
        self.answer({"build_info": "b1", "total_slots": 4})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.answer({"tokens_predicted": body["n_predict"] - 1})

    def answer(self, body: dict[str, object]) -> None:
        raw = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Server)) as running:
        yield f"http://127.0.0.1:{running.server_address[1]}"


def test_a_server_that_writes_less_than_was_asked_for_is_refused(address: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="the extra housewise[local] is not installed")
    from tests.language.tiny import save_tiny_model

    assert LlamaServer(f"{address}/v1").facts == {"build": "b1", "slots": 4}
    done = compare("--model", save_tiny_model(tmp_path / "tiny"), "--peer", f"llama.cpp={address}", "--read", "20")
    assert done.returncode == 2
    assert "wrote 0 tokens where 1 were asked for" in done.stderr
