"""The comparison of engines: what is counted, with a tiny model, and what is refused."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.experiments.bench.engines import compare_engines, make_calls
from housewise.experiments.bench.peers import LlamaServer, TokenPrompt
from tests.servers import JsonHandler, LocalServer, serving


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("transformers", reason="the extra housewise[local] is not installed")
    from tests.language.tiny import save_tiny_model

    return str(save_tiny_model(tmp_path_factory.mktemp("tiny") / "tiny"))


@pytest.mark.parametrize("conversations", [1, 3])
def test_engines_take_turns_at_the_same_work(model: str, conversations: int) -> None:
    values = list(compare_engines("writing", conversations, 2, model, writing=4))
    assert Counter(value.measure for value in values) == {
        "tokens_per_second": 2, "generate": 2, "continuous_batching": 2
    }  # fmt: skip
    assert {value.repeat for value in values} == {0, 1} and all(value.value > 0 for value in values)


def test_every_round_has_other_work() -> None:
    episodes = [[TokenPrompt([episode, plan], plan + 1) for plan in range(6)] for episode in range(4)]
    for work, count, amount in (("reading", 4, 120), ("writing", 1, 5), ("plans", 1, 2), ("plans", 4, 4)):
        size = {"reading": 30, "writing": 5, "plans": 2}[work]
        first, second = (make_calls(work, count, size, 400, episodes, number) for number in range(2))
        assert first.amount == amount and first == make_calls(work, count, size, 400, episodes, 0)
        assert first.calls != second.calls
    assert make_calls("plans", 1, 2, 400, episodes, 0).calls == [[episodes[0][0]], [episodes[0][1]]]
    assert make_calls("plans", 4, 2, 400, episodes, 0).calls == [[plans[2] for plans in episodes]]


class Handler(JsonHandler):
    """Says that it wrote a token less than asked."""

    def do_GET(self) -> None:
        self.reply(200, {"build_info": "b1", "total_slots": 4})

    def do_POST(self) -> None:
        self.reply(200, {"tokens_predicted": json.loads(self.read_body())["n_predict"] - 1})


@pytest.fixture
def address() -> Iterator[str]:
    with serving(LocalServer(Handler)) as running:
        yield running.url


def test_a_server_that_writes_less_than_asked_is_refused(address: str, model: str) -> None:
    with pytest.raises(UserError, match="wrote 0 tokens in place of 1"):
        list(compare_engines("reading", 1, 1, model, [], address, reading=20))


@pytest.mark.parametrize(
    ("server", "message"),
    [
        ("http://127.0.0.1:9/v1", r"server=http://127.0.0.1:9: /props does not answer .* start a llama-server"),
        ("127.0.0.1:8080", "is not an address"),
    ],
)
def test_a_server_that_is_not_there_is_named(server: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        LlamaServer(server)


def test_unknown_peers_and_runs_without_plans_are_refused(model: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="peers: no 'vllm'; available: generate, continuous_batching"):
        list(compare_engines("writing", 1, 1, model, ["vllm"], writing=4))
    with pytest.raises(UserError, match="work=plans: needs a run"):
        list(compare_engines("plans", 1, 1, model, plans=1))
    (tmp_path / "episodes").mkdir()
    with pytest.raises(UserError, match="holds no plans of a language model"):
        list(compare_engines("plans", 1, 1, model, run=str(tmp_path), plans=1))
