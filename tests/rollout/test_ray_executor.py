"""Rollouts on a Ray cluster as a user meets them: real processes, a cluster of two nodes, a node lost, kill -9."""

import json
import re
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from housewise.core.errors import UserError
from housewise.systems.personalize.record import read_house_records
from tests.language.conftest import Body, ChatServer, Handler, completion
from tests.selftrain.tiny import save_learner, save_prompt
from tests.servers import serving

HOUSES = ("--houses", "6", "max_steps=60", "max_plans=6")
MAX_SECONDS = 120


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Two nodes with two cores and a GPU each, as far as Ray can tell."""
    pytest.importorskip("ray", reason="the extra housewise[distributed] is not installed")
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 2, "num_gpus": 1, "object_store_memory": 100_000_000, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=node)
    made.add_node(**node)
    yield made
    made.shutdown()


class Model(ChatServer):
    """A server whose model goes to a room that the prompt alone decides; it can be told to keep everybody waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.open = threading.Event()
        self.open.set()
        self.free = 0
        self.play(self._explore)

    @property
    def settings(self) -> tuple[str, ...]:
        return ("--model", "m", "--base-url", self.url)

    def _explore(self, handler: Handler, body: Body) -> None:
        if len(self.requests) > self.free:
            self.open.wait(MAX_SECONDS)
        prompt = body["messages"][-1]["content"]
        rooms = sorted(set(re.findall(r"\b(?:kitchen|bedroom|bathroom|corridor|\w+ room) \d+", prompt)))
        room = rooms[zlib.crc32(prompt.encode()) % len(rooms)]
        handler.reply(200, completion(f" go to {room}\nstep 2: look at {room}"))


@pytest.fixture
def model() -> Iterator[Model]:
    with serving(Model()) as running:
        yield running
        running.open.set()


def command(out: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "housewise", "run", "--out", str(out), *arguments]


def played(out: Path, *arguments: str) -> str:
    """What a run prints; it has to succeed."""
    done = subprocess.run(command(out, *arguments), capture_output=True, text=True, timeout=MAX_SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


def refused(out: Path, *arguments: str, code: int = 2) -> str:
    """The one line in which a run ends that cannot be, or not to its end."""
    done = subprocess.run(command(out, *arguments), capture_output=True, text=True, timeout=MAX_SECONDS, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    return done.stderr


def told(out: Path) -> dict[str, Any]:
    """Everything that is in a run's records and figures but times, and how many workers there were."""

    def timeless(value: Any) -> Any:
        if isinstance(value, dict):
            timed = {"started", "seconds", "model_seconds", "workers"}
            return {key: timeless(part) for key, part in value.items() if key not in timed}
        return value

    files = [*(out / "episodes").iterdir(), out / "metrics.json"]
    return {
        path.name: [timeless(json.loads(text)) for text in path.read_text().splitlines()]
        if path.suffix == ".jsonl"
        else timeless(json.loads(path.read_text()))
        for path in files
    }


def workers(node: Any) -> list[psutil.Process]:
    """The processes that a node's raylet has started."""
    (raylet,) = node.all_processes["raylet"]
    return psutil.Process(raylet.process.pid).children()


def ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def eventually(happened: Callable[[], object]) -> None:
    end = time.monotonic() + MAX_SECONDS
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
def test_the_records_are_those_of_one_machine(cluster: Any, tmp_path: Path) -> None:
    scripted = (*HOUSES, "--planner", "scripted", "--repeats", "2")
    played(tmp_path / "here", *scripted, "--workers", "2")
    said = played(tmp_path / "there", *scripted, "--workers", "4", "--ray", cluster.address)
    assert told(tmp_path / "there") == told(tmp_path / "here")
    assert said.count("out of steps") == 12
    again = played(tmp_path / "again", "--planner", "replay", "--records", str(tmp_path / "here" / "episodes"),
                   "--ray", cluster.address, "--workers", "3", *HOUSES)  # fmt: skip
    assert again.count("out of steps") == 6


@pytest.mark.slow
def test_limits_hold_for_all_machines_together(cluster: Any, model: Model, tmp_path: Path) -> None:
    words = (*HOUSES, *model.settings, "--workers", "3", "--ray", cluster.address)
    said = refused(tmp_path, *words, "max_total_tokens=100", code=4)
    asked = len(model.requests)
    assert 6 <= asked <= 8 and f"max_total_tokens=100 is reached with {18 * asked} tokens" in said
    kept = json.loads((tmp_path / "spending.json").read_text())
    assert kept["models"] == {"m": {"prompt_tokens": 11 * asked, "completion_tokens": 7 * asked}}
    played(tmp_path, *words, "max_total_tokens=10000")
    assert len(list((tmp_path / "episodes").glob("*.jsonl"))) == 6
    assert "max_minutes=0.001 is reached" in refused(
        tmp_path / "late", *HOUSES, "--planner", "scripted", "--ray", cluster.address, "max_minutes=0.001", code=4
    )


@pytest.mark.slow
def test_a_server_is_asked_as_often_as_from_one_machine(cluster: Any, model: Model, tmp_path: Path) -> None:
    played(tmp_path / "here", *HOUSES, *model.settings)
    asked = len(model.requests)
    played(tmp_path / "there", *HOUSES, *model.settings, "--workers", "4", "--ray", cluster.address)
    assert told(tmp_path / "there") == told(tmp_path / "here")
    assert len(model.requests) == 2 * asked


@pytest.mark.slow
def test_a_lost_node_costs_nothing_but_time(cluster: Any, model: Model, tmp_path: Path) -> None:
    played(tmp_path / "here", *HOUSES, *model.settings)
    asked = len(model.requests)
    model.requests.clear()
    # Not enough for two episodes, so that four are left.
    model.free = 2
    model.open.clear()
    out = tmp_path / "there"
    arguments = command(out, *HOUSES, *model.settings, "--workers", "4", "--ray", cluster.address)
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as run:
        # All four are in the middle of an episode, some of them on the node that will be lost.
        eventually(lambda: model.under_way == 4)
        lost = cluster.list_all_nodes()[1]
        playing = workers(lost)
        cluster.remove_node(lost, allow_graceful=False)
        # They outlive their raylet by a moment, in which an answer would let them end their episodes.
        eventually(lambda: all(map(ended, playing)))
        model.open.set()
        run.communicate(timeout=MAX_SECONDS)
    assert run.returncode == 0
    assert told(out) == told(tmp_path / "here")
    assert len(model.requests) > asked


@pytest.mark.slow
def test_a_killed_driver_is_resumed(cluster: Any, model: Model, tmp_path: Path) -> None:
    played(tmp_path / "here", *HOUSES, *model.settings)
    asked = len(model.requests)
    model.requests.clear()
    model.free = asked // 2 + 1
    model.open.clear()
    out = tmp_path / "there"
    arguments = (*HOUSES, *model.settings, "--workers", "2", "--ray", cluster.address)
    with subprocess.Popen(command(out, *arguments), stdout=subprocess.DEVNULL) as run:
        eventually(lambda: model.under_way == 2)
        eventually(lambda: any((out / "episodes").glob("*.jsonl")))
        run.send_signal(signal.SIGKILL)
    model.free = 10**9
    model.open.set()
    kept = {path: path.stat().st_mtime_ns for path in (out / "episodes").glob("*.jsonl")}
    assert 0 < len(kept) < 6
    assert f"{len(kept)} of 6 episodes are finished already" in played(out, *arguments)
    assert told(out) == told(tmp_path / "here")
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


@pytest.mark.slow
def test_a_local_model_answers_from_an_actor(cluster: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra housewise[local] is not installed")
    prompt = save_prompt(tmp_path / "short.yaml")
    tiny = ("--model", f"local:{save_learner(tmp_path / 'tiny')}", f"prompt={prompt}", "sampling.max_tokens=8", *HOUSES)
    played(tmp_path / "here", *tiny)
    # One at a time: replies are bound to repeat only in the same company.
    played(tmp_path / "there", *tiny, "--ray", cluster.address)
    assert told(tmp_path / "there") == told(tmp_path / "here")
    assert all(record.plans[0].reply for record in read_house_records(tmp_path / "there" / "episodes"))


@pytest.mark.slow
def test_a_lost_model_is_replaced_by_another(cluster: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra housewise[local] is not installed")
    prompt = save_prompt(tmp_path / "short.yaml")
    tiny = ("--model", f"local:{save_learner(tmp_path / 'tiny')}", f"prompt={prompt}", "sampling.max_tokens=8")
    out, arguments = tmp_path / "run", ("--houses", "3", "--repeats", "10", "max_steps=60", "max_plans=6")
    there = command(out, *tiny, *arguments, "--workers", "4", "--ray", cluster.address)
    with subprocess.Popen(there, stdout=subprocess.DEVNULL) as run:
        eventually(lambda: any((out / "episodes").glob("*.jsonl")))
        cluster.remove_node(cluster.list_all_nodes()[1], allow_graceful=False)
        try:
            assert run.wait(MAX_SECONDS) == 0
        finally:
            run.kill()
    assert len(list(read_house_records(out / "episodes"))) == 30


@pytest.mark.slow
def test_what_breaks_there_is_told_here(cluster: Any, model: Model, tmp_path: Path) -> None:
    def garbage(handler: Handler, _: Body) -> None:
        handler.reply(401, {"error": {"message": "no such key"}})

    there = (*HOUSES, "--workers", "2", "--ray", cluster.address)
    well = model.answers[0]
    model.answers = [well, well, garbage]
    said = refused(tmp_path / "run", *model.settings, *there)
    assert "key" in said and "127.0.0.1" in said
    assert "nowhere" in refused(tmp_path / "other", "--model", "local:/nowhere", *there)
    model.answers = [well]
    played(tmp_path / "run", *model.settings, *there)
    assert len(list(read_house_records(tmp_path / "run" / "episodes"))) == 6


@pytest.mark.parametrize(
    ("address", "said"),
    [("127.0.0.1:9", "nothing answers there"), ("ray://head:10001", "HOST:PORT"), ("nonsense", "HOST:PORT")],
)
def test_a_cluster_that_is_not_there_is_named(address: str, said: str, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra housewise[distributed] is not installed")
    assert said in refused(tmp_path, "--planner", "scripted", "--ray", address)


def test_ray_is_asked_for_by_the_name_of_its_extra(tmp_path: Path) -> None:
    main = "import sys; sys.modules['ray'] = None; from housewise.cli import main; main()"
    arguments = ["run", "--planner", "scripted", "--ray", "auto", "--out", str(tmp_path)]
    done = subprocess.run([sys.executable, "-c", main, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "housewise[distributed]" in done.stderr


def test_a_machine_without_the_data_is_named(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra housewise[distributed] is not installed")
    import socket

    from housewise.rollout.ray_executor import _RemoteRunner
    from housewise.rollout.scheduler import ScheduledJob
    from housewise.rollout.system import Job
    from housewise.systems.personalize.settings import house_settings
    from housewise.systems.personalize.system import Personalize
    from housewise.systems.personalize.tasks import HouseTask

    config = house_settings(settings={"data": str(tmp_path / "nowhere"), "planner": "scripted"})
    runner = _RemoteRunner(Personalize(config), False, {})
    with pytest.raises(UserError, match=f"on {socket.gethostname()}: .*nowhere"):
        runner.play(ScheduledJob(Job(HouseTask.from_episode("Merom_1_int", 3))))


def test_a_models_folders_travel(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra housewise[distributed] is not installed")
    from housewise.rollout.ray_models import _unpack_model_folders, pack_model_folders
    from housewise.systems.personalize.settings import house_settings

    for name in ("base/config.json", "base/deep/weights.bin", "adapter/adapter.bin"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    settings = {"model": f"local:{tmp_path / 'base'}", "adapter": str(tmp_path / "adapter")}
    config = house_settings(settings=settings).models.agent
    there = _unpack_model_folders(config, pack_model_folders(config), tmp_path / "there")
    base, adapter = Path(there.model.removeprefix("local:")), Path(there.adapter or "")
    assert (base.name, adapter.name) == ("base", "adapter") and base.is_relative_to(tmp_path / "there")
    assert (base / "deep" / "weights.bin").read_text() == "base/deep/weights.bin"
    assert (adapter / "adapter.bin").read_text() == "adapter/adapter.bin"
    default = house_settings().models.agent
    assert _unpack_model_folders(default, pack_model_folders(default), tmp_path) == default
